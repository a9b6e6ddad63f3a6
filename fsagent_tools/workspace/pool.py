"""Workspaces of many users: opened when a run needs one, closed when others are needed more."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from fsagent_tools.call import host_code
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.validation import check_types
from fsagent_tools.workspace import Workspace

KEEP = 256  # idle workspaces that know what their models have seen
_TOLD = 10_000  # workspaces whose models are still to be told of commands that ended

_Seat = tuple[Path, str]
Choose = Callable[[Any], Any]  # of a run: what `Workspaces` takes


@dataclass(eq=False)
class Lent:
    """A workspace that is opened by the first call that needs it; the next ones wait for that."""

    workspace: Workspace | None = None
    users: int = 0  # calls that use it
    over: bool = False  # its session has ended
    last: int = 0  # when it was given back
    opening: Lock = field(default_factory=Lock)

    @property
    def commands(self) -> list[str]:
        """Those that run in the background."""
        return self.workspace.services.running if self.workspace else []


class Workspaces:
    """A pool of workspaces: one for each path that `choose` returns, or for each session at a path.

    A closed workspace is opened again with its line IDs, but no longer knows what its model has
    seen; it reports that its commands were ended. Thread-safe.

    Args:
        choose: Gets the run of a call, as its framework has it, or None outside one. Returns a
            path, a path and the name of a session (or None), or a `Workspace` of your own, which
            you close.
        open_: Path -> workspace.
        keep: How many unused workspaces stay open; up to as many more with a background command.
    """

    def __init__(
        self, choose: Choose, open_: Callable[[Path], Workspace] = Workspace, *, keep: int = KEEP
    ) -> None:
        check_types(locals(), choose=Callable, open_=Callable, keep=int)
        self._choose, self.open, self.keep = choose, open_, keep
        self._lent, self._lock = dict[_Seat, Lent](), Lock()
        # Those that no call uses, in the order of their last use: without a command, and with one.
        self._resting, self._working = OrderedDict[_Seat, Lent](), OrderedDict[_Seat, Lent]()
        self._turns = count(1)
        self._ended: OrderedDict[_Seat, list[str]] = OrderedDict()  # commands that had to end

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Workspaces, self._choose, self.open, keep=self.keep), ()

    @contextmanager
    def lend(self, run: object) -> Iterator[Workspace]:
        """The workspace of a run, open until the end of the block. Raises `ConfigInvalid`."""
        with host_code():
            chosen = self._choose(run)
        if isinstance(chosen, Workspace):
            yield chosen
            return
        if not isinstance(chosen, str | Path | tuple):
            raise ConfigInvalid(f"{chosen!r} is no workspace or path.")
        path, session = chosen if isinstance(chosen, tuple) else (chosen, "")
        seat = Path(path).absolute(), session or ""
        with self._lock:
            lent = self._taken(seat)
        try:
            with lent.opening:
                if not lent.workspace:
                    lent.workspace = self.open(seat[0])
                    if commands := self._ended.pop(seat, ()):
                        lent.workspace.services.jobs.ended = commands
            yield lent.workspace
        finally:
            self._give_back(seat)

    def end(self, session: str) -> None:
        """Close the workspaces of a session that has ended, as soon as no call uses them."""
        with self._lock:
            ended = [seat for seat in self._lent if seat[1] == session]
            for seat in ended:
                self._taken(seat).over = True
        for seat in ended:
            self._give_back(seat)

    def close(self) -> None:
        """Close all workspaces that no call uses."""
        with self._lock:
            closing = self._surplus(0)
        _close(closing)

    def _taken(self, seat: _Seat) -> Lent:
        lent = self._lent.setdefault(seat, Lent())
        lent.users += 1
        for idle in (self._resting, self._working):
            idle.pop(seat, None)
        return lent

    def _give_back(self, seat: _Seat) -> None:
        with self._lock:
            lent = self._lent[seat]
            lent.users -= 1
            if lent.users:
                return
            if lent.over or not lent.workspace:
                closing = [self._lent.pop(seat)]
            else:
                lent.last = next(self._turns)
                (self._working if lent.commands else self._resting)[seat] = lent
                closing = self._surplus(self.keep)
        _close(closing)

    def _surplus(self, keep: int) -> list[Lent]:
        """Those used longest ago, beyond so many of each kind, which are to be closed."""
        if len(self._working) > keep:
            for seat in [seat for seat, lent in self._working.items() if not lent.commands]:
                self._resting[seat] = self._working.pop(seat)
            self._resting = OrderedDict(sorted(self._resting.items(), key=lambda one: one[1].last))
        surplus = []
        for idle in (self._resting, self._working):
            while len(idle) > keep:
                seat, lent = idle.popitem(last=False)
                if commands := lent.commands:
                    self._ended[seat] = commands
                surplus.append(self._lent.pop(seat))
        while len(self._ended) > _TOLD:
            self._ended.popitem(last=False)
        return surplus


def _close(surplus: Iterable[Lent]) -> None:
    for lent in surplus:
        if lent.workspace:
            lent.workspace.close()
