"""What is in an archive or a database: names and sizes, tables and their rows."""

import io
from collections.abc import Iterable, Iterator

from fsagent_tools.errors import ReadFailed
from fsagent_tools.names import display

_MOST = 10_000  # members that are named
_UNPACKED = 128 << 20  # bytes of a compressed tar that are gone through
_STEPS = 20_000  # thousands of steps of the database, in all
_LOGGED, _ROLLBACK = b"\2\2", b"\1\1"  # its log stands in a file of its own, or there is none


def listing_of(data: bytes, kind: str) -> list[str]:
    """The lines of a listing. kind: "zip", "tar" or "sqlite". Raises `ReadFailed`."""
    makers = {"zip": _zipped, "tar": _archived, "sqlite": _tables}
    try:
        return list(makers[kind](data))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  whatever damage makes of these readers
        raise ReadFailed(f"It cannot be listed: {error}.") from None


def _zipped(data: bytes) -> Iterator[str]:
    from zipfile import ZipFile

    with ZipFile(io.BytesIO(data)) as archive:
        yield from _rows([(m.file_size, m.filename) for m in archive.infolist()])


def _archived(data: bytes) -> Iterator[str]:
    import tarfile

    rows, unpacked = list[tuple[int, str]](), 0
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        for member in archive:
            rows.append((member.size, f"{member.name}{'/' * member.isdir()}"))
            unpacked += member.size
            if unpacked > _UNPACKED or len(rows) > _MOST:
                break  # the next one lies behind all that
    yield from _rows(rows, ended=unpacked <= _UNPACKED)


def _rows(members: Iterable[tuple[int, str]], *, ended: bool = True) -> Iterator[str]:
    for number, (size, name) in enumerate(members):
        if number == _MOST:
            ended = False
            break
        yield f"{size:>12,}  {display(name)}"
    if not ended:
        yield "(there may be more)"


def _tables(data: bytes) -> Iterator[str]:
    import sqlite3

    def count(name: str) -> str:
        quoted = name.replace('"', '""')
        try:
            (rows,) = base.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()
        except sqlite3.Error:
            return "  -- rows not counted"
        return f"  -- {rows:,} rows"

    base, left = sqlite3.connect(":memory:"), iter(range(_STEPS))
    base.deserialize(data[:18] + _ROLLBACK + data[20:])
    base.execute("PRAGMA trusted_schema = OFF")
    base.set_progress_handler(lambda: next(left, None) is None, 1000)
    for kind, name, sql in base.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE sql NOT NULL"
    ).fetchmany(_MOST):
        ours = kind == "table" and not sql.upper().startswith("CREATE VIRTUAL")
        for line in f"{sql};{count(name) if ours else ''}".splitlines():
            yield "\t".join(map(display, line.split("\t")))
    if data[18:20] == _LOGGED:
        yield "(changes that are still in its log, the file -wal beside it, are not listed)"
