"""Where a backend works: a workspace of this machine, or one elsewhere."""

from functools import lru_cache
from typing import Any

from fsagent_tools import Workspace
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.remote import Channel, RemoteWorkspace
from fsagent_tools_deepagents.paths import Paths


class Place:
    """A workspace whose verbs ask, or one elsewhere, whose verbs do not; and its paths."""

    def __init__(self, given: Workspace | Channel) -> None:
        self.workspace: Any  # a `Workspace`, or what has the same verbs
        if isinstance(given, Workspace):
            self.workspace = given.view(approve_direct=True)
            if (root := given.files.local_root) is None:
                raise ConfigInvalid("deepagents runs commands in the files.", hint="Pass a path.")
        elif isinstance(given, Channel):
            self.workspace = _elsewhere(given)  # type: ignore[arg-type] # any object is hashable
            root = self.workspace.root
        else:
            raise ConfigInvalid(f"{given!r} is no workspace, path or Channel.")
        self.paths = Paths(root)


@lru_cache(maxsize=256)
def _elsewhere(channel: Any) -> RemoteWorkspace:
    """One for each, since it asks once where it is."""
    return RemoteWorkspace(channel)
