"""New text that was sent at another depth, or with other signs, than the file has."""

import pytest

from fsagent_tools.edits.matching import Evidence
from fsagent_tools.edits.replace import find
from fsagent_tools.errors import InvalidChange
from tests.conftest import parses

TEXT = "class A:\n    def f(self):\n        x = 1\n        return x\n\n    y = 2\n"


def edited(text, old, new, evidence=None):
    found = find(text.encode(), old, new, evidence=evidence or Evidence(parses=parses))
    return found.apply(text.encode()).decode(), found.how


@pytest.mark.parametrize(
    ("new", "how"),
    [
        ("x = 2", "re-indented by 8 columns"),
        ("if x:\n    x = 2", "re-indented by 8 columns"),
        ("            x = 2", "re-indented by 4 columns"),
    ],
)
def test_new_text_at_a_depth_that_breaks_an_exact_place_is_asked_about(new, how):
    with pytest.raises(InvalidChange, match="in two ways") as refusal:
        edited(TEXT, "        x = 1", new)
    assert f"{how}, else it would not parse" in refusal.value.hint


@pytest.mark.parametrize("evidence", [Evidence(), Evidence(parses=parses)])
def test_a_dedent_that_parses_stays(evidence):
    text = "def f():\n    if x:\n        y()\n        z()\n"
    after, how = edited(text, "        z()\n", "    z()\n", evidence)
    assert after == "def f():\n    if x:\n        y()\n    z()\n"
    assert not how


def test_a_line_that_came_along_is_no_reason_to_move():
    with pytest.raises(InvalidChange, match="repeats the line above"):
        edited(TEXT, "        x = 1", "    def f(self):\n        x = 2")


def test_a_line_quoted_with_part_of_its_indentation_is_the_whole_line():
    after, _ = edited(TEXT, "       return x", "        return x + 1")
    assert after == TEXT.replace("return x", "return x + 1")
    after, _ = edited(TEXT, "       return x", "       return x + 1")
    assert after == TEXT.replace("return x", "return x + 1")
