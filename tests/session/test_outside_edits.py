"""Random changes from outside, sessions and restarts: no edit lands on a line that is not meant."""

import os
import random
import re
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import Session

pytestmark = pytest.mark.full

FAST = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
COMMON = ["", "", "}", "}", "    }", "x = 1", "    return x", "a b", "else:"]
ROWS = {
    "tag": re.compile(r"\[LID:(\w{6})\] (.*)"),
    "words": re.compile(r"(?:([a-z]{3}(?:\.[a-z]{3})*)\t)?(.*)"),
}


class Line:
    """A line that stays itself wherever it goes."""

    def __init__(self, text):
        self.text = text


class World:
    """One file that is changed from outside, and whoever reads and edits it by ID."""

    def __init__(self, root, style, dice):
        self.root, self.style, self.dice, self.count = root, style, dice, 0
        self.path = Path(root, "a.txt")
        self.lines = []
        self.session = Session(root, line_ids=style)

    def fresh(self):
        self.count += 1
        own = f"{' ' * self.dice.choice([0, 0, 4])}own {self.count}"
        return Line(own if self.dice.random() < 0.4 else self.dice.choice(COMMON))

    def restart(self):
        self.session.close()
        self.session = Session(self.root, line_ids=self.style)

    def save(self):
        self.path.write_text("".join(line.text + "\n" for line in self.lines))

    def read(self):
        """The ID of each line; None where a line has none."""
        out = self.session.read()
        assert out.ok, out.text
        if out.text == "(empty)":  # blank lines without marks
            return [None] * len(self.lines)
        rows = [ROWS[self.style].fullmatch(row) for row in out.text.split("\n")[: len(self.lines)]]
        assert [row[2] for row in rows] == [line.text for line in self.lines]
        return [row[1] for row in rows]

    def change_outside(self):
        lines, at = self.lines, self.dice.randrange(len(self.lines))
        end = at + self.dice.randint(1, 3)
        match self.dice.randrange(7):
            case 0 | 1:
                lines[at:at] = [self.fresh() for _ in range(self.dice.randint(1, 3))]
            case 2:
                del lines[at:end]
            case 3:
                lines[at] = self.fresh()
            case 4:  # a copy
                lines[at:at] = [Line(line.text) for line in lines[at:end]]
            case 5:  # a move
                block = lines[at:end]
                del lines[at:end]
                there = self.dice.randint(0, len(lines))
                lines[there:there] = block
            case 6:  # white space only
                lines[at] = Line(f"  {lines[at].text}")
        self.lines = lines or [self.fresh()]


@cache
def suffix_lengths(old, new):
    """Length of the longest common subsequence of each pair of suffixes."""
    table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            same = old[i] == new[j]
            table[i][j] = table[i + 1][j + 1] + 1 if same else max(table[i + 1][j], table[i][j + 1])
    return table


def partners(old, new, i):
    """The lines of `new` that some longest common subsequence pairs with line `i` of `old`."""
    after = suffix_lengths(old, new)
    before = suffix_lengths(old[::-1], new[::-1])
    n, m, best = len(old), len(new), after[0][0]
    same = (j for j in range(m) if new[j] == old[i])
    return {j for j in same if before[n - i][m - j] + 1 + after[i + 1][j + 1] == best}


def trial(world):
    """What became of one edit of a line that was shown before the file changed."""
    dice = world.dice
    if not world.lines or dice.random() < 0.1 or len(world.lines) > 30:
        world.lines = [world.fresh() for _ in range(dice.randint(1, 14))]
    world.save()
    ids = world.read()
    old = [*world.lines]
    named = [n for n, line_id in enumerate(ids) if line_id]
    if not named:
        return "nothing to name"
    if dice.random() < 0.3:
        world.restart()
    for _ in range(dice.randint(0, 3)):
        world.change_outside()
    world.save()
    if dice.random() < 0.3:
        world.restart()
    n = dice.choice(named)
    text = old[n].text
    quote = " ".join(text.split()[:2]) * (world.style == "words" or dice.random() < 0.3)
    world.count += 1
    new = f"{text[: len(text) - len(text.lstrip())]}new {world.count}"
    before = world.path.read_bytes()
    out = world.session.edit({"line_id": f"{ids[n]} {quote}".strip(), "new_content": new})
    if not out.ok:
        assert world.path.read_bytes() == before
        return "refused"
    after = world.path.read_text().split("\n")[:-1]
    (at,) = [k for k, line in enumerate(after) if line == new]
    now = [line.text for line in world.lines]
    assert [*now[:at], new, *now[at + 1 :]] == after
    hit, world.lines[at] = world.lines[at], Line(new)
    return judged(old, n, now, at, hit)


def judged(old, n, now, at, hit):
    """Whether the line that was hit is the one that was shown, as far as the text tells.

    It does where the two are a pair in every longest common subsequence, and no other pairs are.
    """
    old_texts, now = tuple(line.text for line in old), tuple(now)
    told = partners(old_texts, now, n) == {at} and partners(now, old_texts, at) == {n}
    if told or (old_texts[n] == now[at] and old_texts.count(now[at]) == now.count(now[at]) == 1):
        return "right"
    if at in partners(old_texts, now, n):
        return "undecided"
    return "right" if hit is old[n] else f"WRONG {old_texts} {now} {n} {at}"


def run(style, trials, seed):
    counts = Counter()
    with tempfile.TemporaryDirectory(dir=FAST) as root:
        world = World(Path(root), style, random.Random(seed))
        for _ in range(trials):
            counts[trial(world)] += 1
        world.session.close()
    suffix_lengths.cache_clear()
    return counts


def check(counts, trials):
    assert not [told for told in counts if told.startswith("WRONG")]
    assert counts["right"] > 0.4 * trials
    assert not counts["undecided"]  # what the text leaves open is refused


@pytest.mark.parametrize("style", ROWS)
def test_no_edit_lands_on_a_wrong_line_whatever_happens_outside(style):
    check(run(style, 300, style), 300)


@pytest.mark.slow
@pytest.mark.parametrize("style", ROWS)
def test_fifty_thousand_edits_land_on_no_wrong_line(style, capsys):
    counts = run(style, 16_700, 1)
    with capsys.disabled():
        print(f"\n{style}: {dict(counts)}")  # noqa: T201
    check(counts, 16_700)
