"""Where the content of an earlier state is now: a kept file, a copy, an object of git."""

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from fsagent_tools.history.archive import Archive
from fsagent_tools.history.git.repository import Repository
from fsagent_tools.history.live import Disk
from fsagent_tools.history.prune import KEPT
from fsagent_tools.history.states import Identity, JournalLine, State, patched
from fsagent_tools.history.timeline import Transition

READ_WHOLE = 64 << 20  # bytes of an old file that is read as a whole


class Contents:
    """Old contents by the state they belong to. Made for one look at the history."""

    def __init__(self, archive: Archive, lines: Iterable[JournalLine], disk: Disk) -> None:
        self._archive, self.disk = archive, disk
        self._names: dict[Identity, list[Identity]] = {}  # all that one content was called
        self._blobs: dict[Identity, str] = {}
        for line in lines:
            if was := line.get("was"):
                names = self.names((was[0], was[1], was[2]))
                names.append(State.from_json(line["new"]).identity)
                self._names |= dict.fromkeys(names, names)
            if (old := line.get("old")) and isinstance(old[-1], dict) and "git" in old[-1]:
                self._blobs.setdefault(State.from_json(old).identity, old[-1]["git"])

    def names(self, identity: Identity) -> list[Identity]:
        """What the content was called, the first name first."""
        return self._names.get(identity) or [identity]

    def first(self, identity: Identity) -> Identity:
        return self.names(identity)[0]

    def same(self, one: State, other: State) -> bool:
        """Whether two states are of the same content, mode and kind."""
        if one.kind != "file" or other.kind != "file":
            return (one.kind, one.mode, one.target) == (other.kind, other.mode, other.target)
        return one.mode == other.mode and self.same_content(one, other)

    def same_content(self, one: State, other: State) -> bool:
        return self.first(one.identity) == self.first(other.identity)

    def kept_file(self, state: State) -> str:
        """The path of a file with what one in that state held, to be renamed; "" if it is gone."""
        kept = (self._archive.find(name, KEPT) for name in self.names(state.identity))
        if not (path := next(filter(None, kept), "")) and (data := self.read(state)) is not None:
            return self._archive.add(self.first(state.identity), data)
        return path

    def has_room(self, state: State) -> bool:
        """Whether a file in that state may be kept."""
        return self._archive.has_room(state.identity[2])

    def holds(self, state: State) -> bool:
        """Whether `kept_file` would find one."""
        return bool(self._found(state)) or self._blob(state) is not None

    def _found(self, state: State) -> str:
        return next(filter(None, map(self._archive.find, self.names(state.identity))), "")

    @cached_property
    def _repository(self) -> Repository | None:
        return Repository.of(Path(os.path.realpath(self._archive.root)))

    def _blob(self, state: State) -> bytes | None:
        """From git's objects, as long as it has them."""
        shas = filter(None, map(self._blobs.get, self.names(state.identity)))
        if (sha := next(shas, None)) is None or self._repository is None:
            return None
        data = self._repository.blob(sha)
        return None if data is None or len(data) != state.identity[2] else data

    def read(self, state: State) -> bytes | None:
        """What a file in that state held; None if that is not known any more, or too large."""
        if path := self._found(state):
            with suppress(OSError):
                return Path(path).read_bytes() if state.identity[2] <= READ_WHOLE else None
        return self._blob(state)

    def written(self, change: Transition) -> bytes | None:
        """What the file held after the change, had from what it held before; None if unknown."""
        if (kept := self.read(change.after)) is not None:
            return kept
        delta, before = change.line.get("delta"), self.read(change.before)
        with suppress(ValueError, TypeError):
            if delta and before is not None:
                return patched(before, delta)
        return None

    def at(self, path: str, state: State) -> bytes | None:
        """What a file in that state held, also where `path` still holds it; None if unknown."""
        if (known := self.read(state)) is not None:
            return known
        now = self.disk.state(path)
        unchanged = now.kind == "file" and self.same_content(now, state)
        return self.disk.read(path) if unchanged else None
