"""Rename a symbol in all files that use it, as their language server says."""

from dataclasses import dataclass
from functools import partial

from fsagent_tools.actions.diagnostics import lacks_server
from fsagent_tools.actions.references import SYMBOL, SymbolParams, Used, Uses, uses
from fsagent_tools.answers.action import Effect, Field, Workspace, action
from fsagent_tools.answers.edited import clipped, of_files
from fsagent_tools.errors import ActionDenied, Conflict, InvalidArguments, InvalidChange
from fsagent_tools.gate.all_or_none import all_or_none
from fsagent_tools.lines.diff import marked_diff
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.session.editing import editing
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.text import clip, encoded, in_quotes


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
            hint="Find the uses with `references`, and edit them.",
        )
    new = encoded(p.new_name, "new_name").decode()
    if not SYMBOL.fullmatch(new) or new[0].isdigit():
        raise InvalidArguments(f"new_name: {in_quotes(clip(new, 80))} is no name. {NOTHING}")
    found = uses(workspace, p, lambda symbols, offset: symbols.rename(offset, new), whole=True)
    if new == found.name:
        raise InvalidArguments(f"It is called {new}. {NOTHING}", hint="Send another `new_name`.")
    part = partial(_renamed, workspace, p.lint, found)
    parts = [(one.place.told, partial(part, one)) for one in found.files]
    written, files = all_or_none(workspace, parts), [path for path, _ in parts]
    return Renamed(
        found.name,
        new,
        sum(len(one.spans) for one in found.files),
        files,
        found.server,
        "\n".join(diff for diff, _ in written),
        " ".join(found.notes),
        of_files(list(zip(files, (marked for _, marked in written), strict=True))),
    )


def _renamed(workspace: Workspace, lint: Lint | None, found: Uses, one: Used) -> tuple[str, str]:
    """The diff, plain and with IDs."""
    text, new, at = one.text, "", 0
    for span in one.spans:
        there = text[span.start : span.stop]
        if there and found.name not in there:  # the server has read another text
            where = f"{one.place.told}, line {span.line}"
            message = f"{found.server} takes {there[:40]!r} in {where}, for {found.name}. {NOTHING}"
            raise InvalidChange(message, hint="Try again. Or edit by hand.")
        new += text[at : span.start] + span.new
        at = span.stop
    with editing(workspace, one.place.told, lint=lint) as edit:
        if edit.utf8 != text.encode():
            raise Conflict(f"{edit.path} has changed meanwhile. {NOTHING}", hint="Try again.")
        written = edit.replace((new + text[at:]).encode())
        marked = marked_diff(edit.document, written.old, written.hunks)
    return written.diff(), "\n".join(filter(None, (marked, written.broken)))
