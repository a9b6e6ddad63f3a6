"""Workspaces of many users: opened when a run needs one, closed when others are needed more."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeGuard

from fsagent_tools.call import host_code
from fsagent_tools.records import dataclass
from fsagent_tools.runtime.checks import check_types
from fsagent_tools.workspace import Workspace

KEEP = 256  # idle workspaces that know what their models have seen

_TOLD = 10_000  # workspaces whose models are still to be told of commands that ended

_Seat = tuple[Path, str]
_Commands = tuple[_Seat, list[str]]  # of a seat, those that run
Choose = Callable[[Any], Any]  # of a run: what `Workspaces` takes
URLS = ("http://", "https://")


def is_url(where: object) -> TypeGuard[str]:
    return isinstance(where, str) and where.strip().lower().startswith(URLS)


@dataclass
class Lent:
    """An open workspace, how many calls use it, and whether its session has ended."""

    workspace: Workspace
    users: int = 0
    over: bool = False


class Workspaces:
    """A pool of workspaces: one for each path that `choose` returns, or for each session at a path.

    A closed workspace is opened again with its line IDs, but no longer knows what its model has
    seen; it reports that its commands were ended. Thread-safe.

    Args:
        choose: Gets the run of a call, as its framework has it, or None outside one. Returns a
            path, a path and the name of a session, or a `Workspace` of your own, which you close;
            for tools also a `Channel`, or the URL of a server.
        open_: Path -> workspace.
        keep: How many unused workspaces stay open; up to as many more with a background command.
    """

    def __init__(
        self,
        choose: Choose,
        open_: Callable[[Path], Workspace] = Workspace,
        *,
        keep: int = KEEP,
    ) -> None:
        check_types(locals(), choose=Callable, open_=Callable, keep=int)
        self._choose, self.open, self.keep = choose, open_, keep
        self._lent: OrderedDict[_Seat, Lent] = OrderedDict()
        self._ended: OrderedDict[_Seat, list[str]] = OrderedDict()  # commands that had to end
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Workspaces, self._choose, self.open, keep=self.keep), ()

    @contextmanager
    def lend(self, run: object) -> Iterator[Any]:
        """The workspace of a run, open until the end of the block; or what says where it is."""
        with host_code():
            chosen = self._choose(run)
        is_path = isinstance(chosen, str | Path | tuple) and not is_url(chosen)
        if not is_path:
            yield chosen
            return
        path, session = chosen if isinstance(chosen, tuple) else (chosen, "")
        seat = Path(path).absolute(), session
        with self._lock:
            if seat not in self._lent:
                self._lent[seat] = Lent(self.open(seat[0]))
                if commands := self._ended.pop(seat, ()):
                    self._lent[seat].workspace.services.jobs.ended = commands
            lent = self._lent[seat]
            lent.users += 1
        try:
            yield lent.workspace
        finally:
            self._give_back(seat)

    def end(self, session: str) -> None:
        """Close the workspaces of a session that has ended, as soon as no call uses them."""
        with self._lock:
            ended = [seat for seat in self._lent if seat[1] == session]
            for seat in ended:
                self._lent[seat].users += 1
                self._lent[seat].over = True
        for seat in ended:
            self._give_back(seat)

    def close(self) -> None:
        """Close all workspaces that no call uses."""
        for workspace in self._idle(0):
            workspace.close()

    def _give_back(self, seat: _Seat) -> None:
        with self._lock:
            lent = self._lent[seat]
            lent.users -= 1
            self._lent.move_to_end(seat)
            over = [self._lent.pop(seat).workspace] if lent.over and not lent.users else []
        for workspace in over or self._idle(self.keep):
            workspace.close()

    def _idle(self, keep: int) -> list[Workspace]:
        with self._lock:
            if len(self._lent) <= keep:
                return []
            resting, working = list[_Commands](), list[_Commands]()
            for seat, lent in self._lent.items():
                if not lent.users:
                    commands = lent.workspace.services.running
                    (working if commands else resting).append((seat, commands))
            many = [each[: max(len(each) - keep, 0)] for each in (resting, working)]
            self._ended |= dict(many[1])
            while len(self._ended) > _TOLD:
                self._ended.popitem(last=False)
            return [self._lent.pop(seat).workspace for each in many for seat, _ in each]
