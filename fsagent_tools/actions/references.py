"""Where a name is used, as the language server of its file knows it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsagent_tools.actions.diagnostics import lacks_server
from fsagent_tools.answers.action import Effect, Field, Params, Workspace, action
from fsagent_tools.answers.matches import Matches
from fsagent_tools.edits.locate import locate
from fsagent_tools.errors import InvalidArguments, NoMatch, ToolError
from fsagent_tools.files.port import Place
from fsagent_tools.params.arguments import number_as_text
from fsagent_tools.replies import SearchHit
from fsagent_tools.services import lazy
from fsagent_tools.session.texts import whole_bytes
from fsagent_tools.text import MAX_LINE_CHARS, clip, decode, some

if TYPE_CHECKING:
    from fsagent_tools.lsp.symbols import Raw, Span, Symbols

_TIMEOUT = 60.0  # seconds, in which a server that has just started reads the whole project
_MOST_ASKED = 200  # places of a file at which a name may be another one
_MOST_HITS = 5000  # lines that hold the name, whoever means what by it
_NAMED = 8  # of them in a note
SYMBOL = re.compile(r"[\w$]+")
_NUMBER = re.compile(r"\d{1,5}")  # shorter than any line ID


class SymbolParams(Params):
    path: str = Field(description="File that has the name.")
    name: str = Field(description="The name, or more of its line: of cart.total it is total.")
    line: str = Field(
        "", description="Its line's ID or number, if the name means several things there."
    )
    timeout: float = Field(
        _TIMEOUT, gt=0, le=600, description=f"Seconds to wait (default {_TIMEOUT:g})."
    )

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """A line's number is text, too."""
        return number_as_text(values, "line")


class ReferencesParams(SymbolParams):
    max_results: int = Field(100, ge=1, description="Most lines shown.")


@dataclass(frozen=True)
class Used:
    """A file with uses of a name, in the order of its text."""

    place: Place
    text: str
    spans: "Sequence[Span]"

    def line(self, number: int) -> str:
        """From 1, without its ending."""
        return self.text.split(_newline(self.text))[number - 1].removesuffix("\r")


@dataclass(frozen=True)
class Uses:
    """What `server` knows of a name; notes: what it does not, and where the name stands besides."""

    name: str
    server: str
    files: Sequence[Used]
    notes: Sequence[str]


@action(effect=Effect.EXECUTE, lacks=lacks_server)
def references(workspace: Workspace, p: ReferencesParams) -> Matches:
    """Where a name is used in the whole project, by its language server."""
    found = uses(workspace, p, lambda symbols, offset: symbols.references(offset))
    rows = [row for one in found.files for row in _rows(workspace, one)]
    more = len(rows) > p.max_results
    first = [f"First {p.max_results} of {len(rows)} lines."] if more else []
    note = " ".join([*first, *found.notes])
    return Matches(rows[: p.max_results], len(rows), more, [], note, workspace.style)


def _rows(workspace: Workspace, one: Used) -> Iterator[dict[str, Any]]:
    lines = {span.line: one.line(span.line) for span in one.spans}
    texts, ids = {n: text.encode() for n, text in lines.items()}, {}
    workspace.session.glimpsed(one.place.relative, texts.values())
    with suppress(ToolError):  # changed meanwhile: told without IDs
        ids = {**workspace.tag_lines(one.place.told, texts)}
    for number, text in lines.items():
        row = {"file": one.place.told, "line": number, "content": clip(text, MAX_LINE_CHARS)}
        spelled = workspace.style.spelled(ids.get(number, ""))
        yield {**row, "line_id": spelled} if spelled else row


def uses(
    workspace: Workspace,
    p: SymbolParams,
    ask: "Callable[[Symbols, int], Raw]",
    *,
    whole: bool = False,
) -> Uses:
    """What `ask` finds for the one symbol that `p` names. whole: each file has to be open to us.

    Raises `NoMatch` for no place, `InvalidArguments` where the name may mean several things.
    """
    place, text, name, offsets = _standing(workspace, p)
    hits = _hits(workspace, name)

    def question(symbols: "Symbols") -> tuple[list[Used], int]:
        offset = _meant(symbols, place, text, offsets, p)
        return _files(workspace, symbols, ask(symbols, offset), whole=whole)

    def read(path: Path) -> str:
        return _read(workspace, str(path))[1]

    others = (Path(workspace.files.place(path).absolute) for path in {h.path: None for h in hits})
    texts = lazy.symbols.Texts(Path(place.absolute), text, [*others], read)
    (files, closed), server, left = workspace.services.servers.ask(texts, p.timeout, question)
    if not files:
        raise NoMatch(f"{server} knows no use of {name} that is open here: 0 places.")
    notes = list[str]()
    if closed:
        notes.append(f"{closed} more are in files that are not open here.")
    known = {(one.place.told, span.line) for one in files for span in one.spans}
    rest = [f"{hit.path}:{hit.line}" for hit in hits if (hit.path, hit.line) not in known]
    if rest:
        places = some(rest, _NAMED)
        notes.append(f"{name} stands also where {server} knows no use of it: {places}.")
    return Uses(name, server, files, [*notes, *(f"({server} {one}.)" for one in left)])


