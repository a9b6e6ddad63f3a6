"""How often an edit by line ID does something else than was meant, when models slip as they do."""

import os
import random
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from tests.conformance.test_line_edits import COMMITS, all_ids
from tests.conftest import Session

pytestmark = pytest.mark.slow
FAST = "/dev/shm" if os.path.isdir("/dev/shm") else None
WEIGHTS = {  # of 100 calls; the shares of slips are estimates, so the table says more than the sum
    "as meant": 84, "changed elsewhere meanwhile": 6, "changed in the range meanwhile": 0.5,
    "came into the range meanwhile": 0.5, "one line too far down": 0.25,
    "one line too far up": 0.25, "range ends a line late": 0.5, "range ends a line early": 0.25,
    "range begins a line early": 0.25, "repeats the line below": 2, "repeats the line above": 1,
    "prefixes pasted": 1, "some prefixes pasted": 0.5, "elision": 1, "a digit wrong": 1,
    "a line number": 0.5, "sent twice": 0.5,
}  # fmt: skip


class Slip:
    """One hunk of a commit as a change by ID, and what a slip makes of it; lines are 0-based."""

    def __init__(self, row, hunk, dice):
        self.before = row["before"].split("\n")
        self.start, count = hunk["old_start"] - 1, hunk["old_lines"]
        self.stop = self.start + count
        self.new = hunk["new"].split("\n")[: hunk["new_lines"]]
        self.dice, self.insertion = dice, not count
        self.meant, self.disk = self.spliced(self.before, 0), None

    def spliced(self, lines, shift):
        return [*lines[: self.start + shift], *self.new, *lines[self.stop + shift :]]

    def make(self, kind, ids):  # noqa: C901  # one case for each slip
        """The change as it is sent, or None where this slip cannot happen here."""
        start, stop, new = self.start, self.stop, self.new
        below = self.before[stop] if stop < len(ids) else ""
        above = self.before[start - 1] if start else ""
        match kind:
            case "changed elsewhere meanwhile":
                self.disk = ["// a new first line", "", *self.before]
                self.meant = self.spliced(self.disk, 2)
            case "changed in the range meanwhile" if not self.insertion:
                self.disk = list(self.before)
                self.disk[start] += " // changed"
                self.meant = None
            case "came into the range meanwhile" if stop - start > 1:
                self.disk = [*self.before[: start + 1], "// came", *self.before[start + 1 :]]
                self.meant = None
            case "one line too far down" if stop < len(ids):
                start, stop = start + 1, stop + 1
            case "one line too far up" if start:
                start, stop = start - 1, stop - 1
            case "range ends a line late" if stop < len(ids) and not self.insertion:
                stop += 1
            case "range ends a line early" if stop - start > 1:
                stop -= 1
            case "range begins a line early" if start and not self.insertion:
                start -= 1
            case "repeats the line below" if below.strip() and new:
                new = [*new, below]
            case "repeats the line above" if above.strip() and new:
                new = [above, *new]
            case "prefixes pasted" if new:
                new = [f"[LID:{ids[(start + n) % len(ids)]}] {x}" for n, x in enumerate(new)]
            case "some prefixes pasted" if len(new) > 1:
                new = [f"[LID:{ids[start % len(ids)]}] {new[0]}", *new[1:]]
            case "elision" if len(new) > 4 and not self.insertion:
                new = [new[0], "    // ... existing code ...", new[-1]]
            case "as meant" | "a digit wrong" | "a line number" | "sent twice":
                pass
            case _:
                return None
        return self.sent(kind, ids, (start, stop, new))

    def sent(self, kind, ids, what):
        start, stop, new = what
        ids = list(ids)
        if kind == "a digit wrong":
            for n in (start, stop - 1):
                if n < len(ids):
                    at = self.dice.randrange(6)
                    ids[n] = ids[n][:at] + self.dice.choice("0123456789abcdef") + ids[n][at + 1 :]
                    if stop > start and ids[n] in ids[:n]:
                        return None
        if kind == "a line number":
            ids = [str(n + 1) for n in range(len(ids))]
        if self.insertion and start < len(ids):
            return {"before_line_id": ids[start], "new_content": new}
        if self.insertion:
            return {"after_line_id": ids[-1], "new_content": new}
        return {"start_line_id": ids[start], "end_line_id": ids[stop - 1],
                "new_content": new or ""}  # fmt: skip


def result(slip, kind):
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        path = Path(folder, "a.txt")
        path.write_bytes("\n".join(slip.before).encode())
        session = Session(Path(folder))
        ids = all_ids(session)
        change = slip.make(kind, ids)
        if change is None or change["new_content"] == []:
            session.close()
            return None
        if slip.disk:
            path.write_bytes("\n".join(slip.disk).encode())
        before = path.read_bytes()
        out = session.edit(change)
        if kind == "sent twice" and out.ok:
            session.edit(change)
        session.close()
        after = path.read_bytes()
        if slip.meant and after == "\n".join(slip.meant).encode():
            return "applied"
        assert out.ok or after == before
        return "refused" if after == before else "corrupted"


def test_the_share_of_silent_wrong_edits_stays_small(record_property, capsys):
    dice = random.Random(1)
    shares = dict.fromkeys(("applied", "refused", "corrupted"), 0.0)
    table = []
    for kind, weight in WEIGHTS.items():
        counts = Counter()
        for row in COMMITS:
            if "\r" in row["before"]:
                continue
            for hunk in row["hunks"]:
                counts[result(Slip(row, hunk, dice), kind)] += 1
        del counts[None]
        for name in shares:
            shares[name] += weight * counts[name] / counts.total()
        table.append(f"{kind:32} {dict(counts)}")
    with capsys.disabled():
        print("\n" + "\n".join(table))  # noqa: T201
        print({name: round(share, 2) for name, share in shares.items()})  # noqa: T201
    assert shares["corrupted"] < 1.7
    assert shares["applied"] > 90
