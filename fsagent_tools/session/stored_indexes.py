"""Line indexes in a store that several hosts share."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fsagent_tools.runtime.once import once
from fsagent_tools.session.index_store import (
    DAY,
    UNUSED_DAYS,
    WITH_WORDS,
    IndexStore,
    escaped_path,
    file_name,
)
from fsagent_tools.state.parts import StatePart, part_of
from fsagent_tools.state.port import StateStore


class StoredIndexes(IndexStore):
    """`IndexStore` by the verbs of a store; the last one to save an index wins."""

    def __init__(self, root: Path, store: StateStore) -> None:
        super().__init__(root, None, repr(store), memory_only=True)
        self._shared, self._real = store, os.path.realpath(root)

    @once
    def _part(self) -> StatePart:
        return part_of(self._shared, self._real, "line_index")

    def _load(self, relative: str, words: bool) -> Mapping[str, Any] | None:
        with suppress(OSError, ValueError, RecursionError):
            held = self._part.get(_key(relative, words))
            data = json.loads(held.data) if held else None
            if isinstance(data, dict) and data.get("file_path") == escaped_path(relative):
                return data
        return None

    def save(self, relative: str, data: Mapping[str, Any]) -> None:
        text = json.dumps({**data, "file_path": escaped_path(relative)}, separators=(",", ":"))
        key = _key(relative, data.get("words", False))
        with suppress(OSError):
            if self._part.put(key, text.encode()) is None:
                self._part.delete(key)  # who was killed while it wrote may have left it closed
            _ = self._swept

    def forget(self, relative: str) -> None:
        for words in WITH_WORDS:
            with suppress(OSError):
                self._part.delete(_key(relative, words))

    def version(self, relative: str, *, words: bool) -> object:
        with suppress(OSError):
            held = self._part.get(_key(relative, words))
            return held and held.tag
        return None

    @once
    def _swept(self) -> bool:
        """What nobody has saved for long is gone, once a session."""
        oldest = time.time() - UNUSED_DAYS * DAY
        for key, written in [*self._part.list("")]:
            if written < oldest:
                self._part.delete(key)
        return True


def indexes_of(
    root: Path, cache_dir: str | Path | None, shared: str | StateStore, *, in_memory: bool
) -> IndexStore:
    """Of a workspace. shared: of `shared_state`. in_memory: of one that has no place of its own."""
    if isinstance(shared, StateStore):
        return StoredIndexes(root, shared)
    alone = in_memory and cache_dir is None and not shared
    return IndexStore(root, cache_dir, shared, memory_only=alone)


def _key(relative: str, words: bool) -> str:
    return file_name(relative, words).removesuffix(".json").replace(".", "-")
