"""The form: one JSON object a line, what a file was, what was sent, what came of it.

    {"id": "...", "source": "pi", "path": "a.py", "before": "...", "old": "...", "new": "...",
     "every": false, "ok": true, "after": "...", "lines": null}

before: the text the call met. old, new: what was to be replaced, and by what. every: all places.
lines: [first, last], counted from 1, in place of `old` where the tool took line numbers.
ok, after: what the harness of that time said and left; after: null where that is not known.
"""

import json
from codecs import BOM_UTF8 as BOM
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError

from benchmark.calls.records import Bad, reason
from benchmark.hunks import Hunk


@dataclass(frozen=True)
class Call:
    """One find-and-replace; ok: None where nobody carried it out, and `after` is what was meant."""

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid")

    id: str
    source: str
    path: str
    before: str
    old: str
    new: str
    every: bool = False
    ok: bool | None = None
    after: str | None = None
    lines: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        count = self.before.count("\n") + 1
        if self.lines is not None and not 1 <= self.lines[0] <= self.lines[1] <= count:
            raise ValueError(f"lines are from 1 to {count}, the first before the last")

    @property
    def quoted(self) -> str:
        """The text to be replaced."""
        if self.lines is None:
            return self.old
        first, last = self.lines
        return "\n".join(self.before.split("\n")[first - 1 : last])

    @property
    def hunk(self) -> Hunk | None:
        """The lines to be replaced, by their numbers; None where `old` is not whole lines, once."""
        if self.lines is not None:
            start, stop = self.lines[0] - 1, self.lines[1]
        else:
            old = self.old.removesuffix("\n")
            if f"\n{self.before}\n".count(f"\n{old}\n") != 1 or not old:
                return None
            start = f"\n{self.before}\n".split(f"\n{old}\n")[0].count("\n")
            stop = start + old.count("\n") + 1
        new = self.new.removesuffix("\n") if self.old.endswith("\n") else self.new
        rows = tuple(new.split("\n")) if new else ()
        return Hunk(self.id, self.source, self.path, self.before, start, stop, rows, (start, stop))


CALL = TypeAdapter(Call)


def write(path: Path, calls: Iterable[Call]) -> int:
    count = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for call in calls:
            file.write(json.dumps(asdict(call), ensure_ascii=False) + "\n")
            count += 1
    return count


def read(path: Path) -> Iterator[Call | Bad]:
    """The calls; a line that is not of this form is `Bad`, with its number."""
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line.strip():
            try:
                yield CALL.validate_json(line.removeprefix(BOM))
            except ValidationError as error:
                yield Bad(f"line {number}", reason(error))
