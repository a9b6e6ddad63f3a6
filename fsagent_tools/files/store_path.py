"""Where a path ends in a store, which has no links: by its names alone."""

from collections.abc import Sequence
from typing import NamedTuple

from fsagent_tools.files import refusals
from fsagent_tools.files.roots import checked
from fsagent_tools.files.store import Store


class StorePath(NamedTuple):
    """missing: the last names of `path` that may not be there yet.

    One for an ordinary end, existing or not; more when parents are missing; none for the root.
    slash: only a directory will do.
    """

    path: str
    missing: Sequence[str]
    slash: bool

    @property
    def above(self) -> str:
        """The last directory on the way."""
        return self.path[: len(self.path) - len("/".join(self.missing))].rstrip("/")


def store_path(store: Store, path: str) -> StorePath:
    """Raises a `ToolError` for what leaves the root or goes through a file."""
    checked(path)
    todo = [name for name in path.split("/") if name not in ("", ".")]
    if any(len(name.encode()) > refusals.NAME_MAX for name in todo):
        raise refusals.too_long(path)
    slash = path.endswith(("/", "/.", "..")) or not todo
    if ".." not in todo and (len(todo) < 2 or _is_directory(store, path, todo[:-1])):
        return StorePath("/".join(todo), todo[-1:], slash)
    way, left = list[str](), list[str]()
    for at, name in enumerate(todo, 1):
        if name == ".." and left:
            raise refusals.no_such(path, left[0])
        if name == ".." and not way:
            raise refusals.outside(path)
        if name == "..":
            way.pop()
        elif left or at == len(todo) or not _is_directory(store, path, [*way, name]):
            left.append(name)
        else:
            way.append(name)
    return StorePath("/".join(way + left), left or way[-1:], slash)


def _is_directory(store: Store, path: str, names: Sequence[str]) -> bool:
    """False where there is nothing."""
    try:
        if store.stat("/".join(names)).is_dir():
            return True
    except (FileNotFoundError, NotADirectoryError):
        return False
    raise refusals.not_a_directory(path, names[-1])
