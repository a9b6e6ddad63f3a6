"""What an action returns: text for the model, data for the host."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

from fsagent_tools.encoding import with_escapes
from fsagent_tools.errors import ToolError

OK = "OK"
LONG = 200  # characters of the longest fact
ERROR = "Error: "  # how a refusal begins, since models see no status
SHOWN_CHARS = 60  # of a text in a repr
_COLOURS = {"+": "#1a7f37", "-": "#cf222e", "@": "#0969da"}
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


@dataclass(frozen=True)
class Block:
    """Content that is not text, for models that can see it.

    Attributes:
        kind: "image" or "file".
        mime_type: Such as "image/png".
        data: Base64.
    """

    kind: Literal["image", "file"]
    mime_type: str
    data: str  # base64


class Findings(Protocol):
    """What a check of a written text found."""

    def line(self) -> str:
        """For the model; "" when there is nothing to say."""
        ...

    def to_list(self) -> list[dict[str, Any]]: ...


@runtime_checkable
class Result(Protocol):
    """A frozen dataclass whose fields are the data, but for private ones (`_name`).

    A field `blocks` becomes the outcome's; a field `lint` adds its line to the text, a field `note`
    stands below it, unless `tells_note`: what to do next, with parameters and tools in backticks.
    A field `also` has results of further files; each is told with all of that beneath its `path`.
    A method `plain` gives the host's `output`, where that is not the text that the model reads.
    """

    def render(self) -> str: ...


Envelope = Literal["flat", "data", "metadata", "bare"]


@dataclass(frozen=True)
class Shape:
    """How a toolset's document shapes the returned dict.

    Attributes:
        envelope: `flat` {success, **fields}; `data` {success, data: fields}; `metadata` {success,
            output, metadata: fields}; `bare` {**fields, success}.
        fields: Documented key -> field of the result, in the document's order (`output` is what
            `plain` returns, else the text). A field that a result lacks is left out.
        codes: Code of an error -> the document's word for it.
        rows: Key of the dicts in a list of results -> its documented name.
        otherwise: The word for all other codes; by default they stay.
    """

    envelope: Envelope = "flat"
    fields: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = ""

    @classmethod
    def flat(cls, *names: str) -> "Shape":
        """The flat envelope; a name is a result field, or `field:documented key`."""
        return cls.named("flat", *names)

    @classmethod
    def named(cls, envelope: Envelope, *names: str) -> "Shape":
        """Any envelope, names as in `flat`."""
        pairs = (name.partition(":") for name in names)
        return cls(envelope, {key or source: source for source, _, key in pairs})

    @classmethod
    def bare(cls, *names: str, rows: Mapping[str, str] | None = None) -> "Shape":
        """The bare envelope, names as in `flat`."""
        return replace(cls.named("bare", *names), rows=rows or {})

    def of(self, text: str, data: Mapping[str, Any]) -> dict[str, Any]:
        everything = {"output": text, **data}
        keys = {**self.fields, "lint": "lint"}
        named = {k: self._row(everything[v]) for k, v in keys.items() if v in everything}
        if self.envelope == "data":
            return {"success": True, "data": named}
        if self.envelope == "metadata":
            return {"success": True, "output": text, "metadata": named}
        if self.envelope == "bare":
            return {**named, "success": True}
        said = {*named, *self.fields.values()}
        rest = {k: v for k, v in everything.items() if k not in said and v != text}
        return {"success": True, **named, **rest}

    def _row(self, value: Any) -> Any:
        if not self.rows or not isinstance(value, list):
            return value
        return [{self.rows.get(key, key): v for key, v in row.items()} for row in value]

    def word(self, error: ToolError) -> str:
        """What the document calls the error's code."""
        return self.codes.get(error.code, self.otherwise or error.code)

    def of_error(self, text: str, code: str, details: Mapping[str, Any]) -> dict[str, Any]:
        if self.envelope == "data":
            return {"success": False, "error": {"code": code, "message": text}}
        refusal = {"success": False, "error": text, "code": code}
        return {**refusal, **details, **refusal}


