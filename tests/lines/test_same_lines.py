"""Which lines a comparison takes for the same, by small texts whose every line counts."""

import random
from itertools import combinations

import pytest

from fsagent_tools.lines.matching import align, matching_blocks, same_lines


def lines(text):
    return [f"{word} = value" if len(word) > 1 else word for word in text.split()]


def pairs(blocks):
    return {(i + n, j + n) for i, j, length in blocks for n in range(length)}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ("", "one", [-1]),
        ("one", "", []),
        ("one two", "one two", [0, 1]),
        ("one two three", "one three", [0, 2]),
        ("one three", "one two three", [0, -1, 1]),
        ("one two three", "one other three", [0, -1, 2]),
        ("one two three four", "zero two three five", [-1, 1, 2, -1]),
        ("h1 x } long_name b1", "h2 u } long_name b2", [-1, -1, 2, 3, -1]),
        ("h1 aa bb aa cc t1", "h2 bb cc aa t2", [-1, 2, 4, -1, -1]),
    ],
)
def test_common_lines_in_order_are_the_same(old, new, expected):
    assert align(lines(old), lines(new)) == expected


def test_repeated_lines_are_told_apart_by_runs():
    row = [f"word_{n % 5}" for n in range(20)]
    old, new = ["h1", *row, "word_1", "word_3", "t1"], ["h2", "n", *row, "word_1", "word_3", "t2"]
    found = pairs(matching_blocks(old, new))
    assert len(found) > len(row) // 2
    assert all(y == x + 1 for x, y in found)


@pytest.mark.parametrize("extra", [0, 1, 15, 16, 17, 400, 5000])
def test_equal_ends_are_found_whatever_their_length(extra):
    same = [f"{n}" for n in range(extra)]
    old, new = [*same, "old", *same], [*same, "new", "newer", *same]
    ends = [(0, 0, extra), (extra + 1, extra + 2, extra)]
    assert matching_blocks(old, new) == (ends if extra else [])


@pytest.mark.parametrize("kinds", [2, 6, 40, 3000])
@pytest.mark.parametrize("size", [12, 60, 1500])
def test_blocks_are_in_order_apart_and_of_equal_lines(kinds, size):
    dice = random.Random(kinds * size)
    for _ in range(20):
        old = [dice.randrange(kinds) for _ in range(size)]
        new = [*old]
        for _ in range(4):
            place = dice.randrange(size)
            new[place : place + dice.randrange(4)] = dice.choices(range(kinds), k=dice.randrange(4))
        i = j = 0
        for x, y, length in matching_blocks(old, new):
            assert (x >= i, y >= j, length > 0) == (True, True, True)
            i, j = x + length, y + length
            assert old[x:i] == new[y:j]


@pytest.mark.parametrize("unique", [True, False])
def test_in_a_long_text_only_the_lines_that_changed_are_others(unique):
    old = [f"line {n if unique else n % 320}" for n in range(4000)]
    new = [*old]
    for place in range(3500, 0, -500):
        new[place : place + 2] = ["changed", "and more", "and more still"]
    found = align(old, new)
    assert sum(place < 0 for place in found) == 3 * 7
    assert all(old[x] == new[y] for y, x in enumerate(found) if x >= 0)


class Looked(list):
    """Lines that count how often one of them is asked for by itself."""

    asked = 0

    def __getitem__(self, place):
        self.asked += isinstance(place, int)
        return super().__getitem__(place)


def test_equal_lines_are_compared_many_at_once():
    old = Looked(f"line {n} of many" for n in range(20_000))
    new = Looked([*old[:12_000], "another line", *old[12_001:]])
    assert pairs(same_lines(old, new)) == {(n, n) for n in range(20_000) if n != 12_000}
    assert old.asked + new.asked < 1_000


def longest_rows(old, new):
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


@pytest.mark.parametrize(
    ("old", "new"), [("a}b", "a}}b"), ("a}}b", "a}b"), ("x", "xx"), ("ab}", "b}}")]
)
def test_a_line_in_order_that_may_be_a_copy_is_none(old, new):
    every = set.union(*longest_rows(old, new))
    sure = {(i, j) for i, j in every if not any((x == i) != (y == j) for x, y in every)}
    assert pairs(same_lines(old, new, moves=False)) <= sure
