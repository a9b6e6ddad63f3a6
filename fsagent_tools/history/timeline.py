"""The journal as steps: what each call changed, and which steps are in effect."""

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress

from fsagent_tools.history.states import JournalLine, State
from fsagent_tools.records import dataclass

_KINDS = ("checkpoint", "undo", "redo")


@dataclass(frozen=True)
class Transition:
    """One entry, before and after. `came_from` or `went_to`: the other path of a move."""

    path: str
    before: State
    after: State
    line: JournalLine

    @property
    def went_to(self) -> str:
        return str(self.line.get("to", ""))

    @property
    def verb(self) -> str:
        """ "created", "removed", "moved" or "changed"."""
        if self.went_to:
            return "moved"
        if not self.before.kind:
            return "created"
        return "changed" if self.after.kind else "removed"


@dataclass(frozen=True)
class Step:
    """What one call changed, or a checkpoint, which changes nothing and has a `name`.

    kind: "change", "undo", "redo" or "checkpoint". at: ns since 1970. session: of the workspace.
    thread, call: the session and the call as `identified` told them. tool: "" for what a program
    did itself. lost: paths whose old content could not be kept.
    """

    id: str
    at: int
    session: str
    thread: str
    tool: str
    call: str
    kind: str
    name: str
    changes: tuple[Transition, ...]
    lost: tuple[str, ...] = ()
    about: JournalLine | None = None


class _Done:
    """Steps in effect, the last one first; shared between positions."""

    def __init__(self, step: Step | None = None, below: "_Done | None" = None) -> None:
        self.step, self.below = step, below

    def without(self, ids: Container[str]) -> "_Done":
        kept, at, left = [], self, ids
        wanted = set(ids) if isinstance(ids, set | frozenset | list | tuple) else set()
        while wanted and at.step is not None and at.below is not None:
            if at.step.id in left:
                wanted.discard(at.step.id)
            else:
                kept.append(at.step)
            at = at.below
        for step in reversed(kept):
            at = _Done(step, at)
        return at

    def steps(self, most: int) -> list[Step]:
        """The last `most`, the last one first."""
        found: list[Step] = []
        at: _Done | None = self
        while at is not None and at.step is not None and len(found) < most:
            found.append(at.step)
            at = at.below
        return found


class Timeline:
    """The steps of some sessions, in the order of time, and what may be undone and redone."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = list(steps)
        self._done, self._undone = _Done(), list[tuple[Step, _Done]]()
        positions: list[tuple[int, _Done]] = []
        for step in self.steps:
            about = step.about or {}
            if step.kind == "undo":
                self._undone.append((step, self._done))
                self._done = _without(step, self._done, positions)
            elif step.kind == "redo":
                while self._undone:
                    undo, before = self._undone.pop()
                    if undo.id == about.get("of"):
                        self._done = before
                        break
            elif step.kind == "change":
                self._done, self._undone = _Done(step, self._done), []
            positions.append((step.at, self._done))

    def last(self, most: int) -> list[Step]:
        """The last steps in effect, the last one first."""
        return self._done.steps(most)

    @property
    def undone(self) -> Step | None:
        """The undo that a redo takes back."""
        return self._undone[-1][0] if self._undone else None

    def since(self, at: int) -> list[Step]:
        return [step for step in self.steps if step.at > at]


def _without(undo: Step, done: _Done, positions: Sequence[tuple[int, _Done]]) -> _Done:
    """What is in effect after an undo."""
    about = undo.about or {}
    if about.get("part"):  # what it is about is there for other paths still
        return _Done(undo, done)
    if "to" in about:
        return _at(positions, int(about["to"]))
    return done.without([*map(str, about.get("of", ()))])


def _at(positions: Sequence[tuple[int, _Done]], at: int) -> _Done:
    return next((done for when, done in reversed(positions) if when <= at), _Done())


def steps_of(lines: Iterable[JournalLine]) -> list[Step]:
    """Steps in the order of their first lines, without what did not happen."""
    lines = [*lines]
    void = {(line.get("session"), line["void"]) for line in lines if "void" in line}
    lines = [one for one in lines if "void" not in one]
    if void:
        lines = [one for one in lines if (one.get("session"), one["at"]) not in void]
    groups: dict[tuple[str, str], list[JournalLine]] = {}
    for line in lines:
        groups.setdefault((str(line.get("session", "")), str(line.get("step", ""))), []).append(
            line
        )
    steps = [_step(group) for group in groups.values()]
    return [one for one in steps if one.kind != "change" or one.changes or one.lost]


def _step(lines: Sequence[JournalLine]) -> Step:
    first = lines[0]
    changes, lost = list[Transition](), list[str]()
    for line in lines:
        with suppress(KeyError, TypeError, ValueError, IndexError):
            before, after = State.from_json(line["old"]), State.from_json(line["new"])
            changes.append(Transition(str(line["path"]), before, after, line))
        lost += map(str, line.get("lost", ()))
    marks = ((kind, line) for line in lines for kind in _KINDS if kind in line)
    kind, mark = next(marks, ("change", first))
    about = mark[kind] if isinstance(mark.get(kind), Mapping) else None
    return Step(
        str(first["step"]),
        int(first["at"]),
        str(first.get("session", "")),
        str(first.get("thread", "")),
        next((str(line["tool"]) for line in lines if "tool" in line), ""),
        str(first.get("call", "")),
        kind,
        str(mark.get("checkpoint", "")),
        tuple(changes),
        tuple(lost),
        about,
    )
