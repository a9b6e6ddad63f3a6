"""A moved line keeps its identity on evidence only; a deleted one never becomes another copy."""

import pytest

from fsagent_tools.lines.align import by_line
from fsagent_tools.lines.identity import same_lines
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


def kept(old, new):
    """For each new line the old line that it certainly is."""
    return by_line(same_lines(old, new), len(new))


def numbered(*ranges):
    return [f"value_{n} = computed(number={n})" for start, end in ranges for n in range(start, end)]


def test_a_block_that_moved_keeps_its_lines():
    old, new = numbered((0, 40)), numbered((0, 5), (12, 40), (5, 12))
    assert kept(old, new) == [*range(5), *range(12, 40), *range(5, 12)]


def test_a_short_unique_line_moves_only_with_telling_neighbours():
    block = ["def compute_the_total(prices):", "    pass", "    # of everything that was bought"]
    rest = numbered((0, 30))
    assert kept([*block, *rest], [*rest, *block]) == [*range(3, 33), 0, 1, 2]
    alone = [*rest[:20], "    pass", *rest[20:]]
    assert kept(["    pass", *rest], alone) == [*range(1, 21), -1, *range(21, 31)]


def test_a_line_that_stands_elsewhere_too_is_not_told_from_its_copy():
    rest, line = numbered((0, 30)), "the_same_telling_line = something(of_value)"
    old, new = [line, *rest, line], [*rest[:9], line, *rest[9:], line]
    assert kept(old, new)[9] == -1


def test_of_lines_that_changed_places_those_are_kept_that_tell_enough():
    one, two, three = numbered((0, 3))
    old = ["x = head(1)", two, "gap = one(2)", three, one, "x = tail(1)"]
    new = ["y = head(2)", one, two, "other = gap(4)", three, "y = tail(2)"]
    assert kept(old, new) == [-1, 4, 1, -1, 3, -1]
    assert kept(["a b", "x", "c d", "y"], ["c d", "z", "a b", "w"]) == [-1, -1, -1, -1]


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("a } b", "a } } b", [0, -1, -1, 2]),
        ("a } } b", "a } b", [0, -1, 3]),
        ("a } b", "a } n } b", [0, -1, -1, -1, 2]),
        ("a } c } b", "a } c } c } b", [0, -1, -1, -1, -1, -1, 4]),
        ("x y", "x x y", [-1, -1, 1]),
        ("x y", "x y y", [0, -1, -1]),
        ("a } b c } d", "a } new c } d", [0, 1, -1, 3, 4, 5]),
    ],
)
def test_a_line_that_may_as_well_be_its_copy_is_neither(old, new, same):
    old, new = ([f"{word * 4}\n" for word in text.split()] for text in (old, new))
    assert kept(old, new) == same
    mirrored = [len(old) - 1 - x if x >= 0 else -1 for x in reversed(same)]
    assert kept(old[::-1], new[::-1]) == mirrored


def test_an_edit_of_a_line_beside_its_new_copy_is_refused(root, session):
    (root / "a.txt").write_text("def a():\n    pass\n\nend\n")
    line_id = session.ids()[1]
    (root / "a.txt").write_text("def a():\n    pass\n    pass\n\nend\n")
    out = session.edit({"line_id": line_id, "new_content": "    return x"})
    assert out.code == "STALE_LINE_IDS"
    assert "    pass\n" in out.text
    assert session.edit({"line_id": line_id, "new_content": "    return x"}).code == out.code


@pytest.mark.parametrize(("word", "told"), [("a" * 19, False), ("a" * 20, True)])
def test_a_moved_line_is_told_by_twenty_letters(word, told):
    rest = numbered((0, 30))
    old, new = [word, *rest], [*rest[:20], word, *rest[20:]]
    assert (kept(old, new)[20] == 0) is told


def test_neighbours_that_changed_their_order_are_no_evidence_of_a_move():
    three, rest = ["alpha_beta_gamma", "delta_epsilon_z", "eta_theta_iota_"], numbered((0, 30))
    assert kept([*three, *rest], [*rest, *three])[-3:] == [0, 1, 2]
    assert kept([*three, *rest], [*rest, *three[::-1]])[-3:] == [-1, -1, -1]
