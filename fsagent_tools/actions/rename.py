"""Rename a symbol in all files that use it, as their language server says."""

from dataclasses import dataclass
from functools import partial

from fsagent_tools.actions.diagnostics import lacks_server
from fsagent_tools.actions.references import SymbolParams, Used, uses
from fsagent_tools.answers.action import action
from fsagent_tools.answers.edited import clipped
from fsagent_tools.effects import Effect
from fsagent_tools.errors import Conflict, InvalidArguments, LanguageServerFailed
from fsagent_tools.gate.all_or_none import all_or_none
from fsagent_tools.lines.diff import marked_diff
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.params.knob import Field
from fsagent_tools.session.editing import editing
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.text import encoded
from fsagent_tools.workspace import Workspace


class RenameParams(SymbolParams):
    new_name: str = Field(description="What it is called from now on.")
    lint: Lint | None = Field(None, description=LINT)


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
        return f"{self._head}\n{clipped(self._marked)}"

    def plain(self) -> str:
        return f"{self._head}\n{self.diff}"

    @property
    def _head(self) -> str:
        return (
            f"Renamed {self.name} to {self.new_name}: {self.count} places, {len(self.files)} files."
        )


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write"), lacks=lacks_server)
def rename(workspace: Workspace, p: RenameParams) -> Renamed:
    """Rename a symbol and all its uses, in all files or in none."""
    new = encoded(p.new_name, "new_name").decode()
    found = uses(workspace, p, lambda symbols, offset: symbols.rename(offset, new), whole=True)
    if new == found.name:
        raise InvalidArguments(f"It is called {new}. {NOTHING}", hint="Send another `new_name`.")
    for one in found.files:
        _check(one, found.name, found.server)
    parts = [(one.place.told, partial(_renamed, workspace, one, p.lint)) for one in found.files]
    written = all_or_none(workspace, parts)
    return Renamed(
        found.name,
        new,
        sum(len(one.spans) for one in found.files),
        [one.place.told for one in found.files],
        found.server,
        "\n".join(diff for diff, _ in written),
        " ".join(found.notes),
        "\n".join(marked for _, marked in written),
    )


def _check(one: Used, name: str, server: str) -> None:
    """Raise unless what goes holds the name; else the server has read another text."""
    for span in one.spans:
        there = one.text[span.start : span.stop]
        if there and name not in there:
            raise LanguageServerFailed(
                f"{server} takes {there[:40]!r} in {one.place.told}, line {span.line}, for {name}: "
                f"it has read another text. {NOTHING}",
                hint="Try again. Or edit by hand.",
            )


def _renamed(workspace: Workspace, one: Used, lint: Lint | None) -> tuple[str, str]:
    """The diff, plain and with IDs."""
    text, parts, at = one.text, list[str](), 0
    for span in one.spans:
        parts += [text[at : span.start], span.new]
        at = span.stop
    with editing(workspace, one.place.told, lint=lint) as edit:
        if edit.utf8 != text.encode():
            raise Conflict(
                f"{edit.path} was changed by others meanwhile. {NOTHING}", hint="Try again."
            )
        written = edit.replace("".join([*parts, text[at:]]).encode())
        marked = marked_diff(edit.document, written.old, written.hunks)
    told = filter(None, (f"== {written.path}", marked, written.broken))
    return written.diff(), "\n".join(told)
