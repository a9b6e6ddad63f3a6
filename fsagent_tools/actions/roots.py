"""roots: the directories that tools may use."""

from dataclasses import dataclass

from fsagent_tools.answers.action import Effect, Params, Workspace, action
from fsagent_tools.errors import PathDenied
from fsagent_tools.names import display
from fsagent_tools.search.start import printable


class RootsParams(Params):
    pass


@dataclass(frozen=True)
class Roots:
    """The workspace's own directory, or what may be used of it, and further ones."""

    directories: list[str]

    def render(self) -> str:
        return "\n".join(map(display, self.directories))


@action(effect=Effect.READ)
def roots(workspace: Workspace, _: RootsParams) -> Roots:
    """List the directories that may be used; the first is where relative paths begin."""
    policy = workspace.policy
    try:
        own = [workspace.files.place(".").told_absolute]
    except PathDenied:  # only parts of it may be used
        lists = [policy.allowed_paths or (), *policy.within]
        own = [path for path in next(filter(None, lists), ()) if path[:1] != "/"]
    return Roots([printable(path) for path in (*own, *policy.opened)])