def _standing(workspace: Workspace, p: SymbolParams) -> tuple[Place, str, str, list[int]]:
    """The file with its text, the name, and where it stands, on the line that is named if any."""
    parts = [*SYMBOL.finditer(p.name)]
    if not parts:
        raise InvalidArguments("name: this is no name.", hint="Send it as it stands in the file.")
    quote = p.name[parts[0].start() : parts[-1].end()]
    with workspace.files.open(p.path) as file:
        place, text = file.place, decode(whole_bytes(file), file.place.told)
        low, high, whole = 0, None, text.utf8.decode()
        if p.line:
            number = int(p.line) - 1 if _NUMBER.fullmatch(p.line) else -1
            if number < 0:
                with workspace.session.reading(file, workspace.style, glimpse=True) as document:
                    document.require_ids()
                    number = locate(document, [p.line])[p.line]
            lines = whole.split(newline := _newline(whole))
            low = sum(len(line) + len(newline) for line in lines[:number])
            high = low + len(lines[number]) if number < len(lines) else low
    pattern = re.compile(rf"(?<![\w$]){re.escape(quote)}(?![\w$])")
    found = pattern.finditer(whole, low, len(whole) if high is None else high)
    offsets = [match.start() + len(quote) - len(parts[-1][0]) for match in found]
    if not offsets:
        where = f"line {p.line} of {place.told}" if p.line else place.told
        raise NoMatch(f"{quote} does not stand in {where}.", hint="Read the file again.")
    return place, whole, parts[-1][0], offsets


def _meant(
    symbols: "Symbols", place: Place, text: str, offsets: Sequence[int], p: SymbolParams
) -> int:
    """The place of the one symbol that has the name; comments and strings have none."""
    meant, known = -1, set[int]()
    for offset in offsets[:_MOST_ASKED]:
        found = {} if offset in known else symbols.references(offset)
        if found and meant >= 0:
            lines = [text.count(_newline(text), 0, at) + 1 for at in (meant, offset)]
            raise InvalidArguments(
                f"{p.name} means several things in {place.told}, as on the lines {lines[0]} and "
                f"{lines[1]}. Nothing was written.",
                hint="Give the `line`. Or more of it as `name`.",
            )
        if found:
            spans = symbols.spans(place.absolute, text, found.get(place.absolute, ()))
            meant, known = offset, {span.start for span in spans}
    if meant < 0:
        reason = f" ({symbols.said})" if symbols.said else ""
        raise NoMatch(
            f"The language server knows no symbol {p.name} there: 0 places{reason}.",
            hint="Name it where it is declared or used. `grep` finds text.",
        )
    return meant


def _files(
    workspace: Workspace, symbols: "Symbols", found: "Raw", *, whole: bool
) -> tuple[list[Used], int]:
    """Real files, and how many places are in others that are closed, or outside."""
    texts: dict[str, tuple[Place, str, list[Any]]] = {}
    closed = 0
    for path, places in sorted(found.items()):
        try:
            place, text = _read(workspace, path)
        except ToolError:
            if whole:
                raise
            closed += len(places)
        else:
            texts.setdefault(place.relative, (place, text, []))[2].extend(places)
    spans = symbols.spans
    return [Used(p, t, spans(p.absolute, t, found)) for p, t, found in texts.values()], closed


def _read(workspace: Workspace, path: str) -> tuple[Place, str]:
    """The text at a real absolute path."""
    root = workspace.root.resolve()
    inner = str(Path(path).relative_to(root)) if Path(path).is_relative_to(root) else path
    with workspace.files.open(inner) as file:
        return file.place, decode(whole_bytes(file), file.place.told).utf8.decode()


def _hits(workspace: Workspace, name: str) -> list[SearchHit]:
    """Lines that hold the name as a whole."""
    ends = [r"\b" * (end.isalnum() or end == "_") for end in (name[0], name[-1])]
    pattern = f"{ends[0]}{name.replace('$', '[$]')}{ends[1]}"
    exact = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    hits = workspace.search(pattern, limit=_MOST_HITS).hits
    return [hit for hit in hits if exact.search(hit.text)]


def _newline(text: str) -> str:
    return "\r" if "\n" not in text else "\n"
