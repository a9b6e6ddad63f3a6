"""Values in a `BaseStore` of LangGraph, which has no conditional writes, by claims."""

import os
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from typing import Any

from langgraph.store.base import BaseStore

from fsagent_tools.types import StateEntry, StateStore

LOOKS, BETWEEN = 100, 0.03  # at the claim of another that does not go; seconds between two looks
_PAGE = 1000  # items of one search
_NONE = (0, "")  # the version of a value that is not there


class StoreState(StateStore):
    """A `StateStore` in a store of LangGraph, such as `PostgresStore` or `SqliteStore`.

    Each value is an item in a namespace of its own. Who wants to write puts a claim beside it, then
    looks: it writes if there is no other claim and the value is still the one it knows, else takes
    the claim back. Of two, at least one sees the other's claim, so never both write. It waits for
    no clock; a claim whose process was killed keeps its value from being changed any more, and a
    call of that name from being run. What is written has to be seen by every later search, as in
    a database; a cache or a replica in between breaks the promise.

    Args:
        store: Where. An asynchronous one is used from threads beside its loop.
        namespace: What all namespaces begin with.
    """

    def __init__(self, store: BaseStore, namespace: tuple[str, ...] = ("fsagent",)) -> None:
        self._store, self._space = store, namespace
        self._forever: dict[str, Any] = {"ttl": None} if store.supports_ttl else {}

    def __repr__(self) -> str:
        return f"StoreState({type(self._store).__name__})"

    def get(self, key: str) -> StateEntry | None:
        held = max(filter(_written, self._items(key)), key=_tag, default=None)
        return held and StateEntry(b64decode(held.value["data"]), _tag(held))

    def create(self, key: str, data: bytes) -> Any:
        return self._write(key, data, _NONE)

    def replace(self, key: str, data: bytes, tag: Any) -> Any:
        return self._write(key, data, tag)

    def delete(self, key: str) -> None:
        for item in self._items(key):
            self._store.delete(item.namespace, item.key)

    def list(self, prefix: str) -> Iterator[tuple[str, float]]:
        found = dict[str, float]()
        for item in self._search((*self._space, *prefix.split("/")[:-1])):
            key = "/".join(item.namespace[len(self._space) :])
            if key.startswith(prefix):
                found[key] = max(found.get(key, 0.0), item.updated_at.timestamp())
        yield from found.items()

    def _write(self, key: str, data: bytes, known: tuple[int, str]) -> Any:
        """known: the version that is to be there."""
        space, own, looks = self._of(key), os.urandom(8).hex(), 0
        while looks < LOOKS:
            self._put(space, own, {})
            items = self._items(key)
            others = [item for item in items if item.key != own]
            claims = [item.key for item in others if not _written(item)]
            if max(map(_tag, filter(_written, others)), default=_NONE) != known:
                break
            if not claims and len(others) < len(items):
                version = known[0] + 1
                self._put(space, own, {"version": version, "data": b64encode(data).decode()})
                for old in others:
                    self._store.delete(space, old.key)
                return version, own
            if min(claims, default=own) < own:  # the least of all stays, so one of them gets on
                self._store.delete(space, own)
            looks += 1
            time.sleep(BETWEEN)
        self._store.delete(space, own)
        return None

    def _put(self, space: tuple[str, ...], name: str, value: dict[str, Any]) -> None:
        self._store.put(space, name, value, index=False, **self._forever)

    def _of(self, key: str) -> tuple[str, ...]:
        return (*self._space, *key.split("/"))

    def _items(self, key: str) -> Sequence[Any]:
        return [item for item in self._search(self._of(key)) if item.namespace == self._of(key)]

    def _search(self, space: tuple[str, ...]) -> Iterator[Any]:
        found, at = list[Any](), 0
        while page := self._store.search(space, limit=_PAGE, offset=at, refresh_ttl=False):
            found, at = [*found, *page], at + _PAGE
            if len(page) < _PAGE:
                break
        for item in found:
            item.namespace = tuple(item.namespace)
            yield item


def _written(item: Any) -> bool:
    """Whether it is no claim."""
    return "version" in item.value


def _tag(item: Any) -> tuple[int, str]:
    return int(item.value["version"]), item.key
