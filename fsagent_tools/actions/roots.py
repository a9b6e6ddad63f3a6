"""roots: the directories that tools may use."""

from dataclasses import dataclass

from fsagent_tools.answers.action import action
from fsagent_tools.effects import Effect
from fsagent_tools.params.arguments import Params
from fsagent_tools.search.start import printable, printable_path
from fsagent_tools.workspace import Workspace


class RootsParams(Params):
    pass


@dataclass(frozen=True)
class Roots:
    """The workspace's own directory, which relative paths begin at, and further ones."""

    directories: list[str]

    def render(self) -> str:
        return "\n".join(map(printable_path, self.directories))


@action(effect=Effect.READ)
def roots(workspace: Workspace, _: RootsParams) -> Roots:
    """List the directories that may be used; the first is where relative paths begin."""
    own = workspace.files.place(".").told_absolute
    return Roots([printable(path) for path in (own, *workspace.policy.opened)])
