"""How often an edit by line ID does something else than was meant, when models slip as they do."""

import os
import random
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from tests.conformance.test_line_edits import COMMITS
from tests.conftest import Session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not COMMITS, reason="the folder shared/cases is not here"),
]
FAST = "/dev/shm" if os.path.isdir("/dev/shm") else None
WEIGHTS = {  # of 100 calls; slips in quoted old text (4.7) cannot happen here: sent as meant
    "as meant": 84.7, "changed elsewhere meanwhile": 6, "changed in the range meanwhile": 0.7,
    "came into the range meanwhile": 0.3, "prefixes pasted": 0.5, "repeats the line below": 2,
    "repeats the line above": 1, "indentation lost": 0.5, "a level deeper or higher": 0.5,
    "line feeds for CRLF": 1, "one line off": 1, "a character wrong": 1.5, "final newline": 1,
    "elision": 0.3,
}  # fmt: skip
FORMS = {  # style, whether the first words follow an ID; bounds of what goes wrong
    "tag": ("tag", False, 1.0), "tag and words": ("tag", True, 0.5), "words": ("words", True, 0.5),
}  # fmt: skip


class Slip:
    """One hunk of a commit as a change by ID, and what a slip makes of it; lines are 0-based.

    A blank line that no ID names is addressed by a range from the line above it.
    """

    def __init__(self, row, hunk, dice, form):
        self.style, self.quoting, _ = FORMS[form]
        self.before, self.dice = row["before"].split("\n"), dice
        self.start, count = hunk["old_start"] - 1, hunk["old_lines"]
        self.stop = self.start + count
        self.new = hunk["new"].split("\n")[: hunk["new_lines"]]
        self.meant = [*self.before[: self.start], *self.new, *self.before[self.stop :]]
        self.disk, self.ending = list(self.before), "\n"
        self.off = 0

    def address(self, ids):
        """Move the ends of the range to lines that have an ID."""
        if self.start == self.stop:
            if self.start < len(ids) and ids[self.start]:
                return
            self.start -= self.start == len(ids)
            self.stop = self.start + 1
            self.new = [*self.new, self.before[self.start]]
            if self.stop == len(ids):
                self.new = [self.new[-1], *self.new[:-1]]
        while self.start and not ids[self.start]:
            self.start -= 1
            self.new = [self.before[self.start], *self.new]
        while self.stop < len(ids) and not ids[self.stop - 1]:
            self.new = [*self.new, self.before[self.stop]]
            self.stop += 1

    def make(self, kind):  # noqa: C901  # one case for each slip
        """Whether this slip can happen here; then it has."""
        start, stop, new, inside = self.start, self.stop, self.new, self.stop > self.start
        below = self.before[stop] if stop < len(self.before) else ""
        above = self.before[start - 1] if start else ""
        match kind:
            case "changed elsewhere meanwhile":
                self.disk = ["// a new first line", "", *self.before]
                self.meant = ["// a new first line", "", *self.meant]
            case "changed in the range meanwhile" if inside:
                self.disk[start] += " // changed"
                self.meant = None
            case "came into the range meanwhile" if stop - start > 1:
                self.disk.insert(start + 1, "// came")
                self.meant = None
            case "one line off":
                self.off = self.dice.choice([-1, 1])
            case "indentation lost" if any(x[:1].isspace() for x in new):
                least = min(len(x) - len(x.lstrip()) for x in new if x.strip())
                self.new = [x[least:] for x in new]
                return least > 0
            case "a level deeper or higher" if any(x.strip() for x in new):
                high = all(x.startswith("    ") for x in new if x.strip())
                deeper = not high or self.dice.random() < 0.5
                self.new = [f"    {x}" if deeper and x else x if deeper else x[4:] for x in new]
            case "line feeds for CRLF":
                self.ending = "\r\n"
            case "repeats the line below" if below.strip() and new:
                self.new = [*new, below]
            case "repeats the line above" if above.strip() and new:
                self.new = [above, *new]
            case "elision" if len(new) > 4 and inside:
                self.new = [new[0], "    // ... existing code ...", new[-1]]
            case "as meant":
                return True
            case "prefixes pasted" | "final newline" | "a character wrong":
                return bool(new)
            case _:
                return False
        return True

    def named(self, ids, line, kind):
        """The ID of a line as it is sent; slips in it are random, its words those meant."""
        at = line + self.off
        name = ids[at] if 0 <= at < len(ids) else None
        if name and kind == "a character wrong":
            k = self.dice.randrange(len(name))
            letters = "0123456789abcdef" if self.style == "tag" else "abcdefghijklmnopqrstuvwxyz"
            name = name[:k] + self.dice.choice(letters.replace(name[k], "")) + name[k + 1 :]
        words = " ".join(self.before[line].split()[:2]) if self.quoting else ""
        return name and f"{name} {words}".strip()

    def change(self, ids, kind):
        new = self.new
        if kind == "prefixes pasted":
            live = [name for name in ids if name]
            mark = "[LID:{}] {}" if self.style == "tag" else "{}\t{}"
            new = [
                mark.format(live[n % len(live)], x) if x.strip() else x for n, x in enumerate(new)
            ]
        text = "\n".join(new) + "\n" * (kind == "final newline" or new[-1:] == [""])
        if self.start == self.stop and self.start == len(ids):
            sent = {"after_line_id": self.named(ids, len(ids) - 1, kind)}
        elif self.start == self.stop:
            sent = {"before_line_id": self.named(ids, self.start, kind)}
        else:
            sent = {
                "start_line_id": self.named(ids, self.start, kind),
                "end_line_id": self.named(ids, self.stop - 1, kind),
            }
        return {**sent, "new_content": text} if all(sent.values()) else None


