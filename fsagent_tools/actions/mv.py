"""mv: move or rename."""

from dataclasses import dataclass

from fsagent_tools.files.errors import printable
from fsagent_tools.names import display
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action


class MvParams(Params):
    source: str = Field(description="File or directory to move.")
    destination: str = Field(description="Its full new path, name included.")
    overwrite: bool = Field(False, description="Replace an existing file.")


@dataclass(frozen=True)
class Moved:
    """Where the entry was and is now."""

    source: str
    destination: str

    def render(self) -> str:
        return f"Moved {display(self.source)} to {display(self.destination)}"


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write"))
def mv(workspace: Workspace, p: MvParams) -> Moved:
    """Move or rename a file or directory. A link itself is moved."""
    done = workspace.move(p.source, p.destination, p.overwrite)
    return Moved(printable(done.source.told), printable(done.destination.told))
