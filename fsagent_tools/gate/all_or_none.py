"""Several changes of files as one: judged before the first, asked about once, all made or none."""

from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from hashlib import sha256
from typing import TypeVar

from fsagent_tools.approval.request import previewed
from fsagent_tools.approval.shown import describe
from fsagent_tools.call import PendingChange, changed, current
from fsagent_tools.errors import Conflict, ToolError
from fsagent_tools.gate.operation import Gated

_T = TypeVar("_T")


def all_or_none(where: Gated, parts: Sequence[Callable[[], _T]]) -> list[_T]:
    """What each of the parts gives; each makes one change of files, and none depends on another.

    Where no history is kept, a part that fails after all were judged, as the disk is full or
    others changed its file meanwhile, leaves those before it done, and the error says so. Raises
    what a part raises.
    """
    planned = [previewed(part) for part in parts]
    if watch := current.get().watch:
        watch(_joined([change for change in planned if change]))
    done = list[_T]()
    kept = where.services.keeps_history
    try:
        with where.transaction() if kept else nullcontext():
            for part, change in zip(parts, planned, strict=True):
                with changed(watch=_only(change)):
                    done.append(part())
    except ToolError as error:
        if done and not kept:
            paths = [path for change in planned[: len(done)] if change for path in change.paths]
            error.hint = f"Done before it, and not taken back: {', '.join(paths)}. {error.hint}"
        raise
    return done


def _only(planned: PendingChange | None) -> Callable[[PendingChange], None]:
    def verify(change: PendingChange) -> None:
        if change != planned:
            raise Conflict(f"{change.paths[0]} was changed by others meanwhile.", hint="Try again.")

    return verify


def _joined(changes: Sequence[PendingChange]) -> PendingChange:
    paths = tuple(dict.fromkeys(path for one in changes for path in one.paths))
    told = "\n".join(map(describe, changes))
    return PendingChange("write", paths, state=tuple(map(_facts, changes)), told=told)


def _facts(change: PendingChange) -> Hashable:
    sums = (content and sha256(content).digest() for content in (change.before, change.after))
    return change.verb, change.paths, *sums, change.state
