"""Descriptors of files that are no Python objects."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held(fd: int) -> Iterator[int]:
    """An open descriptor, closed at the end of the block."""
    try:
        yield fd
    finally:
        os.close(fd)
