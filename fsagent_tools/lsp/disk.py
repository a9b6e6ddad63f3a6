"""Notices which files of a project changed on disk since the last look."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

MAX_LISTED = 100_000  # entries of directories in one look
_SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages", "target"))
_CREATED, _CHANGED, _DELETED = 1, 2, 3
_State = tuple[int, ...]


class DiskWatch:
    """Files with one of `suffixes` in the workspace `root`, and settings, called as one of `names`,
    in `folder` and the directories above it. Sizes and times tell; partial: there are too many.
    """

    def __init__(
        self, folder: Path, root: Path, suffixes: Sequence[str], names: Sequence[str]
    ) -> None:
        self._root, self._suffixes, self.partial = str(root), tuple(suffixes), False
        above = [each for each in (folder, *folder.parents) if each.is_relative_to(root)]
        self._settings = [str(each / name) for each in above or [folder] for name in names]
        self._seen, self._set = self._look(), self._look_at_settings()

    def changes(self) -> dict[str, int]:
        """Path -> kind of change, as the protocol counts them."""
        before, now = self._seen, self._look()
        self._seen = now
        new = {path: _CREATED for path in now if path not in before}
        gone = {path: _DELETED for path in before if path not in now}
        changed = {
            path: _CHANGED for path, state in now.items() if before.get(path, state) != state
        }
        return {**new, **gone, **changed}

    def settings_changed(self) -> bool:
        """What a server reads once, when it starts, is no longer the same."""
        before, self._set = self._set, self._look_at_settings()
        return before != self._set

    def _look_at_settings(self) -> dict[str, _State]:
        found = dict[str, _State]()
        for path in self._settings:
            with suppress(OSError):
                found[path] = _state(Path(path).stat())
        return found

    def _look(self) -> dict[str, _State]:
        found, ahead, listed = dict[str, _State](), [self._root], 0
        while self._suffixes and ahead and listed < MAX_LISTED:
            with suppress(OSError), os.scandir(ahead.pop()) as entries:
                for entry in entries:
                    listed += 1
                    if entry.is_dir(follow_symlinks=False):
                        if not (entry.name.startswith(".") or entry.name in _SKIPPED):
                            found[entry.path] = ()  # ty finds no module in one that is not told of
                            ahead.append(entry.path)
                    elif entry.name.endswith(self._suffixes):
                        with suppress(OSError):
                            found[entry.path] = _state(entry.stat())
        self.partial = bool(ahead)
        return found


def _state(status: os.stat_result) -> _State:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size
