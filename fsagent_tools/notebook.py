"""Jupyter notebooks (format 4) as the text of their cells, and back: no other byte changes."""

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from json.decoder import JSONDecodeError
from typing import Any

from fsagent_tools.encoding import Assumed, Decoded
from fsagent_tools.errors import InvalidChange
from fsagent_tools.text import NOTEBOOK, clip

MAX_NOTEBOOK = 20 << 20  # bytes; a larger one is a text like any other
MAX_VALUES = 200_000  # lists and objects: they take much more memory than their JSON
MAX_CELL_OUTPUT = 1500  # characters of one output of a cell
PICTURE_KINDS = ("image/png", "image/jpeg")
HEADER = re.compile(r"--- cell(?: (\d+) of \d+)?: (code|markdown|raw)(?: \[\d+\])? ---\r?")
NEW_CELL = "--- cell: code ---"
OUTPUT, PICTURE = "output:", "(a picture, "
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_SPACE = re.compile(r"[ \t\r\n]*")
_UNFIT = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
_HOW = (
    f"Change the lines of a cell; insert a cell by a line such as {NEW_CELL!r} (or markdown, raw) "
    "and its lines below; delete one with its header line. Or write all of the notebook's JSON."
)


@dataclass(frozen=True)
class Cell:
    """A cell in the JSON: where it and its source are, and how it is shown."""

    start: int
    end: int
    source: str
    source_span: tuple[int, int]
    kind: str
    value: Mapping[str, Any]
    outputs: tuple[str, ...]  # lines
    pictures: tuple[int, ...]  # which of these lines stand for a picture

    def header(self, number: int, total: int) -> str:
        count = self.value.get("execution_count")
        ran = f" [{count}]" if type(count) is int else ""
        return f"--- cell {number} of {total}: {self.kind}{ran} ---"

    @property
    def body(self) -> list[str]:
        return [*self.source.split("\n"), *self.outputs]


