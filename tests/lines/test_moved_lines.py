"""A moved line keeps its identity on evidence only; a deleted one never becomes another copy."""

import pytest

from fsagent_tools.lines.align import align
from tests.conftest import Session

COPIES = """def a():
    x = 1
    return None

def b():
    y = 2
    return None

def c():
    return 3
"""
COPIES_NOW = COPIES.replace("return None", "raise X", 1).replace("return 3", "return None")
BRACE, BRACE_NOW = "alpha\n    }\nbeta\ngamma\n", "new 1\nnew 2\nnew 3\nif y {\n    }\nnew 5\n"


@pytest.mark.parametrize(("text", "now", "line"), [(COPIES, COPIES_NOW, 3), (BRACE, BRACE_NOW, 2)])
@pytest.mark.parametrize("restart", [False, True])
def test_an_id_does_not_jump_to_another_copy_of_its_line(text, now, line, restart, root, session):
    (root / "a.txt").write_text(text)
    line_id = session.ids()[line - 1]
    (root / "a.txt").write_text(now)
    if restart:
        session.close()
        session = Session(root)
    out = session.edit({"line_id": line_id, "new_content": "    return x"})
    assert not out.ok
    assert (root / "a.txt").read_text() == now


def numbered(*ranges):
    return [f"value_{n} = computed(number={n})" for start, end in ranges for n in range(start, end)]


def test_a_block_that_moved_keeps_its_lines():
    old, new = numbered((0, 40)), numbered((0, 5), (12, 40), (5, 12))
    assert align(old, new) == [*range(5), *range(12, 40), *range(5, 12)]


def test_a_short_unique_line_moves_only_with_telling_neighbours():
    block = ["def compute_the_total(prices):", "    pass", "    # of everything that was bought"]
    rest = numbered((0, 30))
    assert align([*block, *rest], [*rest, *block]) == [*range(3, 33), 0, 1, 2]
    alone = [*rest[:20], "    pass", *rest[20:]]
    assert align(["    pass", *rest], alone) == [*range(1, 21), -1, *range(21, 31)]


def test_a_line_that_stands_elsewhere_too_is_not_told_from_its_copy():
    rest, line = numbered((0, 30)), "the_same_telling_line = something(of_value)"
    old, new = [line, *rest, line], [*rest[:9], line, *rest[9:], line]
    assert align(old, new)[9] == -1


def test_of_lines_that_changed_places_the_longest_row_stays():
    one, two, three = numbered((0, 3))
    old = ["x = head(1)", two, "gap = one(2)", three, one, "x = tail(1)"]
    new = ["y = head(2)", one, two, "other = gap(4)", three, "y = tail(2)"]
    assert align(old, new, moves=False) == [-1, -1, 1, -1, 3, -1]


@pytest.mark.parametrize(("word", "kept"), [("a" * 19, False), ("a" * 20, True)])
def test_a_moved_line_is_told_by_twenty_letters(word, kept):
    rest = numbered((0, 30))
    old, new = [word, *rest], [*rest[:20], word, *rest[20:]]
    assert (align(old, new)[20] == 0) is kept


def test_neighbours_that_changed_their_order_are_no_evidence_of_a_move():
    three, rest = ["alpha_beta_gamma", "delta_epsilon_z", "eta_theta_iota_"], numbered((0, 30))
    assert align([*three, *rest], [*rest, *three])[-3:] == [0, 1, 2]
    assert align([*three, *rest], [*rest, *three[::-1]])[-3:] == [-1, -1, -1]
