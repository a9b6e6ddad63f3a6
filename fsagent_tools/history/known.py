"""Copies of files that commands may change, as the files are now; within a budget."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress

from fsagent_tools.effects import Effect
from fsagent_tools.errors import ToolError
from fsagent_tools.history.archive import Archive
from fsagent_tools.history.copying import copy_file, identity_of, is_whole, kept_name
from fsagent_tools.history.descent import Descent
from fsagent_tools.history.prune import KNOWN
from fsagent_tools.history.states import Identity
from fsagent_tools.policy import Policy

LARGEST_FILE = 10 << 20  # bytes of one file
MOST_KNOWN = 500 << 20  # bytes in all
_STALE = 3600.0  # seconds after which a copy of what is there no more may go


class KnownCopies:
    """One copy for each content, called as a kept file; shared by the sessions on a root."""

    def __init__(self, archive: Archive, policy: Policy) -> None:
        """Raises `OSError` where none can be made."""
        self._archive, self._policy, self._sizes = archive, policy, dict[str, int]()
        self.folder = f"{archive.folder}/{KNOWN}"
        os.makedirs(self.folder, 0o700, exist_ok=True)
        with os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(ValueError, OSError):
                    if is_whole(entry.stat(), identity := identity_of(entry.name)):
                        self._sizes[entry.name] = identity[2]
        self._total = sum(self._sizes.values())

    def keep(self, path: str, identity: Identity, down: Descent) -> None:
        """Copy the file unless that is done, it is too large, or the budget is used up.

        down: goes down from the root of the workspace.
        """
        name, size = kept_name(identity), identity[2]
        if name in self._sizes or size > LARGEST_FILE or self._total + size > MOST_KNOWN:
            return
        with suppress(OSError, ToolError):
            self._policy.check_path(path, os.path.join(down.root, path), Effect.READ)
            self._policy.check_size(path, size)
            source = down.open(path)
            try:
                copy_file(source, f"{self.folder}/{name}", identity)
            finally:
                os.close(source)
            self._sizes[name] = size
            self._total += size

    def take(self, identity: Identity) -> bool:
        """Make the copy one of the kept files; False if there is none."""
        path = f"{self.folder}/{kept_name(identity)}"
        with suppress(OSError):
            if is_whole(os.lstat(path), identity):
                self._archive.take(path, identity)
                self._forget(identity)
                return True
        return False

    def drop(self, identity: Identity) -> None:
        """What the copy is of is there no more."""
        with suppress(OSError):
            os.unlink(f"{self.folder}/{kept_name(identity)}")
        self._forget(identity)

    def _forget(self, identity: Identity) -> None:
        self._total -= self._sizes.pop(kept_name(identity), 0)

    def sweep(self, present: Iterable[Identity]) -> None:
        """Drop copies of what is there no more, left by sessions that ended; first of all."""
        needed = {*map(kept_name, present)}
        for name in self._sizes.keys() - needed:
            with suppress(OSError):
                path = f"{self.folder}/{name}"
                if time.time() - os.lstat(path).st_ctime > _STALE:
                    os.unlink(path)
                    self._total -= self._sizes.pop(name)