@dataclass(frozen=True, repr=False)
class Outcome:
    """A finished call, success or refusal, as every adapter sees it.

    Attributes:
        text: For the model; never empty.
        code: "OK", or the code of the error.
        data: For the host; can be converted to JSON.
        blocks: Pictures and documents, for models that can see them.
        output: What the toolset's document calls output, "" if that is the text.

    Examples:
        >>> workspace = Workspace(files=MemoryFiles({"a.txt": "one"}))
        >>> outcome = toolset("workspace").bind(workspace)["read"].call({"file_path": "b.txt"})
        >>> outcome.ok, outcome.code
        (False, 'FILE_NOT_FOUND')
    """

    text: str
    code: str = OK
    data: Mapping[str, Any] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    shape: Shape = field(default_factory=Shape, repr=False)
    output: str = field(default="", repr=False)

    @property
    def ok(self) -> bool:
        return self.code == OK

    def __repr__(self) -> str:
        return f"Outcome({self.code}, {short(self.text)})"

    def _repr_html_(self) -> str:
        return html_text(self.output or self.text, refused=not self.ok)

    def to_dict(self) -> dict[str, Any]:
        """The envelope that the toolset's document specifies; can be converted to JSON."""
        if self.ok:
            return self.shape.of(self.output or self.text, self.data)
        return self.shape.of_error(self.text.removeprefix(ERROR), self.code, self.data)

    def facts(self) -> dict[str, Any]:
        """`to_dict` and the code, with None in place of each long value."""
        return {**_facts(self.to_dict()), "code": self.code}

    @classmethod
    def of(cls, result: Result, shape: Shape, advice: Callable[[str], str] = str) -> "Outcome":
        """`advice` puts a note into the model's words."""
        data = _data(result)
        blocks = data.pop("blocks", ())
        if data.get("note"):
            data["note"] = advice(data["note"])
        every: list[Any] = [result, *getattr(result, "also", ())]
        rendered = [one.render() for one in every]
        plain = [getattr(one, "plain", str)() for one in every]
        text, output = (_told(every, texts, advice) for texts in (rendered, plain))
        output = output if any(plain) else ""
        text, output = with_escapes(text) or "(empty)", with_escapes(output)
        return cls(text, data=_shown(data), blocks=blocks, shape=shape, output=output)

    def with_note(self, note: str) -> "Outcome":
        """With a line below the text, for the model; itself where there is nothing to say."""
        if not note:
            return self
        output = _with(self.output, [note]) if self.output else ""
        return replace(self, text=_with(self.text, [note]), output=output)

    @classmethod
    def refused(cls, error: ToolError, shape: Shape, text: str = "") -> "Outcome":
        """`text`: the refusal in the model's words."""
        return cls(
            with_escapes(f"{ERROR}{text or error}"),
            shape.word(error),
            _shown(_public(error.details)),
            shape=shape,
        )


def _with(text: str, notes: Sequence[str]) -> str:
    """`text` with a line for each note that says something."""
    for note in filter(None, notes):
        text += ("" if not text or text.endswith("\n") else "\n") + note
    return text


def _told(results: Sequence[Any], texts: Iterable[str], advice: Callable[[str], str]) -> str:
    """The texts of results with their notes and with what checks found."""
    told = list[str]()
    for one, text in zip(results, texts, strict=True):
        note = "" if getattr(one, "tells_note", False) else getattr(one, "note", "")
        found: Findings | None = getattr(one, "lint", None)
        told.append(_with(text, [advice(note) if note else "", found.line() if found else ""]))
    each = (f"== {one.path}\n{text}" for one, text in zip(results, told, strict=True))
    return "\n".join(each) if told[1:] else told[0]


def _data(result: Result) -> dict[str, Any]:
    """Its public fields as what can be converted to JSON, and so those of results that it lists."""
    data = _public(vars(result))
    if (found := data.pop("lint", None)) is not None:
        data["lint"] = found.to_list()
    for name, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], Result):
            data[name] = [_data(one) for one in value]
    return data


def _shown(value: Any) -> Any:
    """Data with its texts as they are shown."""
    if isinstance(value, str):
        return with_escapes(value)
    if isinstance(value, Mapping):
        return {name: _shown(one) for name, one in value.items()}
    return [*map(_shown, value)] if isinstance(value, list) else value


def _facts(data: Mapping[str, Any]) -> dict[str, Any]:
    facts = {k: _facts(v) if isinstance(v, dict) else v for k, v in data.items()}
    return {k: None if _is_long(v) else v for k, v in facts.items()}


def _is_long(value: Any) -> bool:
    if isinstance(value, dict):  # whose values are short now
        return len(value) > LONG // 4
    if isinstance(value, str):
        return len(value) > LONG
    return isinstance(value, list) and len(json.dumps(value)) > LONG


def _public(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name[0] != "_"}


def short(text: str) -> str:
    """The first line of `text` in quotes, at most `SHOWN_CHARS` of it."""
    line = text.split("\n", 1)[0]
    cut = line[:SHOWN_CHARS]
    return repr(cut + "…" if cut != text else cut)


def html_text(text: str, *, refused: bool) -> str:
    """`text` as it is, in HTML; the lines of a diff in the usual colours, a refusal framed."""
    diff = "\n@@ " in f"\n{text}"
    lines = (_coloured(line) if diff else line.translate(_ESCAPES) for line in text.split("\n"))
    frame = "border-left:3px solid #cf222e;padding-left:8px;" if refused else ""
    look = f"{frame}white-space:pre-wrap;font-family:monospace;word-break:normal"
    return f'<pre style="{look}">' + "\n".join(lines) + "</pre>"


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain texts."""
    cells = [_row("th", head), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(cells)}</table>"


def _coloured(line: str) -> str:
    text, colour = line.translate(_ESCAPES), _COLOURS.get(line[:1])
    return f'<span style="color:{colour}">{text}</span>' if colour else text


def _row(tag: str, texts: Sequence[str]) -> str:
    cells = "".join(
        f"<{tag} style='text-align:left'>{t.translate(_ESCAPES)}</{tag}>" for t in texts
    )
    return f"<tr>{cells}</tr>"
