"""Lines that tell one of several places from the others."""

import pytest

from fsagent_tools.edits.replace import find
from fsagent_tools.errors import MultipleMatches


def places(text, old, **more):
    with pytest.raises(MultipleMatches) as refused:
        find(text, old, "other", **more)
    return refused.value.details["places"]


@pytest.mark.parametrize(
    ("text", "old", "found"),
    [
        (b"a\nx\nb\nx\nc\n", "x", [(1, 2), (3, 4)]),
        (b"x = 1\nx = 2\n", "x =", [(1, 1), (2, 2)]),
        (b"x\nx\n", "x", [(1, 2), (1, 2)]),
        (b"a\nx\nb\na\nx\nc\n", "x", [(1, 3), (4, 6)]),
        (b"x\nb\nx", "x", [(1, 2), (2, 3)]),
        (b"a\r\nx\r\nb\r\nx\r\n", "x", [(1, 2), (3, 4)]),
        (b"a\nx\ny\nb\nx\ny\n", "x\ny\n", [(1, 3), (4, 6)]),
    ],
)
def test_they_grow_up_and_down_by_turns(text, old, found):
    assert places(text, old) == found


def test_a_text_of_equal_lines_names_few():
    found = places(b"same\n" * 5_000, "same")
    assert sum(last - first + 1 for first, last in found) <= 30
