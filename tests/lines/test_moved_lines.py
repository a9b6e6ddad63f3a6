"""A moved line keeps its identity where it stands once; a deleted one becomes no other copy."""

import pytest

from fsagent_tools.lines.matching import same_lines
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
    matched = [-1] * len(new)
    for i, j, length in same_lines(old, new):
        matched[j : j + length] = range(i, i + length)
    return matched


def numbered(*ranges):
    return [f"value_{n} = computed(number={n})" for start, end in ranges for n in range(start, end)]


def test_a_block_that_moved_keeps_its_lines():
    old, new = numbered((0, 40)), numbered((0, 5), (12, 40), (5, 12))
    assert kept(old, new) == [*range(5), *range(12, 40), *range(5, 12)]


@pytest.mark.parametrize(
    "order",
    [
        [0, 2, 1, *range(3, 14)],
        [*range(1, 14), 0],
        [*range(2, 14), 0, 1],
        [*range(14)][::-1],
        [7, 3, 11, 0, 13, 5, 9, 1, 12, 4, 10, 2, 8, 6],
    ],
    ids=["swapped", "one down", "two down", "reversed", "sorted"],
)
@pytest.mark.parametrize("form", ["a{} = {}", "import m{}", "    x{}"])
def test_lines_that_stand_once_keep_their_ids_in_any_order(form, order):
    old = [form.format(n, n) for n in range(14)]
    assert kept(old, [old[n] for n in order]) == order


def test_a_line_of_signs_does_not_move():
    rest = numbered((0, 30))
    assert kept(["    })", *rest], [*rest, "    })"])[-1] == -1


def test_an_edit_by_the_id_of_a_line_that_moved_is_taken(root, session):
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    line_id = session.ids()[0]
    (root / "a.txt").write_text("two\none\nthree\n")
    assert session.edit({"line_id": line_id, "new_content": "1"}).ok
    assert (root / "a.txt").read_text() == "two\n1\nthree\n"


def test_a_line_that_is_lost_is_said_to_be_rewritten_moved_or_removed(root, session):
    (root / "a.txt").write_text("x\none\ny\none\n")
    line_id = session.ids()[1]
    (root / "a.txt").write_text("x\ny\nz\n")
    out = session.edit({"line_id": line_id, "new_content": "1"})
    assert "was rewritten, moved or removed outside this session" in out.text


def test_a_line_that_stands_elsewhere_too_is_not_told_from_its_copy():
    rest, line = numbered((0, 30)), "the_same_telling_line = something(of_value)"
    old, new = [line, *rest, line], [*rest[:9], line, *rest[9:], line]
    assert kept(old, new)[9] == -1


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
