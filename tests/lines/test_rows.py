"""Only lines that every longest common row pairs alike are the same lines."""

import random
from itertools import combinations

import pytest

from fsagent_tools.lines.identity import same_lines
from fsagent_tools.lines.rows import decided


def rows(old, new):
    """Every longest common row, as pairs of places."""
    for size in range(min(len(old), len(new)), 0, -1):
        found = [
            {*zip(here, there, strict=True)}
            for here in combinations(range(len(old)), size)
            for there in combinations(range(len(new)), size)
            if [old[n] for n in here] == [new[n] for n in there]
        ]
        if found:
            return found
    return [set()]


def pairs(blocks):
    return {(i + n, j + n) for i, j, length in blocks for n in range(length)}


def certain(old, new):
    """The pairs of which no longest row has one line and not the other beside it."""
    every = set.union(*rows(old, new))
    return {
        (i, j) for i, j in every if not any((x == i) != (y == j) for x, y in every)
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_what_stays_of_any_blocks_is_what_no_longest_row_pairs_otherwise(seed):
    dice = random.Random(seed)
    old, new = (dice.choices("abc}", k=dice.randint(1, 6)) for _ in range(2))
    blocks = [
        (i, j, 1) for i, line in enumerate(old) for j, other in enumerate(new) if line == other
    ]
    assert pairs(decided(old, new, blocks)) == certain(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pqrs", "rspq"),  # two rows as long as each other
        ("x}y}", "y}x}"),
        ("w   ", "   w"),  # the line with words is in no longest row
    ],
)
def test_of_rows_far_apart_none_is_guessed(old, new):
    kept = pairs(same_lines(old, new, moves=False))
    assert kept <= certain(old, new)


def test_long_texts_are_compared_between_their_common_ends():
    top, end = [f"top {n}" for n in range(5_000)], [f"end {n}" for n in range(5_000)]
    old, new = [*top, *"pqrs", *end], [*top, *"rspq", *end]
    assert same_lines(old, new, moves=False) == [(0, 0, 5_000), (5_004, 5_004, 5_000)]


class Looked(list):
    """Lines that count how often one of them is asked for by itself."""

    asked = 0

    def __getitem__(self, place):
        self.asked += isinstance(place, int)
        return super().__getitem__(place)


def test_lines_of_the_common_ends_are_compared_many_at_once():
    old = Looked(f"line {n} of many" for n in range(20_000))
    new = Looked([*old[:12_000], "another line", *old[12_001:]])
    assert pairs(same_lines(old, new)) == {(n, n) for n in range(20_000) if n != 12_000}
    assert old.asked + new.asked < 1_000
