"""Several changes of files as one: judged before the first, asked about once, all made or none."""

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import TypeVar

from fsagent_tools.call import CancelFlag, PendingChange, changed, current, new_step
from fsagent_tools.errors import Conflict, InvalidArguments, ToolError
from fsagent_tools.gate.gate import Gated
from fsagent_tools.gate.request import describe, previewed

_T = TypeVar("_T")
MOST_FILES = 100  # of one call
_NOTHING = "Nothing was written."


@contextmanager
def as_one(
    where: Gated, change: PendingChange, done: Collection[str], *, several: bool = True
) -> Iterator[None]:
    """Inside the block happens what `change` tells of all its files, or nothing; nobody is asked
    any more. done: the paths that were written so far. several: there is more than one step to it.

    If it fails after all was judged, as the disk is full or others changed a file meanwhile, what
    was written is put back; without a history it stays. The error says so.
    """
    if watch := current.get().watch:
        watch(change)
    step = current.get().step or new_step()
    try:
        with changed(watch=None, cancelled=CancelFlag(), step=step):
            yield
    except ToolError as error:
        stays = [*done]
        if several and where.services.keeps_history:
            stays = where.services.history.put_back(step)
        if stays:
            error.hint = f"Written before that, and not put back: {', '.join(stays)}. {error.hint}"
        elif _NOTHING not in error.message:
            error.message += f" {_NOTHING}"
        raise


def all_or_none(where: Gated, parts: Sequence[tuple[str, Callable[[], _T]]]) -> list[_T]:
    """What each of the parts gives; each changes the file at its path, and none needs another.

    Raises `InvalidArguments` for a file that is named twice, and what a part raises.
    """
    places = [where.files.place(path).relative for path, _ in parts]
    if twice := next((place for place in places if places.count(place) > 1), ""):
        message = f"{twice} is named twice. {_NOTHING}"
        raise InvalidArguments(message, hint="Give all its changes in one place.")
    planned = [_previewed(*part) for part in parts]
    given, done = list[_T](), list[str]()
    whole = _joined([change for change in planned if change])
    with as_one(where, whole, done, several=len(parts) > 1):
        for (path, part), change in zip(parts, planned, strict=True):
            with changed(watch=_only(change)):
                given.append(part())
            done.append(path)
    return given


def _previewed(path: str, part: Callable[[], object]) -> PendingChange | None:
    try:
        return previewed(part)[0]
    except ToolError as error:
        if not error.message.startswith((f"{path} ", f"{path}:")):
            error.message = f"{path}: {error.message}"
        raise


def _only(planned: PendingChange | None) -> Callable[[PendingChange], None]:
    def verify(change: PendingChange) -> None:
        if change != planned:
            raise Conflict(f"{change.paths[0]} was changed by others meanwhile.", hint="Try again.")

    return verify


def _joined(changes: Sequence[PendingChange]) -> PendingChange:
    paths = tuple(dict.fromkeys(path for change in changes for path in change.paths))
    description = "\n".join(map(describe, changes))
    return PendingChange("write", paths, state=tuple(map(_facts, changes)), told=description)


def _facts(change: PendingChange) -> Hashable:
    sums = (content and sha256(content).digest() for content in (change.before, change.after))
    return change.verb, change.paths, *sums, change.state
