"""The recorded outcomes: one JSON line per scenario, compressed; differences as readable text.

`python -m tests.outcomes.golden [REVISION]` prints what the file says otherwise than it did there.
"""

import difflib
import fcntl
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PATH = Path(__file__).parents[1] / "golden" / "outcomes.jsonl.xz"
MOST_BYTES = 2_000_000
PRESET = 1  # each part of an update compresses all anew
Records = dict[str, dict[str, Any]]


def read(raw: bytes) -> Records:
    rows = map(json.loads, lzma.decompress(raw).decode().splitlines())
    return {row["id"]: row for row in rows}


def load() -> Records:
    return read(PATH.read_bytes()) if PATH.exists() else {}


def update(new: Records, gone: Iterable[str] = ()) -> None:
    """Other processes of the same test run may write theirs at the same time."""
    folder = os.open(PATH.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        old = load()
        rows = {**old, **new}
        lines = [
            json.dumps(rows[name], ensure_ascii=True, sort_keys=True) + "\n"
            for name in sorted({*rows} - {*gone})
        ]
        if rows != old or {*gone} & {*rows}:
            written = PATH.with_suffix(".new")
            written.write_bytes(lzma.compress("".join(lines).encode(), preset=PRESET))
            written.replace(PATH)
    finally:
        os.close(folder)


def pretty(record: dict[str, Any] | None) -> list[str]:
    """Texts of several lines stand line by line."""
    if record is None:
        return []
    spread = json.dumps(spread_out(record), indent=1, ensure_ascii=False, sort_keys=True)
    return spread.splitlines()


def spread_out(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: spread_out(each) for key, each in value.items()}
    if isinstance(value, list):
        return [spread_out(each) for each in value]
    if isinstance(value, str) and "\n" in value.rstrip("\n"):
        return value.split("\n")
    return value


def difference(old: Records, new: Records) -> str:
    """A unified diff of every record that is not the same; "" where all are."""
    parts = []
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        if before != after:
            names = (f"recorded {name}", f"now {name}")
            lines = difflib.unified_diff(pretty(before), pretty(after), *names, lineterm="", n=4)
            parts.append("\n".join(lines))
    return "\n".join(parts)


def main() -> None:
    revision = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    spec = f"{revision}:./{PATH.name}"
    shown = subprocess.run(["git", "show", spec], cwd=PATH.parent, capture_output=True, check=True)
    sys.stdout.write(f"{difference(read(shown.stdout), load())}\n")


if __name__ == "__main__":
    main()
