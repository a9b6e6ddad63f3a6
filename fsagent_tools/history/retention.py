"""How long and how much of the past is kept, over all roots."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress

from fsagent_tools.files.atomic import remove_tree
from fsagent_tools.files.resolve import AT_CWD, opened

NAME, ROOT = "history.sqlite", "root"  # the store of a root, and what says whose it is
MAX_BYTES, MAX_DAYS = 2 << 30, 30  # of all roots
_STAMP, _EVERY = "history.pruned", 600  # seconds between two looks by those who begin
_GRACE = 3600  # seconds that a content stays which nothing refers to: a command may still run
_UNUSED = """
DELETE FROM content WHERE used < ? AND hash NOT IN (
    SELECT hash FROM known
    UNION SELECT substr(before, -40) FROM change WHERE before IS NOT NULL
    UNION SELECT substr(after, -40) FROM change WHERE after IS NOT NULL
    UNION SELECT line_ids FROM change WHERE line_ids IS NOT NULL)
"""


def prune(own: str, *, at_once: bool = False) -> bool:
    """Drop the histories of other roots that are too old or too much, of those that are gone first.

    Never fails. own: the folder of the root in use. at_once: although somebody just did, of which
    else nothing comes. Returns whether it was done.
    """
    home = os.path.dirname(os.path.dirname(own))
    stamp = f"{home}/{_STAMP}"
    with suppress(OSError):
        if not at_once and 0 <= time.time() - os.stat(stamp).st_mtime < _EVERY:
            return False
    with suppress(OSError):
        with opened(AT_CWD, stamp, os.O_WRONLY | os.O_CREAT) as fd:
            os.utime(fd)
        places = sorted(_places(home))
        total = sum(size for _, _, size, _ in places)
        for _, used, size, folder in places:
            if folder == own:
                continue
            is_old = used < time.time() - MAX_DAYS * 86_400
            if is_old or total > MAX_BYTES:
                with suppress(OSError), opened(AT_CWD, os.path.dirname(folder)) as fd:
                    remove_tree(fd, os.path.basename(folder))
                    total -= size
    return True


def _places(home: str) -> Iterator[tuple[bool, float, int, str]]:
    """Of each root: whether it is there, when its history was used, its bytes, and its folder."""
    for entry in os.scandir(home):
        folder, size, used = f"{entry.path}/history", 0, 0.0
        with suppress(OSError):
            for file in os.scandir(folder):
                status = file.stat(follow_symlinks=False)
                size, used = size + status.st_size, max(used, status.st_mtime)
            stays = False
            with suppress(OSError), opened(AT_CWD, f"{folder}/{ROOT}", os.O_RDONLY) as fd:
                stays = os.path.isdir(os.read(fd, 1 << 16))
            yield stays, used, size, folder


def shrink(database: sqlite3.Connection, most: int = MAX_BYTES) -> None:
    """Drop steps that are too old, and the oldest ones until there are `most` bytes at most.

    If that is not enough, what is known of the tree goes, for the next command to read it again.
    """
    now = time.time()
    database.execute("BEGIN IMMEDIATE")
    try:
        _drop_steps(database, "at < ?", int(1e9 * (now - MAX_DAYS * 86_400)))
        while _size(database, int(now) - _GRACE) > most:
            ((steps,),) = database.execute("SELECT count(*) FROM step")
            if not steps:
                database.execute("DELETE FROM known")
                database.execute("UPDATE fact SET value = value + 1 WHERE name = 'generation'")
                _size(database, int(now) - _GRACE)
                break
            oldest = "number IN (SELECT number FROM step ORDER BY number LIMIT ?)"
            _drop_steps(database, oldest, max(1, steps // 4))
        database.execute("COMMIT")
    finally:
        if database.in_transaction:
            database.execute("ROLLBACK")
    database.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")


def _drop_steps(database: sqlite3.Connection, where: str, value: int) -> None:
    chosen = f"SELECT number FROM step WHERE {where}"
    database.execute(f"DELETE FROM change WHERE step IN ({chosen})", (value,))
    database.execute(f"DELETE FROM step WHERE {where}", (value,))


def _size(database: sqlite3.Connection, unused_since: int) -> int:
    """Bytes, without contents that nothing refers to."""
    database.execute(_UNUSED, (unused_since,))
    pages, free, size = (
        database.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