@dataclass(frozen=True)
class Notebook(Decoded):
    """The cells as text: a header line, the lines of the source, those of the outputs.

    Changed text becomes JSON in which only the sources that differ, and cells that come or go, are
    other bytes than before. Outputs stay as they are.
    """

    json: str = ""
    cells: tuple[Cell, ...] = ()

    @classmethod
    def of(cls, raw: bytes) -> "Notebook | None":
        """None for what is no notebook, or too large to be taken apart."""
        try:
            if len(raw) > MAX_NOTEBOOK or raw.count(b"[") + raw.count(b"{") > MAX_VALUES:
                return None
            text = raw.decode()
            cells = tuple(_cell(text, start, end) for start, end in _items(text, _cells_at(text)))
            found = cls(_shown(cells), json=text, cells=cells)
            whole = [(n, cell.kind, cell.source) for n, cell in enumerate(cells)]
            return found if found._parsed(found.utf8.decode()) == whole else None
        except (*_UNFIT, InvalidChange):
            return None

    @property
    def pictures(self) -> dict[int, int]:
        """0-based line -> number of the picture that it stands for."""
        found, at = dict[int, int](), 0
        for cell in self.cells:
            first = at + 1 + len(cell.source.split("\n"))
            for line in cell.pictures:
                found[first + line] = len(found)
            at += 1 + len(cell.body)
        return found

    def of_new(self, utf8: bytes, assumed: Assumed) -> Decoded:
        """The notebook with this text of its cells. Raises `InvalidChange`."""
        if utf8 == self.utf8:
            return self
        new = self._rewritten(self._parsed(utf8.decode()))
        if new == self.json:
            raise _of_output()
        found = Notebook.of(new.encode())
        if found is None:
            raise InvalidChange(
                "A line of a cell would read as the header of another. Nothing was changed.",
                hint=_HOW,
            )
        return found

    def encode(self, utf8: bytes) -> bytes:
        return self.json.encode()

    def note(self) -> str:
        return ""

    def _parsed(self, text: str) -> list[tuple[int | None, str, str]]:
        """Of each cell: the number of the one it was, None for a new one; its kind and source."""
        lines = text.removesuffix("\n").split("\n") if text else []
        starts = [at for at, line in enumerate(lines) if HEADER.fullmatch(line)]
        if lines and (not starts or starts[0] > 0):
            raise InvalidChange(
                "The first line of a notebook is the header of a cell. Nothing was changed.",
                hint=_HOW,
            )
        found: list[tuple[int | None, str, str]] = []
        headers = [HEADER.fullmatch(lines[at]) for at in starts]
        numbers = [int(match[1]) - 1 if match and match[1] else None for match in headers]
        for at, number in enumerate(numbers):  # a header that lost its number is still the cell's
            above = numbers[at - 1] if at else -1
            if number is None and above is not None and above + 1 not in numbers:
                body = lines[starts[at] + 1 : [*starts, len(lines)][at + 1]]
                if body in [cell.body for cell in self.cells[above + 1 : above + 2]]:
                    numbers[at] = above + 1
        for start, end, match, number in zip(
            starts, [*starts[1:], len(lines)], headers, numbers, strict=False
        ):
            body, old = lines[start + 1 : end], number
            if number is None or number >= len(self.cells) or number in {n for n, _, _ in found}:
                old = None  # new, or a copy
            else:
                body = self._without_deleted(body, number, {*numbers})
                body = _without_outputs(body, self.cells[number].outputs)
            found.append((old, match[2] if match else "", "\n".join(body)))
        return found

    def _without_deleted(self, body: list[str], number: int, kept: set[int | None]) -> list[str]:
        """Without the lines of cells below of which only the header was deleted."""
        gone = number + 1
        while gone < len(self.cells) and gone not in kept:
            gone += 1
        for cell in reversed(self.cells[number + 1 : gone]):
            if body[-len(cell.body) :] == cell.body:
                body = body[: -len(cell.body)]
        if gone > number + 1 and body[-1:] != self.cells[number].body[-1:]:
            raise InvalidChange(
                f"The header of cell {number + 2} would go, but other lines would take its place "
                "or some of the cell would stay. Nothing was changed.",
                hint=_HOW,
            )
        return body

    def _rewritten(self, wanted: Sequence[tuple[int | None, str, str]]) -> str:
        """The JSON with these cells."""
        texts, last, same = list[str](), -1, len(wanted) == len(self.cells)
        for number, kind, source in wanted:
            same &= number == last + 1
            last = -1 if number is None else number
            texts.append(
                self._new(kind, source) if number is None else self._old(number, kind, source)
            )
        opening = _cells_at(self.json)
        spans = [(cell.start, cell.end) for cell in self.cells]
        if not spans:
            unit, end = _indent_of(self.json), self.json.index("]", opening) + 1
            lead, between, tail = (
                ("\n" + 2 * unit, ",\n" + 2 * unit, "\n" + unit) if unit else ("", ", ", "")
            )
        else:
            end = _SPACE.match(self.json, spans[-1][1]).end() + 1  # type: ignore[union-attr]
            lead, tail = self.json[opening + 1 : spans[0][0]], self.json[spans[-1][1] : end - 1]
            between = self.json[spans[0][1] : spans[1][0]] if len(spans) > 1 else "," + lead or ", "
        gaps = [between] * (len(wanted) - 1)
        if same:
            gaps = [self.json[a[1] : b[0]] for a, b in pairwise(spans)]
        middle = (
            "".join(part for pair in zip(texts, [*gaps, ""], strict=True) for part in pair)
            if texts
            else ""
        )
        inner = f"{lead}{middle}{tail}" if texts else ""
        return f"{self.json[: opening + 1]}{inner}]{self.json[end:]}"

    def _old(self, number: int, kind: str, source: str) -> str:
        cell = self.cells[number]
        if kind != cell.kind:
            value = {**cell.value, "cell_type": kind, "source": _lines(source)}
            for name in ("execution_count", "outputs"):
                value.pop(name, None)
            if kind == "code":
                value |= {"execution_count": None, "outputs": []}
            return self._dumped(value)
        start, end = cell.source_span
        written = self.json[start:end] if source == cell.source else self._source(cell, source)
        return self.json[cell.start : start] + written + self.json[end : cell.end]

    def _source(self, cell: Cell, source: str) -> str:
        """A source in the form that the cell's had: one string, or a list with its white space."""
        start, end = cell.source_span
        written = self.json[start:end]
        if written[0] == '"':
            return self._dump(source)
        before, after = _SPACE.match(written, 1), re.search(r"[ \t\r\n]*\]$", written)
        lead, tail = before[0] if before else "", after[0][:-1] if after else ""
        if written[1:-1].strip() == "" and (unit := _indent_of(self.json)):
            line = self.json.rfind("\n", 0, start)
            tail = self.json[line : _SPACE.match(self.json, line).end()]  # type: ignore[union-attr]
            lead = tail + unit
        between = "," + (lead if "\n" in lead else " ")
        items = between.join(map(self._dump, _lines(source)))
        return f"[{lead}{items}{tail}]" if items else "[]"

    def _new(self, kind: str, source: str) -> str:
        format_ = json.loads(self.json)
        value: dict[str, Any] = {"cell_type": kind}
        if kind == "code":
            value["execution_count"] = None
        if (format_.get("nbformat") or 0, format_.get("nbformat_minor") or 0) >= (4, 5):
            value["id"] = secrets.token_hex(4)
        value["metadata"] = {}
        if kind == "code":
            value["outputs"] = []
        whole = bool(self.cells) and all(self.json[c.source_span[0]] == '"' for c in self.cells)
        return self._dumped({**value, "source": source if whole else _lines(source)})

    def _dumped(self, value: Mapping[str, Any]) -> str:
        unit = _indent_of(self.json)
        text = self._dump(value, unit or None)
        return text.replace("\n", "\n" + 2 * unit) if unit else text

    def _dump(self, value: Any, indent: str | None = None) -> str:
        escaped = self.json.isascii() and "\\u" in self.json
        return json.dumps(value, indent=indent, ensure_ascii=escaped)