def all_names(session, lines):
    """The ID of each line as a model sees it; None for a blank line that has none."""
    names = []
    while len(names) < len(lines):
        out = session.read(offset=len(names) + 1)
        for row, text in zip(out.data["content"].split("\n"), lines[len(names) :], strict=False):
            word = row.split("\t")[0] if text.strip() else None
            names.append(row[5:11] if row.startswith("[LID:") else word)
        if not out.data["truncated"]:
            break
    return names


def result(slip, kind):
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        path = Path(folder, "a.txt").with_suffix(slip.suffix)
        path.write_bytes("\n".join(slip.before).encode())
        session = Session(Path(folder), line_ids=slip.style)
        session.read = lambda **call: Session.read(session, path.name, **call)
        lines = slip.before[:-1] if not slip.before[-1] else slip.before
        ids = all_names(session, lines)
        slip.address(ids)
        change = slip.change(ids, kind) if slip.make(kind) else None
        if change is None:
            session.close()
            return None
        path.write_bytes(slip.ending.join(slip.disk).encode())
        before = path.read_bytes()
        out = session.edit(change, path=path.name)
        session.close()
        after = path.read_bytes()
        if slip.meant and after == slip.ending.join(slip.meant).encode():
            return "applied"
        assert out.ok or after == before
        if not out.ok:
            return f"refused {out.code}"
        return "corrupted"


@pytest.mark.parametrize("form", FORMS)
def test_the_share_of_silent_wrong_edits_stays_small(form, capsys):
    dice = random.Random(1)
    shares = dict.fromkeys(("applied", "refused", "corrupted"), 0.0)
    table = []
    for kind, weight in WEIGHTS.items():
        counts = Counter()
        for row in COMMITS:
            if "\r" in row["before"]:
                continue
            for hunk in row["hunks"]:
                slip = Slip(row, hunk, dice, form)
                slip.suffix = Path(row["path"]).suffix
                counts[result(slip, kind)] += 1
        del counts[None]
        for name in shares:
            part = sum(n for kind_, n in counts.items() if kind_.startswith(name))
            shares[name] += weight * part / counts.total()
        table.append(f"{kind:32} {dict(counts)}")
    with capsys.disabled():
        print("\n" + "\n".join([form, *table]))  # noqa: T201
        print({name: round(share, 2) for name, share in shares.items()})  # noqa: T201
    assert shares["corrupted"] <= FORMS[form][2]
    assert shares["applied"] >= 93
