"""JSON lines that outlive an interrupted run: what is there already is not measured again."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class Results:
    """A file of records, each named by some of its fields; a line cut off by a crash is dropped."""

    def __init__(self, path: Path, *keys: str) -> None:
        self.path, self.keys = path, keys
        self.records: dict[tuple[Any, ...], Record] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            whole = path.read_bytes()
            kept = whole[: whole.rfind(b"\n") + 1]
            if kept != whole:
                os.truncate(path, len(kept))
            for line in filter(None, kept.decode().split("\n")):  # U+2028 in a name ends no line
                record = json.loads(line)
                self.records[self.key(record)] = record
        self.file = path.open("a", encoding="utf-8")

    def key(self, record: Record) -> tuple[Any, ...]:
        return tuple(record[key] for key in self.keys)

    def __contains__(self, key: tuple[Any, ...]) -> bool:
        return key in self.records

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records.values())

    def add(self, record: Record) -> None:
        """Once for each name: who comes second is not counted."""
        if self.key(record) in self.records:
            return
        self.records[self.key(record)] = record
        self.file.write(json.dumps(record, ensure_ascii=False) + "\n")
        self.file.flush()

    def close(self) -> None:
        self.file.close()
