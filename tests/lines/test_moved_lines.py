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
