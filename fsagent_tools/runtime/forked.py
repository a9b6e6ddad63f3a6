"""What belongs to one process: one that is forked from it drops it, and ends nothing."""

import os
from contextlib import suppress
from typing import Protocol
from weakref import WeakSet

__all__ = ["Owner", "owned"]


class Owner(Protocol):
    def disown(self) -> None:
        """Called in a forked process: forget what the other one runs; locks may be held."""


def owned(owner: Owner) -> None:
    """From now on `owner` is asked to `disown` in every process that is forked."""
    _owners.add(owner)


def _disown() -> None:
    for owner in [*_owners]:
        with suppress(Exception):  # what one of them cannot drop, the others do not share for that
            owner.disown()


_owners = WeakSet[Owner]()
os.register_at_fork(after_in_child=_disown)
