"""A place for small values that several hosts share, each changed by one of them at a time."""

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

from fsagent_tools.call import current
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.runtime.checks import check_types
from fsagent_tools.runtime.state import shared_home

LEASE = 30.0  # seconds of waiting for a sign of life of who holds one
LOOK = 0.25  # seconds between two looks
_FREE = b"free"


class StateEntry(NamedTuple):
    """A value. tag: its version; another one whenever the value differs."""

    data: bytes
    tag: Any


class StateStore(ABC):
    """Values by key, of `Workspace(state=...)`, in six verbs.

    Keys are names of letters, digits, "-" and "_", separated by "/". What a verb did, all processes
    see from its return on. Raises `OSError` where the store cannot be reached; whether the value
    was written is then unknown. Thread-safe. `lease` has an implementation; override it if the
    store can do better. `Workspace(state=...)` tries the conditions once, and refuses a store that
    keeps none.
    """

    @abstractmethod
    def get(self, key: str) -> StateEntry | None:
        """The value, None if there is none."""

    @abstractmethod
    def create(self, key: str, data: bytes) -> Any:
        """Write a value that is not there yet; its tag, None if there is one. Of all who try at
        once, one succeeds. data: not empty.
        """

    @abstractmethod
    def replace(self, key: str, data: bytes, tag: Any) -> Any:
        """Write over the version `tag`; the new tag, None if that is not the value any more."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Remove the value, if there is one."""

    @abstractmethod
    def list(self, prefix: str) -> Iterable[tuple[str, float]]:
        """Keys that begin so, and when each was written last, in seconds since 1970."""

    @contextmanager
    def lease(self, key: str, seconds: float = LEASE) -> Iterator[None]:
        """Waits until nobody else is in such a block.

        A holder that gives no sign of life for `seconds`, by the looks of who waits, is passed
        over; so what it writes later has to be refused by its tag. Raises what the running call's
        `check` raises.
        """
        name, over = f"{key}-lease", Event()
        tags = [self._taken(name, round(seconds / LOOK))]

        def renew() -> None:
            while tags[-1] is not None and not over.wait(seconds / 4):
                with suppress(OSError):
                    tags.append(self.replace(name, _sign(), tags[-1]))

        renewing = Thread(target=renew, daemon=True)
        renewing.start()
        try:
            yield
        finally:
            over.set()
            renewing.join()
            if tags[-1] is not None:
                with suppress(OSError):
                    self.replace(name, _FREE, tags[-1])

    def _taken(self, name: str, most: int) -> Any:
        """The tag of a lease that is ours now. most: looks at one and the same sign."""
        seen, looks = None, 0
        while True:
            held = self.get(name)
            if held is None:
                tag = self.create(name, _sign())
            else:
                looks = looks + 1 if held.tag == seen else 0
                seen, gone = held.tag, held.data == _FREE or looks > most
                tag = self.replace(name, _sign(), held.tag) if gone else None
            if tag is not None:
                return tag
            current.get().check()
            time.sleep(LOOK)

    def put(self, key: str, data: bytes) -> Any:
        """Write a value, whatever is there; its tag, None where others write it all the time."""
        for _ in range(20):
            held = self.get(key)
            tag = self.create(key, data) if held is None else self.replace(key, data, held.tag)
            if tag is not None:
                return tag
        return None

    def check(self) -> None:
        """Raises `ConfigInvalid` for a store whose conditions are none, `OSError`."""
        key = f"probe-{os.urandom(8).hex()}"
        try:
            first = self.create(key, b"one")
            again, second = self.create(key, b"two"), self.replace(key, b"two", first)
            stale, held = self.replace(key, b"three", first), self.get(key)
        finally:
            self.delete(key)
        wins = first is not None and again is None and second is not None and stale is None
        if not wins or held is None or held.data != b"two":
            raise ConfigInvalid(
                f"state: {self!r} writes though its condition is not met.",
                hint="A call could run twice. Use a store with conditional writes, or a directory.",
            )


def shared_state(
    given: str | Path | StateStore | None, root: str | Path | None, cache_dir: object
) -> str | StateStore:
    """Where `Workspace(state=...)` keeps what hosts share: a directory, "" for the user's own, or a
    store. Raises `ConfigInvalid`.
    """
    check_types({"state": given}, state=str | PathLike | StateStore | None)
    if given is not None and (root is None or cache_dir is not None):
        what = "a workspace of files elsewhere" if root is None else "line indexes in cache_dir"
        raise ConfigInvalid(f"state is not for {what}.", hint="Leave out one of the two.")
    return given if isinstance(given, StateStore) else shared_home(given, root)


def _sign() -> bytes:
    """Of life: no two are the same."""
    return os.urandom(8).hex().encode()
