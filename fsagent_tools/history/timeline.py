"""The journal as steps: what each call changed, and which steps are in effect."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from fsagent_tools.history.states import JournalLine, State

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


_Position = tuple[int, list[Step], int]  # a time, and how many of these steps are in effect then


class Timeline:
    """The steps of some sessions, in the order of time, and what may be undone and redone."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = list(steps)
        self._done = list[
            Step
        ]()  # in effect; only appended to, so that a position has a part of it
        self._undone = list[tuple[Step, list[Step]]]()
        positions = list[_Position]()
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
                self._done.append(step)
                self._undone = []
            positions.append((step.at, self._done, len(self._done)))

    def last(self, most: int) -> list[Step]:
        """The last steps in effect, the last one first."""
        return self._done[::-1][:most]

    @property
    def undone(self) -> Step | None:
        """The undo that a redo takes back."""
        return self._undone[-1][0] if self._undone else None


def _without(undo: Step, done: list[Step], positions: Sequence[_Position]) -> list[Step]:
    """What is in effect after an undo."""
    about = undo.about or {}
    if about.get("part"):  # what it is about is there for other paths still
        return [*done, undo]
    if "to" in about:
        return next((d[:n] for at, d, n in reversed(positions) if at <= int(about["to"])), [])
    return [one for one in done if one.id not in about.get("of", ())]


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
