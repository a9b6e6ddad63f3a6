"""What is old or too much of what is kept goes, the oldest first."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

JOURNAL, KEPT, KNOWN = ".journal", "kept", "known"
KEPT_DAYS = 30
MOST_OF_ALL = 2 << 30  # bytes of the old files of all roots together
UNDER_WAY = 60.0  # seconds that a change may take
_DAY = 24 * 3600
_STAMP = "pruned"


def prune(histories: Iterable[str], most: int) -> None:
    """Keep to the limits. What has its name in a workspace, too, is of a change under way.

    Or who made it was killed in between; then its further name goes after a while. The newest
    journal of each history is being written, and stays.
    """
    now, total = time.time(), 0
    every = [[*_entries(history)] for history in histories]
    found = [one for some in every for one in some]
    written = {
        max((path for _, path in some if path.endswith(JOURNAL)), default="") for some in every
    }
    for status, path in sorted(found, key=lambda one: -one[0].st_ctime):
        age = now - status.st_ctime
        further = status.st_nlink > 1 and not path.endswith(".ids")
        size = 0 if further else status.st_blocks * 512
        over = total + size > most and path not in written
        if age > KEPT_DAYS * _DAY or over or (further and age > UNDER_WAY):
            with suppress(OSError):
                os.unlink(path)
        else:
            total += size


def prune_all(history: str) -> None:
    """Once a day all histories of this user."""
    home = Path(history).parent.parent
    with suppress(OSError):
        with suppress(FileNotFoundError):
            if time.time() - (home / _STAMP).stat().st_mtime < _DAY:
                return
        (home / _STAMP).touch()
        prune([f"{root}/history" for root in home.iterdir()], MOST_OF_ALL)


def _entries(history: str) -> Iterator[tuple[os.stat_result, str]]:
    """Journals and kept files."""
    for folder in (history, f"{history}/{KEPT}"):
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if entry.is_file(follow_symlinks=False):
                    yield status, entry.path
