"""What of a shared store belongs to one root."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakSet

from fsagent_tools.errors import NotConfigured
from fsagent_tools.runtime.state import FORMATS, check_format, root_name
from fsagent_tools.state.port import LEASE, StateEntry, StateStore

_checked = WeakSet[StateStore]()


class StatePart(StateStore):
    """The values of a store whose keys begin so."""

    def __init__(self, store: StateStore, prefix: str) -> None:
        self._store, self._prefix = store, prefix

    def get(self, key: str) -> StateEntry | None:
        return self._store.get(self._prefix + key)

    def create(self, key: str, data: bytes) -> Any:
        return self._store.create(self._prefix + key, data)

    def replace(self, key: str, data: bytes, tag: Any) -> Any:
        return self._store.replace(self._prefix + key, data, tag)

    def delete(self, key: str) -> None:
        self._store.delete(self._prefix + key)

    def list(self, prefix: str) -> Iterable[tuple[str, float]]:
        for key, written in self._store.list(self._prefix + prefix):
            yield key.removeprefix(self._prefix), written

    @contextmanager
    def lease(self, key: str, seconds: float = LEASE) -> Iterator[None]:
        with self._store.lease(self._prefix + key, seconds):
            yield


def part_of(store: StateStore, root: str, name: str) -> StatePart:
    """What belongs to `root` (links resolved) of that name, as `state_folder` in a directory.

    Raises `NotConfigured` for what a later version wrote, `ConfigInvalid` for a store that may not
    be used, `OSError`.
    """
    if store not in _checked:
        store.check()
        _checked.add(store)
    place = f"{root_name(root)}/{name}"
    if known := FORMATS.get(name):
        mark, found = f"{place}-format", 0
        with suppress(ValueError, AttributeError):
            found = int(store.get(mark).data)  # type: ignore[union-attr]
        check_format(f"What is kept in {store!r}, {place},", found, known, "it")
        if found < known:
            store.put(mark, str(known).encode())
    return StatePart(store, f"{place}/")


@contextmanager
def writable(place: object) -> Iterator[None]:
    """Raises `NotConfigured` for the `OSError` of a place that cannot be written."""
    try:
        yield
    except OSError as error:
        raise NotConfigured(
            f"Records of calls cannot be written to {place} ({error}). Nothing was done.",
            hint="Make it writable, or mount it.",
        ) from error
