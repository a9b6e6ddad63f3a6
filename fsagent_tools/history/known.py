"""Copies of files that commands may change, as the files are now; within a budget."""

import os
from collections.abc import Iterable
from contextlib import suppress

from fsagent_tools.effects import Effect
from fsagent_tools.errors import ToolError
from fsagent_tools.history.archive import Archive
from fsagent_tools.history.copying import copy_file, is_whole
from fsagent_tools.history.descent import Descent
from fsagent_tools.history.prune import KEPT, KNOWN
from fsagent_tools.history.states import Identity, identity_of, kept_name
from fsagent_tools.policy import Policy

LARGEST_FILE = 10 << 20  # bytes of one file
MOST_KNOWN = 500 << 20  # bytes in all


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
        budget = MOST_KNOWN - self._total
        if size > min(LARGEST_FILE, budget) or self._archive.find(identity, KNOWN):
            return
        with suppress(OSError, ToolError):
            self._policy.check_path(path, os.path.join(down.root, path), Effect.READ)
            self._policy.check_size(path, size)
            with down.opened(path) as source:
                copy_file(source, f"{self.folder}/{name}", identity)
            self._sizes[name] = size
            self._total += size

    def take(self, identity: Identity) -> bool:
        """Make the copy of what is there no more one of the kept files.

        Whoever sees first that it is gone does so, for all sessions. False if there is none.
        """
        path = f"{self.folder}/{kept_name(identity)}"
        with suppress(OSError):
            if is_whole(os.lstat(path), identity):
                self._archive.take(path, identity)
        self._total -= self._sizes.pop(kept_name(identity), 0)
        return bool(self._archive.find(identity, KEPT))

    def sweep(self, present: Iterable[Identity]) -> None:
        """Take what sessions that ended have left; first of all."""
        for name in self._sizes.keys() - {*map(kept_name, present)}:
            self.take(identity_of(name))
