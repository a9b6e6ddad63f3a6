"""rm: delete."""

from dataclasses import dataclass

from fsagent_tools.files.errors import printable
from fsagent_tools.names import display
from fsagent_tools.text import some
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action

_NAMED = 5  # entries that are told of


class RmParams(Params):
    path: str = Field(description="File or directory to delete; of a link, the link itself.")
    recursive: bool = Field(False, description="Required for directories.")


@dataclass(frozen=True)
class Removed:
    """What is gone."""

    path: str
    _lost: tuple[str, ...] = ()

    def render(self) -> str:
        lost = some([*map(display, self._lost)], _NAMED)
        note = f"\n[not covered by undo: {lost}]" if lost else ""
        return f"Deleted {display(self.path)}{note}"


@action(effect=Effect.DELETE)
def rm(workspace: Workspace, p: RmParams) -> Removed:
    """Delete a file or directory. Irreversible."""
    gone = workspace.remove(p.path, p.recursive).source.told
    return Removed(printable(gone), workspace.services.lost_by_call())
