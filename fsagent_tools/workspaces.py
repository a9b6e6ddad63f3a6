"""Workspaces of many users: opened when a run needs one, closed when others are needed more."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from fsagent_tools.call import host_code
from fsagent_tools.records import dataclass
from fsagent_tools.workspace import Workspace

KEPT_OPEN = 32  # workspaces that stay open while no call uses them

Choose = Callable[[Any], Workspace | str | Path | tuple[str | Path, str]]


@dataclass
class Lent:
    """An open workspace, and how many calls use it."""

    workspace: Workspace
    users: int = 0


class Workspaces:
    """One workspace for each path that `choose` tells, or for each session at a path.

    choose: the run of a call, as its framework has it, or None outside one -> a path, a path and
    the name of a session, or a `Workspace` of the host's own, which the host closes.
    open_: path -> workspace. Of those that no call uses, the last `KEPT_OPEN` stay open. A closed
    one is opened again with its line IDs, but it no longer knows what its model has seen.
    Thread-safe.
    """

    def __init__(self, choose: Choose, open_: Callable[[Path], Workspace] = Workspace) -> None:
        self._choose, self.open = choose, open_
        self._lent: OrderedDict[tuple[Path, str], Lent] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Workspaces, (self._choose, self.open)

    @contextmanager
    def lend(self, run: object) -> Iterator[Workspace]:
        """The workspace of the run, open until the end of the block."""
        with host_code():
            chosen = self._choose(run)
        if isinstance(chosen, Workspace):
            yield chosen
            return
        path, session = chosen if isinstance(chosen, tuple) else (chosen, "")
        seat = Path(path).absolute(), session
        with self._lock:
            if seat not in self._lent:
                self._lent[seat] = Lent(self.open(seat[0]))
            lent = self._lent[seat]
            lent.users += 1
        try:
            yield lent.workspace
        finally:
            for workspace in self._given_back(seat):
                workspace.close()

    def close(self) -> None:
        """Close what no call uses."""
        for workspace in self._idle(0):
            workspace.close()

    def _given_back(self, seat: tuple[Path, str]) -> list[Workspace]:
        with self._lock:
            self._lent[seat].users -= 1
            self._lent.move_to_end(seat)
        return self._idle(KEPT_OPEN)

    def _idle(self, kept: int) -> list[Workspace]:
        with self._lock:
            idle = [seat for seat, lent in self._lent.items() if not lent.users]
            return [self._lent.pop(seat).workspace for seat in idle[: max(len(idle) - kept, 0)]]
