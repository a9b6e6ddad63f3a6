"""Where the content of an earlier state is now: a kept file, a copy, an object of git."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from fsagent_tools.history.archive import Archive
from fsagent_tools.history.deltas import patched
from fsagent_tools.history.states import Identity, JournalLine, State
from fsagent_tools.history.timeline import Transition

Live = Callable[[str], tuple[State, Callable[[], bytes]]]
READ_WHOLE = 64 << 20  # bytes of an old file that is read as a whole


class Contents:
    """Old contents by the state they belong to. Made for one look at the history."""

    def __init__(self, archive: Archive, lines: Iterable[JournalLine], live: Live) -> None:
        """live: the state of the entry at a path now, and how its content is read."""
        self._archive, self._live = archive, live
        self._first: dict[Identity, Identity] = {}  # what was put back -> what it was before
        self._others: dict[Identity, list[Identity]] = {}
        self._sources: dict[Identity, tuple[JournalLine, State]] = {}
        for line in lines:
            if was := line.get("was"):
                self._alias(State.from_json(line["new"]).identity, (was[0], was[1], was[2]))
            for facts in (line.get("old"), line.get("new")):
                if facts and isinstance(facts[-1], dict):
                    state = State.from_json(facts)
                    self._sources.setdefault(state.identity, (line, state))

    def _alias(self, new: Identity, old: Identity) -> None:
        first = self.first(old)
        self._first[new] = first
        self._others.setdefault(first, []).append(new)

    def first(self, identity: Identity) -> Identity:
        """What the same content was called when it was first seen."""
        return self._first.get(identity, identity)

    @cached_property
    def _kept(self) -> dict[Identity, Path]:
        return self._archive.kept()

    def same(self, one: State, other: State) -> bool:
        """Whether two states are of the same content, mode and kind."""
        if one.kind != "file" or other.kind != "file":
            return (one.kind, one.mode, one.target) == (other.kind, other.mode, other.target)
        return one.mode == other.mode and self.same_content(one, other)

    def same_content(self, one: State, other: State) -> bool:
        return self.first(one.identity) == self.first(other.identity)

    def kept_file(self, state: State) -> Path | None:
        """A kept file that holds what a file in that state held, unchanged since; None if gone."""
        first = self.first(state.identity)
        names = [first, *self._others.get(first, ())]
        for name in names:
            if (path := self._kept.get(name)) is not None:
                return path
        for name in names:
            if (found := self._sources.get(name)) and "copy" in found[1].source:
                return self._copy(*found)
        return None

    def _copy(self, line: JournalLine, state: State) -> Path | None:
        """A copy whose checksum still fits."""
        path = self._archive.file(line, state.source["copy"])
        with suppress(OSError):
            if checksum(path) == state.source.get("sum"):
                return path
        return None

    def read(self, state: State) -> bytes | None:
        """What a file in that state held; None if that is not known any more, or too large."""
        with suppress(OSError):
            if (path := self.kept_file(state)) and path.stat().st_size <= READ_WHOLE:
                return path.read_bytes()
        return None

    def written(self, change: Transition) -> bytes | None:
        """What the file held after the change, had from what it held before; None if unknown."""
        if (kept := self.read(change.after)) is not None:
            return kept
        delta, before = change.line.get("delta"), self.read(change.before)
        with suppress(ValueError, TypeError):
            if delta and before is not None:
                return patched(before, delta)
        return None

    def after(self, change: Transition) -> bytes | None:
        """`written`, or what the file holds now if it has not changed since."""
        if (known := self.written(change)) is not None:
            return known
        now, read = self._live(change.path)
        if now.kind == "file" and self.same_content(now, change.after):
            return read()
        return None


def checksum(path: Path) -> str:
    """blake2b of a file, in hexadecimal."""
    summed = blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            summed.update(block)
    return summed.hexdigest()
