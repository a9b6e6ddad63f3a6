"""What may have been meant by a path that leads to nothing."""

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from fsagent_tools import errors
from fsagent_tools.files import refusals
from fsagent_tools.files.port import Handle, Place
from fsagent_tools.files.replace import TEMP_PREFIX

if TYPE_CHECKING:
    from fsagent_tools.files.guard import FileGuard

MOST_SEEN = 5_000  # entries in a look for a name elsewhere, those nearest to the root first
_SKIPPED = ("node_modules", "__pycache__")


def not_there(
    guard: "FileGuard", path: str, found: Handle, above: Place, *, made: bool
) -> errors.ToolError:
    """The refusal of a path. above: of the last directory on its way. made: see `_missing`."""
    name = found.missing[0] if found.missing else "."

    def reason() -> str:
        if link := _dangling(guard, path):
            return refusals.leads_nowhere(*link)
        slashed = path.replace("\\", "/")
        there = slashed != path and guard.is_there(slashed)
        return f"Did you mean {refusals.shown(slashed)}?" if there else ""

    def visible(name: str) -> bool:
        return not name.startswith(TEMP_PREFIX) and guard.shows(above.inside(name))

    def elsewhere() -> Iterator[str]:
        places = _called(guard, path.rstrip("/").rpartition("/")[2])
        return islice(places, 0 if made else refusals.SUGGESTIONS)

    error = refusals.missing(path, found.beside(), name, visible, elsewhere)
    if not isinstance(error, errors.Missing):
        return error
    return errors.Missing(error.message, look=lambda: reason() or error.hint)


def _dangling(guard: "FileGuard", path: str) -> tuple[str, str] | None:
    """The first link on the way that leads to nothing, and what it says."""
    ends = [at for at, character in enumerate(path) if character == "/" and at]
    for end in [*ends, len(path)]:
        with suppress(errors.ToolError):
            status = guard.stat(path[:end].rstrip("/"))
            if status.target is not None and status.target_kind is None:
                return path[:end], status.target
    return None


def _called(guard: "FileGuard", name: str) -> Iterator[str]:
    """Entries of that name that may be read, as answers call them, the nearest ones first.

    No link is followed, and no directory entered that begins with a dot.
    """
    left, waiting = MOST_SEEN, deque(["."])
    while waiting and left > 0:
        path = waiting.popleft()
        try:
            with guard.directory(path) as directory:
                entries, place = directory.entries(), directory.place
        except errors.ToolError:
            continue
        for entry in entries[:left]:
            if entry.name == name and guard.shows(place.inside(name)):
                yield place.inside(name).told
            passed = entry.name.startswith(".") or entry.name in _SKIPPED
            if not passed and entry.is_dir(follow_symlinks=False):
                waiting.append(f"{path}/{entry.name}")
        left -= len(entries)