def is_notebook(path: str) -> bool:
    return path.lower().endswith(NOTEBOOK)


def pictures(raw: Mapping[str, Any]) -> Iterator[str]:
    """The pictures in the outputs of a notebook, in base64."""
    for cell in raw["cells"]:
        for output in cell.get("outputs", ()):
            if kind := _picture_kind(output):
                yield _joined(output["data"][kind])


def _shown(cells: Sequence[Cell]) -> bytes:
    total = len(cells)
    lines = [line for n, c in enumerate(cells, 1) for line in (c.header(n, total), *c.body)]
    return "".join(f"{line}\n" for line in lines).encode()


def _without_outputs(body: list[str], outputs: Sequence[str]) -> list[str]:
    """The lines of the source: what is changed in the text of outputs does not count."""
    if not outputs:
        return body
    if body[-len(outputs) :] == [*outputs]:
        return body[: -len(outputs)]
    starts = [at for at, line in enumerate(body) if line == OUTPUT]
    alike = [at for at in starts if len(body) - at == len(outputs)]
    end = (alike or starts or [len(body)])[0]
    if not {*body[end:]} <= {*outputs}:
        raise _of_output()
    return body[:end]


def _of_output() -> InvalidChange:
    return InvalidChange(
        "The text of an output would change; running the cell makes it. Nothing was changed.",
        hint="Change the source of the cell. New lines go behind its last one.",
    )


def _lines(source: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", source)


def _indent_of(text: str) -> str:
    found = re.match(r"\{\r?\n([ \t]+)", text.lstrip())
    return found[1] if found else ""


def _cells_at(text: str) -> int:
    start = _SPACE.match(text, 0).end()  # type: ignore[union-attr]
    (at,) = (at for name, at, _ in _members(text, start) if name == "cells")
    return at


def _cell(text: str, start: int, end: int) -> Cell:
    spans = {name: (first, last) for name, first, last in _members(text, start)}
    value = json.loads(text[start:end])
    source, kind = _joined(value["source"]), value["cell_type"]
    if kind not in ("code", "markdown", "raw") or not isinstance(source, str):
        raise ValueError(kind)
    lines, shown = list[str](), list[int]()
    for output in value.get("outputs", ()):
        lines.append(OUTPUT)
        if picture := _picture_kind(output):
            shown.append(len(lines))
        lines += (f"{PICTURE}{picture})" if picture else _output(output)).split("\n")
    return Cell(start, end, source, spans["source"], kind, value, (*lines,), (*shown,))


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """(name, start, end of the value) of an object at `at`. Raises `ValueError`."""
    for start, _ in _values(text, at, "{}"):
        name, colon = _DECODER.raw_decode(text, start)
        value = _skip(text, _skip(text, colon, ":"))
        yield name, value, _DECODER.raw_decode(text, value)[1]


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """(start, end) of each item of an array at `at`."""
    return _values(text, at, "[]")


def _values(text: str, at: int, brackets: str) -> Iterator[tuple[int, int]]:
    if text[at] != brackets[0]:
        raise JSONDecodeError(f"no {brackets[0]}", text, at)
    at = _skip(text, at + 1)
    while text[at] != brackets[1]:
        end = _DECODER.raw_decode(text, at)[1]
        yield at, end
        if brackets == "{}":
            end = _DECODER.raw_decode(text, _skip(text, _skip(text, end, ":")))[1]
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


_DECODER = json.JSONDecoder()


def _skip(text: str, at: int, sign: str = "") -> int:
    """Past white space, and past `sign` after it."""
    end = _SPACE.match(text, at).end()  # type: ignore[union-attr]
    if not text.startswith(sign, end):
        raise JSONDecodeError(f"no {sign}", text, end)
    return end + len(sign)


def _picture_kind(output: Mapping[str, Any]) -> str:
    """The type of the picture that a cell drew, "" if there is none that can be shown."""
    if output["output_type"] in ("stream", "error"):
        return ""
    return next((kind for kind in PICTURE_KINDS if kind in output.get("data", {})), "")


def _output(output: Mapping[str, Any]) -> str:
    if output["output_type"] == "stream":
        return clip(_joined(output["text"]).rstrip("\n"), MAX_CELL_OUTPUT)
    if output["output_type"] == "error":
        return _error(output)
    data = output.get("data", {})
    shown = _joined(data.get("text/plain", "")) or f"({', '.join(data) or 'nothing'})"
    return clip(shown, MAX_CELL_OUTPUT)


def _error(output: Mapping[str, Any]) -> str:
    """The end of the traceback, which is nearest to the error; the error alone without one."""
    error = clip(f"{output['ename']}: {output['evalue']}", MAX_CELL_OUTPUT)
    trace = _CONTROL.sub("", "\n".join(output.get("traceback", ()))).strip()
    if not trace:
        return error
    left_out = max(0, len(trace) - MAX_CELL_OUTPUT)
    head = f"[{left_out:,} characters of the traceback left out]\n" if left_out else ""
    return head + trace[left_out:]


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)
