"""Tools that name lines by quoting them: find and replace, edit blocks, patches."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchmark.case import Case
from benchmark.dialects.base import Arguments
from benchmark.hunks import Hunk
from benchmark.slips import NEWLINES, ONLY_MARKS, WRONG_QUOTES

NUMBERED = re.compile(r"^(\s*\d+(?:\t|\||:|→| ))")


@dataclass
class Quotes:
    """Find and replace; the names of its parameters. nested: a list of edits around the pair.

    said: what each call says besides.
    """

    path: str = "file_path"
    old: str = "old_string"
    new: str = "new_string"
    nested: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    quoting = True
    as_meant = ONLY_MARKS

    def widen(self, hunk: Hunk) -> Hunk:
        return hunk.quoted()

    def call(self, case: Case, path: str, read: str) -> Arguments | None:
        if case.pasted:
            rows = [NUMBERED.match(line) for line in read.split("\n")]
            marks = [m[1] for m in rows if m][case.hunk.start :]
            if len(marks) < max(len(case.old), len(case.new)):
                return None
            if case.pasted == "first":
                marks = [*marks[:1], *[""] * len(marks[1:])]
            elif case.pasted == "half":
                marks = [mark.strip() + " " for mark in marks]
            case.old, case.new = (
                [f"{mark}{x}" for mark, x in zip(marks, lines, strict=False)]
                for lines in (case.old, case.new)
            )
        return self.send(path, case)

    def send(self, path: str, case: Case) -> Arguments:
        pair = {self.old: "\n".join(case.old), self.new: "\n".join(case.new) + case.tail}
        edit = {self.nested: [pair]} if self.nested else pair
        return {**self.said, self.path: path, **edit}

    def again(self, case: Case, path: str, read: str, error: str) -> Arguments | None:
        """Possible where every line that is to be quoted can be read in the error."""
        old, _ = case.again
        shown = [row.rstrip("\r") for row in error.split("\n")]
        seen = all(any(row.endswith(line) for row in shown) for line in old if line.strip())
        if not seen and case.kind in WRONG_QUOTES:
            return None
        more = [""] * ("with one line ending and `new_string` with two" in error)
        return self.send(path, replace(case, old=old + more, new=[*case.hunk.new, *more], tail=""))


@dataclass
class Patch(Quotes):
    """apply_patch: context, lines that go, lines that come; the name of its parameter."""

    parameter: str = "patch"
    as_meant = ONLY_MARKS | NEWLINES

    def send(self, path: str, case: Case) -> Arguments:
        old, new = case.old, case.new
        head = 0
        while head < min(len(old), len(new)) and old[head] == new[head]:
            head += 1
        foot = 0
        while foot < min(len(old), len(new)) - head and old[-1 - foot] == new[-1 - foot]:
            foot += 1
        rows = [f" {x}" for x in old[:head]]
        rows += [f"-{x}" for x in old[head : len(old) - foot]]
        rows += [f"+{x}" for x in new[head : len(new) - foot]]
        rows += [f" {x}" for x in old[len(old) - foot :]]
        body = "\n".join(rows)
        return {
            self.parameter: f"*** Begin Patch\n*** Update File: {path}\n@@\n{body}\n*** End Patch"
        }
