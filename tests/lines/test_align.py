"""Which lines an alignment takes for the same, by small texts whose every line counts."""

import pytest

from fsagent_tools.lines.align import (
    RUN,
    TINY,
    WINDOW,
    align,
    letters_and_digits,
    matching_blocks,
    once,
)


def lines(text):
    return [f"{word} = value" if len(word) > 1 else word for word in text.split()]


def aligned(old, new):
    return align(lines(old), lines(new))


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
        ("one two", "two one", [-1, -1]),
        ("one two three four", "zero three five", [-1, 2, -1]),
        ("one two three four", "zero two three five", [-1, 1, 2, -1]),
    ],
)
def test_common_lines_in_order_are_the_same(old, new, expected):
    assert aligned(old, new) == expected


def test_one_line_against_a_gap_is_no_evidence():
    assert aligned("aa one zz", "aa two one three zz") == [0, -1, -1, -1, 2]
    assert aligned("aa two one three zz", "aa one zz") == [0, -1, 4]


def test_a_brace_alone_is_no_anchor_but_one_beside_a_telling_line_is():
    old, new = ["a1", "x", "}", "y", "b1"], ["a2", "u", "}", "v", "b2"]
    assert align(old, new) == [-1] * 5
    old, new = ["a1", "x", "}", "long_name()", "b1"], ["a2", "u", "}", "long_name()", "b2"]
    assert align(old, new) == [-1, -1, 2, 3, -1]


@pytest.mark.parametrize("distance", [1, 2, 3])
def test_what_makes_a_short_line_telling_stands_at_most_two_lines_off(distance):
    between = [".", ","][: distance - 1], [";", ":"][: distance - 1]
    old = ["a1", "x", "}", *between[0], "long()", "b1", "x"]
    new = ["a2", "u", "}", *between[1], "long()", "b2", "u"]
    found = align(old, new)
    assert found[2 + distance] == 2 + distance
    assert (found[2] == 2) == (distance < 3)


@pytest.mark.parametrize(
    ("line", "count"),
    [(b"} ) ;", 0), ("a1 _ b", 3), (b"\xc3\xa9", 2), (b"\xc3\x80", 2), (7, 1), ("\ud800", 0)],
)
def test_letters_and_digits_are_counted(line, count):
    assert letters_and_digits(line) == count


def test_lines_that_changed_places_stay_where_the_far_longer_row_is():
    row = [f"row_{n}" for n in range(6)]
    moved = [*row[1:], row[0]]
    assert align(["h1", *row, "t1"], ["h2", *moved, "t2"]) == [-1, 2, 3, 4, 5, 6, -1, -1]
    halves = [*row[3:], *row[:3]]
    assert align(["h1", *row, "t1"], ["h2", *halves, "t2"]) == [-1] * 8
    two = [*row[2:], *row[:2]]  # four against two: not more than twice as many
    assert align(["h1", *row, "t1"], ["h2", *two, "t2"]) == [-1] * 8


def test_repeated_lines_are_told_apart_by_runs():
    size = 20
    assert size * size > TINY
    old = ["h1", *(f"word_{n % 5}" for n in range(size)), *("word_1", "word_3"), "t1"]
    new = ["h2", "new", *old[1:-1], "t2"]
    found = align(old, new)
    pairs = {(x, y) for y, x in enumerate(found) if x >= 0}
    assert pairs
    assert all(old[x] == new[y] for x, y in pairs)
    assert all(y == x + 1 for x, y in pairs)


def test_runs_longer_than_the_widest_anchor_are_no_evidence():
    """Every run of 16 of these lines stands twice on both sides, every run of 32 once."""
    row = [f"row {n}" for n in range(40)]
    first, second = row[:28], row[12:]
    old = ["h1", *first, "s1", *second, "s2", *row, "t1"]
    new = ["h2", *row, "s3", *first, "s4", *second, "t2"]
    assert align(old, new) == [-1] * len(new)


