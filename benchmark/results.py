"""Records of a run, JSON lines that outlive an interruption; how far it is, and on what machine."""

import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsagent_tools

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


class Progress:
    """`step()` after each piece of work; redrawn twice a second, and only for people."""

    def __init__(self, what: str, whole: int) -> None:
        self.what, self.whole, self.done = what, whole, 0
        self.begun = self.drawn = time.monotonic()

    def step(self) -> None:
        self.done += 1
        now = time.monotonic()
        if now - self.drawn > 0.5 or self.done == self.whole:
            self.drawn = now
            left = (now - self.begun) / self.done * (self.whole - self.done)
            self.say(f"{self.what}: {self.done:,} of {self.whole:,}, {left:,.0f} s left")

    def say(self, text: str) -> None:
        if sys.stderr.isatty():
            end = "\n" if self.done == self.whole else ""
            print(f"\r\033[K{text}", end=end, file=sys.stderr, flush=True)


def machine() -> str:
    """fsagent-tools' version, Python, processor and number of cores."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(": ")[2] if names else model
    parts = (fsagent_tools.__version__, platform.python_version(), os.cpu_count())
    return "fsagent-tools {}, Python {}, {} cores".format(*parts) + f" ({model})."
