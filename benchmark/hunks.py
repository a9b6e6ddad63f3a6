"""Real edits: one hunk of a commit, with the file as it was before."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

BARE = 2_000, 200_000  # most lines and characters of a file


@dataclass(frozen=True)
class Hunk:
    """Lines `start` to `stop` (0-based, end excluded) of a file become `new`.

    core: the lines that really change, where the hunk was widened to what a protocol can address.
    origin: "held-out" where nothing was developed with it, "seen" where something was, else "".
    """

    name: str
    repo: str
    path: str
    before: str
    start: int
    stop: int
    new: tuple[str, ...]
    core: tuple[int, int] = (0, 0)
    origin: str = ""

    @property
    def lines(self) -> list[str]:
        return self.before.split("\n")

    @property
    def meant(self) -> str:
        lines = self.lines
        return "\n".join([*lines[: self.start], *self.new, *lines[self.stop :]])

    @property
    def old(self) -> list[str]:
        return self.lines[self.start : self.stop]

    def up(self) -> "Hunk":
        """One unchanged line more at the top."""
        return replace(self, start=self.start - 1, new=(self.lines[self.start - 1], *self.new))

    def down(self) -> "Hunk":
        """One unchanged line more at the bottom."""
        return replace(self, stop=self.stop + 1, new=(*self.new, self.lines[self.stop]))

    def quoted(self) -> "Hunk":
        """Grown until its old text is not empty and unique in the file: what a quote needs."""
        hunk, above = self, True
        last = len(self.lines) - self.before.endswith("\n")
        while not hunk.new or not "".join(hunk.old).strip() or not hunk.unique or hunk.open:
            up, down = hunk.start > 0, hunk.stop < last
            if not up and not down:
                break
            hunk = hunk.up() if up and (above or not down) and not hunk.open else hunk.down()
            above = not above
        return hunk

    @property
    def open(self) -> bool:
        """The new text ends with a blank line: whoever quotes goes on to the line below."""
        more = self.stop < len(self.lines) - self.before.endswith("\n")
        return more and self.new[-1:] == ("",)

    @property
    def unique(self) -> bool:
        return self.before.count("\n".join(self.old)) == 1

    def addressed(self) -> "Hunk":
        """Grown until both ends stand on lines with text: blank lines may have no mark."""
        hunk, last = self, len(self.lines) - self.before.endswith("\n")
        if hunk.start == hunk.stop:
            if hunk.start < last and hunk.lines[hunk.start].strip():
                return hunk
            hunk = hunk.up() if hunk.start else hunk.down() if last else hunk
        while hunk.start and hunk.old and not hunk.old[0].strip():
            hunk = hunk.up()
        while hunk.stop < last and hunk.old and not hunk.old[-1].strip():
            hunk = hunk.down()
        return hunk

    def inside(self) -> "Hunk":
        """The same, without what comes after the last newline, which is no line.

        A comparison of split texts may find that an insertion comes after it, or that it goes.
        """
        if self.stop < len(self.lines) or not self.before.endswith("\n"):
            return self
        if self.new and self.old:
            return replace(self, stop=self.stop - 1, new=self.new[:-1])
        new = ("", *self.new[:-1]) if self.new else ()
        return replace(self, start=self.start - 1, stop=self.stop - 1, new=new)


def usable(hunk: Hunk) -> bool:
    """No file of bytes, none without its last newline, none too long to be read in a few calls."""
    lines, size = BARE
    whole = hunk.before.endswith("\n") and "\r" not in hunk.before and "\0" not in hunk.before
    fits = len(hunk.before) <= size and hunk.before.count("\n") <= lines
    return whole and fits and hunk.meant.endswith("\n") and hunk.meant != hunk.before


def from_rows(file: Path) -> Iterator[Hunk]:
    """Hunks of a JSON-lines file, as `mine` writes it."""
    lines = file.read_text(encoding="utf-8").split("\n")  # U+2028 is no end
    return of_rows(map(json.loads, filter(None, lines)))


def of_rows(rows: Iterable[dict[str, Any]]) -> Iterator[Hunk]:
    """Each row is a commit's file."""
    for row in rows:
        for number, part in enumerate(row["hunks"]):
            start = part["old_start"] - 1
            stop = start + part["old_lines"]
            new = tuple(part["new"].split("\n")[: part["new_lines"]])
            name = f"{row['id']}#{number}"
            where = str(row["repo"]), str(row["path"]), str(row["before"])
            origin = str(row.get("set", ""))
            hunk = Hunk(name, *where, start, stop, new, origin=origin)
            if usable(hunk):
                hunk = hunk.inside()
                yield replace(hunk, core=(hunk.start, hunk.stop))
