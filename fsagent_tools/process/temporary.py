"""Temporary files and directories that commands and servers write."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from fsagent_tools.errors import CommandFailed


class PrivateDirectory:
    """Of mode 0700, by its real path; it goes with `close`, with the object, or with the process
    that made it. Raises `CommandFailed`.
    """

    def __init__(self, prefix: str) -> None:
        with needing_temporary():
            self.path = os.path.realpath(tempfile.mkdtemp(prefix=prefix))
        self.close = weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: str, maker: int) -> None:
    if os.getpid() == maker:  # and not one that was forked from it
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def needing_temporary() -> Iterator[None]:
    """Around what makes temporary files for a command. Raises `CommandFailed` if it cannot."""
    try:
        yield
    except OSError as error:
        raise CommandFailed(
            f"No temporary file can be made here: {error.strerror}. Nothing was run.",
            hint="The host has to make room, or set TMPDIR to a directory that can be written.",
        ) from None
