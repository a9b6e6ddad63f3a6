"""Where a text search looks: an opened place of this machine, or a copy of files elsewhere."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Literal, Self

from fsagent_tools.call import current
from fsagent_tools.files.guarded_file import Directory, ReadableFile
from fsagent_tools.search.contents import contents
from fsagent_tools.search.query import Query
from fsagent_tools.search.start import Start

WhereKind = Literal["directory", "file", "spool"]
UNREADABLE = -1  # in place of a size


@dataclass(frozen=True)
class Where:
    """The opened directory to search beneath, or the opened file to search; never a path alone.

    kind: "spool" is a file that `spool` made.
    """

    fd: int
    absolute: str
    kind: WhereKind = "directory"

    @property
    def cwd(self) -> str | None:
        """The verified directory itself: a path could lead elsewhere by now."""
        if self.kind != "directory":
            return None
        proc = f"/proc/self/fd/{self.fd}"
        return proc if os.path.exists(proc) else self.absolute

    @classmethod
    @contextmanager
    def of(cls, opened: Directory | ReadableFile, query: Query, start: Start) -> "Iterator[Self]":
        """What is local as it is, anything else as a temporary file of its contents."""
        absolute = opened.place.absolute
        if opened.fd >= 0:
            yield cls(opened.fd, absolute, "directory" if isinstance(opened, Directory) else "file")
        else:
            if isinstance(opened, Directory):
                found = contents(query, opened, start)
            else:
                found = iter([("", opened.read())])
            with spool(found) as spooled:
                yield cls(spooled.fileno(), absolute, "spool")


def spool(found: Iterable[tuple[str, bytes | None]]) -> IO[bytes]:
    """An open temporary file without a name that holds all of `contents`, for `unspool`.

    A single file has the path "".
    """
    import tempfile  # slow to import, and only for files that are elsewhere

    spooled = tempfile.TemporaryFile()  # noqa: SIM115  # the caller closes it
    try:
        for path, data in found:
            current.get().check()
            name = path.encode("utf-8", "surrogateescape")
            spooled.write(b"%d %d\n" % (len(name), UNREADABLE if data is None else len(data)))
            spooled.write(name + (data or b""))
        spooled.seek(0)
    except BaseException:
        spooled.close()
        raise
    return spooled


def unspool(spooled: IO[bytes]) -> Iterator[tuple[str, bytes | None]]:
    """What `spool` wrote, as `contents` gives it."""
    while header := spooled.readline():
        length, size = map(int, header.split())
        path = spooled.read(length).decode("utf-8", "surrogateescape")
        yield path, None if size == UNREADABLE else spooled.read(size)
