"""What an undo would do to each path: nothing of it is done here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from fsagent_tools.history.contents import Contents
from fsagent_tools.history.states import State
from fsagent_tools.history.timeline import Transition


@dataclass(frozen=True)
class Restoration:
    """One path on its way back.

    now: as it was found. target: what it becomes. first: the change whose line index belongs to the
    target. problem: why it cannot be, "" if it can.
    """

    path: str
    now: State
    target: State
    first: Transition
    problem: str = ""

    @property
    def needed(self) -> bool:
        return bool(self.problem) or not self.now.same(self.target)


def by_path(changes: Iterable[Transition]) -> dict[str, list[Transition]]:
    paths: dict[str, list[Transition]] = {}
    for change in changes:
        paths.setdefault(change.path, []).append(change)
    return paths


class Planner:
    """Plans for one undo, from what is on disk now."""

    def __init__(self, contents: Contents) -> None:
        self._contents, self._disk = contents, contents.disk

    def plan(self, changes: Iterable[Transition]) -> list[Restoration]:
        """What takes these changes back, which are in the order of time."""
        paths = by_path(changes)
        plans = [self._of(path, found) for path, found in paths.items()]
        return self._checked([one for one in plans if one.needed])

    def _of(self, path: str, changes: Sequence[Transition]) -> Restoration:
        now = self._disk.state(path)
        found = Restoration(path, now, now, changes[0])
        for run in reversed(self._runs(changes)):
            found = self._back(found, run)
            if found.problem:
                return found
        if self._contents.same(found.target, now):
            return replace(found, target=now)  # it was brought back before
        return found

    def _runs(self, changes: Sequence[Transition]) -> list[list[Transition]]:
        """Changes that followed each other, with nobody else's in between."""
        runs: list[list[Transition]] = []
        for change in changes:
            if runs and self._contents.same(runs[-1][-1].after, change.before):
                runs[-1].append(change)
            else:
                runs.append([change])
        return runs

    def _back(self, found: Restoration, run: Sequence[Transition]) -> Restoration:
        before, after, now, same = run[0].before, run[-1].after, found.target, self._contents.same
        if same(now, after) or self._is_unstamped(found.path, now, after):
            return replace(found, target=before)
        if any(same(now, change.before) for change in run):  # those behind it never happened
            return replace(found, target=before)
        if same(before, after):  # such as an undo and its redo: it is others who changed it since
            return found
        files = {before.kind, after.kind, now.kind} == {"file"}
        if files and self._contents.same_content(now, after):  # others changed only its mode
            mode = now.mode if before.mode == after.mode else before.mode
            return replace(found, target=replace(before, mode=mode))
        return replace(found, problem=_words(before, after, now))

    def _is_unstamped(self, path: str, now: State, after: State) -> bool:
        """Whether the file is as a write in place left it, whose stamps nobody noted."""
        return (
            after.kind == now.kind == "file"
            and (now.identity[0], 0, now.identity[2]) == after.identity
            and blake2b(self._disk.read(path), digest_size=16).hexdigest()
            == after.source.get("sum")
        )

    def _checked(self, plans: list[Restoration]) -> list[Restoration]:
        """With a problem where an old content is gone, or a directory cannot make room."""
        goes = {one.path for one in plans if not one.target.kind}
        for number, one in enumerate(plans):
            kinds = one.now.kind, one.target.kind
            makes_room = kinds in (("directory", "file"), ("directory", "link"))
            if makes_room and not goes.issuperset(self._disk.inside(one.path)):
                plans[number] = replace(one, problem="it holds files of others now")
        first = self._contents.first
        live = {first(one.now.identity) for one in plans if one.now.kind == "file"}
        for number, one in enumerate(plans):
            if one.target.kind != "file" or one.problem:
                continue
            name = first(one.target.identity)
            if name not in live and not self._contents.holds(one.target):
                plans[number] = replace(one, problem="its old content is not kept any more")
        return plans


def _words(before: State, after: State, now: State) -> str:
    if not now.kind:
        return "somebody removed it since"
    if not after.kind:
        return "there is another one now"
    if not before.kind:
        return "it was made in this session, and somebody changed it since"
    return "somebody changed it since"
