"""stat: what the file system says of one entry."""

from dataclasses import dataclass

from fsagent_tools.files.errors import printable
from fsagent_tools.names import display
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action

SECOND = 1_000_000_000  # ns
_TYPES = {"link": "symlink", "device, socket or pipe": "other"}


class StatParams(Params):
    path: str = Field(description="Path to inspect.")
    absolute: bool = Field(False, description="Absolute path in the result.")


@dataclass(frozen=True)
class Stat:
    """Facts of an entry, of a link itself. Times in seconds since 1970.

    type: "file", "directory", "symlink" or "other". created: the last change of metadata where the
    file system has no time of birth. permissions: octal, "0o644". target: what a link says;
    target_type: what it leads to, "" for nothing inside the workspace.
    """

    path: str
    name: str
    type: str
    size_bytes: int
    modified: float
    created: float
    permissions: str
    is_symlink: bool
    target: str
    target_type: str

    def render(self) -> str:
        link = f" -> {display(self.target)} ({self.target_type or 'dangling'})"
        return (
            f"{display(self.path)}{link if self.is_symlink else ''}: {self.type}, "
            f"{self.size_bytes:,} bytes, modified {self.modified:.0f}, permissions "
            f"{self.permissions}"
        )


@action(effect=Effect.READ)
def stat(workspace: Workspace, p: StatParams) -> Stat:
    """Get the type, size, times and permissions of a file or directory."""
    found = workspace.files.stat(p.path)
    place = found.place
    return Stat(
        printable(place.told_absolute if p.absolute else place.told),
        printable(place.told_absolute.rpartition("/")[2]),
        _TYPES.get(found.kind, found.kind),
        found.size,
        found.mtime_ns / SECOND,
        (found.ctime_ns if found.birth_ns is None else found.birth_ns) / SECOND,
        oct(found.mode),
        found.is_symlink,
        printable(found.target or ""),
        _TYPES.get(found.target_kind or "", found.target_kind or ""),
    )
