"""Rename a symbol in all files that use it, as their language server says."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsagent_tools.actions.diagnostics import lacks_server, text_for_server
from fsagent_tools.edits.by_id import locate
from fsagent_tools.encoding import encoded
from fsagent_tools.errors import ActionDenied, Conflict, InvalidArguments, InvalidChange, NoMatch
from fsagent_tools.files.base import Place
from fsagent_tools.lines.diff import marked_diff
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.replies import SearchHit
from fsagent_tools.session.editing import editing
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.text import clip, in_quotes, some
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.all_or_none import all_or_none
from fsagent_tools.toolkit.edited import clipped, of_files
from fsagent_tools.toolkit.params import number_as_text
from fsagent_tools.workspace import lazy

if TYPE_CHECKING:
    from fsagent_tools.lsp.client import LanguageServer
    from fsagent_tools.lsp.rename import Span, Symbols

_TIMEOUT = 60.0  # seconds, in which a server that has just started reads the whole project
_MAX_ASKED = 200  # places of a file at which a name may be another one
_MAX_HITS = 5000  # lines that hold the name, whoever means what by it
_MAX_NAMED = 8  # of them in a note
_SYMBOL = re.compile(r"[\w$]+")
_NUMBER = re.compile(r"\d{1,5}")  # shorter than any line ID


class RenameParams(Params):
    path: str = Field(description="File that has the name.")
    name: str = Field(description="The name, or more of its line: of cart.total it is total.")
    line: str = Field(
        "", description="Its line's ID or number, if the name means several things there."
    )
    timeout: float = Field(
        _TIMEOUT, gt=0, le=600, description=f"Seconds to wait (default {_TIMEOUT:g})."
    )
    new_name: str = Field(description="What it is called from now on.")
    lint: Lint | None = Field(None, description=LINT)

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """A line's number is text, too."""
        return number_as_text(values, "line")


@dataclass(frozen=True)
class Used:
    """A file with uses of a name, in the order of its text."""

    place: Place
    text: str
    spans: "Sequence[Span]"


@dataclass(frozen=True)
class Renamed:
    """What was renamed, by which server; `note` says what the server does not know."""

    name: str
    new_name: str
    count: int
    files: list[str]
    server: str
    diff: str
    note: str
    _marked: str

    def render(self) -> str:
        counts = f"{self.count} places, {len(self.files)} files"
        return f"Renamed {self.name} to {self.new_name}: {counts}.\n{clipped(self._marked)}"

    def plain(self) -> str:
        return self.diff


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write"), lacks=lacks_server)
def rename(workspace: Workspace, p: RenameParams) -> Renamed:
    """Rename a symbol and all its uses, in all files or in none."""
    if Effect.EXECUTE in (asked := workspace.approve_effects) and Effect.WRITE not in asked:
        raise ActionDenied(
            f"Nobody would be asked about the language server that rename runs. {NOTHING}",
            hint="Find the uses with `grep`, and edit them.",
        )
    new = encoded(p.new_name, "new_name").decode()
    if not _SYMBOL.fullmatch(new) or new[0].isdigit():
        raise InvalidArguments(f"new_name: {in_quotes(clip(new, 80))} is not a name. {NOTHING}")
    place, text, name, offsets = _located(workspace, p)
    if new == name:
        raise InvalidArguments(f"It is called {new}. {NOTHING}", hint="Send another `new_name`.")
    hits = _hits(workspace, name)
    others = dict.fromkeys(Path(workspace.files.place(hit.path).absolute) for hit in hits)

    def ask(
        server: "LanguageServer", language: str, deadline: float
    ) -> tuple[list[Used], str, str]:
        symbols = lazy.rename.Symbols(server, Path(place.absolute), text, deadline)
        elsewhere = [path for path in others if str(path) != place.absolute]
        known = servers.of_one_language(Path(place.absolute), elsewhere)
        note = symbols.read(language, known, lambda path: _read(workspace, str(path))[1])
        offset = _meant(symbols, place, text, offsets, p)
        files: dict[str, tuple[Place, str, list[Any]]] = {}
        for path, places in sorted(symbols.rename(offset, new).items()):
            used, content = _read(workspace, path)
            files.setdefault(used.relative, (used, content, []))[2].extend(places)
        uses = [Used(u, t, symbols.spans(u.absolute, t, found)) for u, t, found in files.values()]
        if not uses:
            raise NoMatch(f"{symbols.name} knows no use of {name} that is open here: 0 places.")
        return uses, note, symbols.name

    servers = workspace.services.servers
    files, note, server = servers.ask(Path(place.absolute), text, p.timeout, ask)
    parts = [
        (one.place.told, partial(_renamed, workspace, p.lint, name, server, one)) for one in files
    ]
    written, paths = all_or_none(workspace, parts), [path for path, _ in parts]
    known = {(one.place.told, span.line) for one in files for span in one.spans}
    rest = [f"{hit.path}:{hit.line}" for hit in hits if (hit.path, hit.line) not in known]
    if rest:
        rest_shown = some(rest, _MAX_NAMED)
        note = f"{name} is also where {server} knows no use of it: {rest_shown}. {note}".strip()
    return Renamed(
        name,
        new,
        sum(len(one.spans) for one in files),
        paths,
        server,
        "\n".join(diff for diff, _ in written),
        note,
        of_files(list(zip(paths, (marked for _, marked in written), strict=True))),
    )


