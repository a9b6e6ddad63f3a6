"""Where the content of an earlier state is now: a kept file, a copy, an object of git."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from fsagent_tools.history.archive import Archive
from fsagent_tools.history.deltas import patched
from fsagent_tools.history.git.repository import Repository
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
        self._sources: dict[Identity, State] = {}
        for line in lines:
            if was := line.get("was"):
                self._alias(State.from_json(line["new"]).identity, (was[0], was[1], was[2]))
            for facts in (line.get("old"), line.get("new")):
                if facts and isinstance(facts[-1], dict):
                    state = State.from_json(facts)
                    self._sources.setdefault(state.identity, state)

    def _alias(self, new: Identity, old: Identity) -> None:
        first = self.first(old)
        self._first[new] = first
        self._others.setdefault(first, []).append(new)

    def first(self, identity: Identity) -> Identity:
        """What the same content was called when it was first seen."""
        return self._first.get(identity, identity)

    @cached_property
    def _kept(self) -> dict[Identity, str]:
        return self._archive.kept()

    def same(self, one: State, other: State) -> bool:
        """Whether two states are of the same content, mode and kind."""
        if one.kind != "file" or other.kind != "file":
            return (one.kind, one.mode, one.target) == (other.kind, other.mode, other.target)
        return one.mode == other.mode and self.same_content(one, other)

    def same_content(self, one: State, other: State) -> bool:
        return self.first(one.identity) == self.first(other.identity)

    def kept_file(self, state: State) -> str | None:
        """The path of a kept file with what a file in that state held; None if it is gone."""
        names = self._names(state)
        for name in names:
            if (path := self._kept.get(name)) is not None:
                return path
        for source in self._sources_of(names):
            if found := self._copy(source):
                return str(found)
            if data := self._blob(source):
                return self._archive.part.add(data[0])
        return None

    def holds(self, state: State) -> bool:
        """Whether `kept_file` would find one."""
        names = self._names(state)
        if any(name in self._kept for name in names):
            return True
        sources = self._sources_of(names)
        return any(self._copy(one) or self._blob(one) for one in sources)

    def _names(self, state: State) -> list[Identity]:
        """What the content has been called."""
        first = self.first(state.identity)
        return [first, *self._others.get(first, ())]

    @cached_property
    def _repository(self) -> Repository | None:
        return Repository.of(Path(os.path.realpath(self._archive.root)))

    def _blob(self, state: State) -> tuple[bytes] | None:
        """From git's objects, as long as it has them."""
        sha = state.source.get("git")
        if sha is None or self._repository is None:
            return None
        data = self._repository.blob(sha)
        return None if data is None or len(data) != state.identity[2] else (data,)

    def _copy(self, state: State) -> Path | None:
        """A copy whose checksum still fits."""
        if "copy" not in state.source:
            return None
        path = self._archive.file(state.source["copy"])
        with suppress(OSError):
            if checksum(path) == state.source.get("sum"):
                return path
        return None

    def read(self, state: State) -> bytes | None:
        """What a file in that state held; None if that is not known any more, or too large."""
        names = self._names(state)
        kept = [Path(self._kept[name]) for name in names if name in self._kept]
        kept += filter(None, map(self._copy, self._sources_of(names)))
        kept += [self._archive.known(name) for name in names]
        for path in kept:
            with suppress(OSError):
                size = path.stat().st_size
                if size <= READ_WHOLE and size == state.identity[2]:
                    return path.read_bytes()
        blobs = (self._blob(source) for source in self._sources_of(names))
        return next((data for (data,) in filter(None, blobs)), None)

    def _sources_of(self, names: Iterable[Identity]) -> list[State]:
        return [*filter(None, map(self._sources.get, names))]

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
