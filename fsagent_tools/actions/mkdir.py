"""mkdir: make a directory."""

from dataclasses import dataclass

from fsagent_tools.files.errors import printable
from fsagent_tools.names import display
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action


class MkdirParams(Params):
    path: str = Field(description="Directory to make; missing parents are made too.")


@dataclass(frozen=True)
class MadeDirectory:
    """`created` is False for a directory that was there."""

    path: str
    created: bool

    def render(self) -> str:
        shown = display(self.path).rstrip("/") + "/"
        return f"Created {shown}" if self.created else f"{shown} already exists"


@action(effect=Effect.WRITE, risk="low")
def mkdir(workspace: Workspace, p: MkdirParams) -> MadeDirectory:
    """Make a directory and its missing parents."""
    place, created = workspace.files.make_directory(p.path)
    return MadeDirectory(printable(place.told), created)