def _renamed(
    workspace: Workspace, lint: Lint | None, name: str, server: str, one: Used
) -> tuple[str, str]:
    """The diff, plain and with IDs."""
    text, new, at = one.text, "", 0
    for span in one.spans:
        there = text[span.start : span.stop]
        if there and name not in there:  # the server has read another text
            where = f"{one.place.told}, line {span.line}"
            message = f"{server} takes {there[:40]!r} in {where}, for {name}. {NOTHING}"
            raise InvalidChange(message, hint="Try again. Or edit by hand.")
        new += text[at : span.start] + span.new
        at = span.stop
    with editing(workspace, one.place.told, lint=lint) as edit:
        if edit.utf8 != text.encode():
            raise Conflict(f"{edit.path} has changed meanwhile. {NOTHING}", hint="Try again.")
        written = edit.replace((new + text[at:]).encode())
        marked = marked_diff(edit.document, written.old, written.hunks)
    return written.diff(), "\n".join(filter(None, (marked, written.broken)))


def _located(workspace: Workspace, p: RenameParams) -> tuple[Place, str, str, list[int]]:
    """The file with its text, the name, and its offsets, on the line that is named if any."""
    parts = [*_SYMBOL.finditer(p.name)]
    if not parts:
        raise InvalidArguments("name: this is not a name.", hint="Send it as it is in the file.")
    quote = p.name[parts[0].start() : parts[-1].end()]
    with workspace.files.open(p.path) as file:
        place, utf8 = file.place, text_for_server(file)
        low, high, whole = 0, None, utf8.decode()
        if p.line:
            number = int(p.line) - 1 if _NUMBER.fullmatch(p.line) else -1
            if number < 0:  # a file of its own: this one has been read to its end
                with workspace.reading(p.path, glimpse=True) as document:
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
        raise NoMatch(f"{quote} is not in {where}.", hint="Read the file again.")
    return place, whole, parts[-1][0], offsets


def _meant(
    symbols: "Symbols", place: Place, text: str, offsets: Sequence[int], p: RenameParams
) -> int:
    """The place of the one symbol that has the name; comments and strings have none."""
    meant, known = -1, set[int]()
    for offset in offsets[:_MAX_ASKED]:
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
        reason = f" ({symbols.refusal})" if symbols.refusal else ""
        raise NoMatch(
            f"The language server knows no symbol {p.name} there: 0 places{reason}.",
            hint="Name it where it is declared or used. `grep` finds text.",
        )
    return meant


def _read(workspace: Workspace, path: str) -> tuple[Place, str]:
    """The text at a real absolute path."""
    root = workspace.root.resolve()
    inner = str(Path(path).relative_to(root)) if Path(path).is_relative_to(root) else path
    with workspace.files.open(inner) as file:
        return file.place, text_for_server(file).decode()


def _hits(workspace: Workspace, name: str) -> list[SearchHit]:
    """Lines that hold the name as a whole."""
    ends = [r"\b" * (end.isalnum() or end == "_") for end in (name[0], name[-1])]
    pattern = f"{ends[0]}{name.replace('$', '[$]')}{ends[1]}"
    exact = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    hits = workspace.search(pattern, limit=_MAX_HITS).hits
    return [hit for hit in hits if exact.search(hit.text)]


def _newline(text: str) -> str:
    return "\r" if "\n" not in text else "\n"