def test_a_run_that_is_a_whole_side_is_no_evidence():
    """Of four lines the runs of one and two stand twice in the other text, all four once."""
    four = ["aaaa", "bbbb", "aaaa", "bbbb"]
    others = [f"line {n}" for n in range(TINY // len(four))]
    new = [*four, "cccc", "bbbb", "aaaa", *others]
    assert align(four, ["h2", *new, "t2"]) == [-1] * (len(new) + 2)


def test_a_run_of_two_is_an_anchor_where_a_side_has_three():
    others = [f"line {n}" for n in range(TINY // 3 + 1)]
    new = ["h2", "aaaa", "bbbb", "cccc", "bbbb", *others, "t2"]
    assert align(["aaaa", "bbbb", "aaaa"], new)[:5] == [-1, 0, 1, -1, -1]


def test_what_is_equal_behind_an_anchor_is_not_matched_twice():
    same = ["aaaa", *["x"] * 20, "bbbb", *["y"] * 20]
    assert_apart_and_equal(["h1", *same, "t1"], ["h2", *same, "t2"])


def test_runs_are_not_tried_in_tiny_gaps():
    old = ["h1", "aaaa", "bbbb", "aaaa", "cccc", "bbbb", "cccc", "t1"]
    new = ["h2", "aaaa", "bbbb", "cccc", "bbbb", "aaaa", "cccc", "t2"]
    assert align(old, new) == [-1] * 8


def test_a_long_text_is_found_again_behind_each_edit():
    old = [f"line {n}" for n in range(20 * WINDOW)]
    new = list(old)
    for place in range(2000, 0, -500):
        new[place : place + 2] = ["changed", "and more", "and more still"]
    found = align(old, new)
    assert sum(place < 0 for place in found) == 3 * 4
    assert_apart_and_equal(old, new)
    assert all(old[x] == new[y] for y, x in enumerate(found) if x >= 0)


def test_a_place_is_found_again_only_where_a_run_agrees():
    """A line that is common by chance right behind an edit, fewer than a run of them, is not it."""
    old = [f"old {n}" for n in range(5 * WINDOW)]
    new = [f"new {n}" for n in range(5 * WINDOW)]
    old[30 : 30 + RUN - 1] = new[3 : 3 + RUN - 1] = [f"chance {n}" for n in range(RUN - 1)]
    old[-1] = new[-1] = "end"
    old[3], new[200] = "cross", "cross"
    found = align(old, new)
    assert all(old[x] == new[y] for y, x in enumerate(found) if x >= 0)
    assert found[-1] == len(old) - 1


@pytest.mark.parametrize("extra", [0, 1, 7, 8, 9, 40, 5000])
def test_equal_ends_are_trimmed_whatever_their_length(extra):
    same = [f"{n}" for n in range(extra)]
    old, new = [*same, "old", *same], [*same, "new", "newer", *same]
    assert sorted(matching_blocks(old, new)) == sorted(
        [(0, 0, extra), (extra + 1, extra + 2, extra)] if extra else []
    )


def test_of_a_moved_row_only_lines_that_stand_once_in_all_are_anchors():
    row = [f"row_{n}" for n in range(6)]
    moved = [*row[1:], row[0]]
    assert align(["h1", *row, "t1"], ["h2", *moved, "t2"]) == [-1, 2, 3, 4, 5, 6, -1, -1]
    old, new = [*row, "h1", *row, "t1"], [*row, "h2", *moved, "t2"]
    assert align(old, new) == [*range(6), *[-1] * 8]


def assert_apart_and_equal(old, new):
    """No line of either side is matched twice, and the order is that of both."""
    i = j = 0
    for x, y, length in sorted(matching_blocks(old, new)):
        assert (x >= i, y >= j) == (True, True)
        i, j = x + length, y + length
        assert old[x:i] == new[y:j]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("babbbababbbaaaaaaaaa", "aabbbbabaababbaabba"),
        ("cdbbaadabcccbdbdacabba", "cccdcbbbddbdaacdcbbb"),
    ],
    ids=["of the old text", "of the new text"],
)
def test_runs_that_share_a_line_match_it_once(old, new):
    old, new = ([letter * 4 for letter in text] for text in (old, new))
    assert_apart_and_equal(["h1", *old, "t1"], ["h2", *new, "t2"])


def test_values_that_stand_once():
    assert once("abcb", 10) == {"a": 10, "c": 12}
    assert once("abc", 1) == {"a": 1, "b": 2, "c": 3}
    assert once("", 5) == {}


def test_in_a_text_of_copies_the_next_common_place_is_near():
    """No line is unique in all of it; behind each edit it is."""
    old = [f"line {n}" for n in range(2 * WINDOW)] * 6
    new = list(old)
    for place in (1910, 900, 330, 10):
        new[place : place + 2] = ["changed", "and more", "and more still"]
    found = align(old, new)
    edits = [10, 331, 902, 1913]
    assert [y for y, x in enumerate(found) if x < 0] == [n + k for n in edits for k in range(3)]
    assert all(old[x] == new[y] for y, x in enumerate(found) if x >= 0)


ROWS = [  # old, new and which line of old each line of new is; together every condition counts
    ("h x bbbb } t", "H x bbbb bbbb } T", [-1, 1, 2, -1, 3, -1]),
    ("aaaa } x cccc dddd cccc x", "aaaa cccc x aaaa aaaa x", [0, -1, 2, -1, -1, 6]),
    ("bbbb x", "x }", [-1, -1]),
    ("dddd cccc cccc cccc", "aaaa dddd cccc", [-1, 0, 3]),
    ("h { eeee dddd eeee ffff dddd x aaaa t", "H aaaa { eeee eeee ffff x T",
     [-1, -1, 1, 2, 4, 5, -1, -1]),
    ("h { ffff dddd } { ffff bbbb } dddd aaaa aaaa bbbb } { t",
     "H aaaa aaaa bbbb } { dddd { ffff dddd } { ffff bbbb } T", [-1] * 16),
    ("h [ ) } } ( ( ) ( } ( aaaa } ] ] ) ( aaaa t", "H [ ) } } ( ( ) ( } ( aaaa } ] ] ) aaaa T",
     [-1] * 18),
    ("aaaa [ { bbbb ( ] ] } [ ( bbbb ] ) aaaa ( } } { bbbb",
     "{ aaaa ( aaaa [ ) ] ] bbbb ( ( } ( [ } aaaa )", [*[-1] * 10, 14, 15, *[-1] * 5]),
    ("bbbb ) bbbb } aaaa ] { [ [ ] aaaa ) bbbb { } [ ( } ( ) {",
     "( [ [ aaaa { bbbb [ ( [ ( ) [ bbbb", [-1, 7, 8, 10, *[-1] * 5, 18, 19, -1, -1]),
    ("h ] ) ( [ [ ) { } bbbb aaaa ( aaaa [ } ( } [ ( t",
     "H ( [ [ ) { ( } [ bbbb aaaa ( ( aaaa [ } ] ) T",
     [-1, 3, 4, 5, 6, 7, -1, -1, -1, 9, 10, -1, 11, 12, 13, 14, -1, -1, -1]),
    ("dddd bbbb eeee dddd bbbb ffff ffff ffff cccc aaaa dddd dddd cccc bbbb eeee bbbb ffff bbbb "
     "dddd cccc cccc cccc dddd dddd aaaa dddd aaaa cccc eeee",
     "aaaa ffff ffff cccc bbbb eeee eeee bbbb ffff ffff",
     [-1, 6, 7, 8, 13, -1, 14, 15, 16, -1]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), ROWS)
def test_lines_are_matched_as_the_rules_have_it(old, new, expected):
    assert align(old.split(), new.split()) == expected
