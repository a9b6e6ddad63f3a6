"""rm: delete."""

from dataclasses import dataclass

from fsagent_tools.names import display
from fsagent_tools.search.start import printable
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action


class RmParams(Params):
    path: str = Field(description="File or directory to delete; of a link, the link itself.")
    recursive: bool = Field(False, description="Required for directories.")


@dataclass(frozen=True)
class Removed:
    """What is gone."""

    path: str

    def render(self) -> str:
        return f"Deleted {display(self.path)}"


@action(effect=Effect.DELETE)
def rm(workspace: Workspace, p: RmParams) -> Removed:
    """Delete a file or directory. Irreversible."""
    return Removed(printable(workspace.remove(p.path, p.recursive).source.told))
