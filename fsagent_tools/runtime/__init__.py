"""One process of Python: what it is made of, and what processes forked from it drop."""

import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

_owners = WeakSet[Any]()


def owned(owner: Any) -> None:
    """In forked processes its `disown` forgets what this one runs; locks may be held there."""
    _owners.add(owner)


def _disown() -> None:
    for owner in [*_owners]:
        with suppress(Exception):  # what one of them cannot drop, the others do not share for that
            owner.disown()


def _own_python() -> Iterator[str]:
    yield str(Path(os.__file__).parent)
    if sys.prefix != sys.base_prefix:
        yield from (sys.prefix, os.path.realpath(sys.executable))
    else:
        yield from (*site.getsitepackages(), *map(sysconfig.get_path, ("platstdlib", "scripts")))
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()


# What this very process is made of, and would run at its next start.
OWN_PYTHON = tuple(dict.fromkeys(map(os.path.realpath, _own_python())))
os.register_at_fork(after_in_child=_disown)
