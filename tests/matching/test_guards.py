"""New text that repeats what stands beside it, or leaves a blank line, is taken only on purpose."""

import pytest

from fsagent_tools.errors import InvalidChange
from fsagent_tools.matching import find

TEXT = "alpha = 1\nbeta = 2\ngamma = 3\n\ndelta = 4\n"


def edited(old, new, text=TEXT):
    return find(text.encode(), old, new).apply(text.encode()).decode()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("beta = 2", "alpha = 1\nbeta = 5", "above"),
        ("beta = 2\n", "alpha = 1\nbeta = 5\n", "above"),
        ("beta = 2", "beta = 5\ngamma = 3", "below"),
        ("beta = 2\n", "beta = 5\ngamma = 3\n", "below"),
        ("eta = 2", "eta = 5\ngamma = 3", "below"),
        ("  beta = 2", "  beta = 5\n  gamma = 3", "below"),
        ("beta = 2", "beta = 5\n", "blank line"),
        ("gamma = 3", "gamma = 5\n", "blank line"),
    ],
)
def test_a_slip_beside_the_match_is_refused(old, new, told):
    with pytest.raises(InvalidChange, match=told) as refusal:
        edited(old, new)
    assert "If that is what you mean, quote" in refusal.value.hint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("alpha = 1\nbeta = 2", "alpha = 1\nalpha = 1\nbeta = 5"),
        ("beta = 2\ngamma = 3", "beta = 5\ngamma = 3\ngamma = 3"),
        ("beta = 2\ngamma = 3", "beta = 5\n\ngamma = 3"),
        ("beta = 2\n", "beta = 2\n\n"),
        ("beta = 2\n", ""),
        ("\nbeta = 2", ""),
        ("alpha = 1", "alpha = 1\nalpha_2 = 1"),
        ("gamma = 3\n\n", "gamma = 3\n"),
    ],
)
def test_the_same_with_the_line_quoted_is_taken(old, new):
    assert edited(old, new) == TEXT.replace(old, new)


def test_a_carriage_return_hides_no_repeated_line():
    with pytest.raises(InvalidChange, match="below"):
        edited("b\n", "B\nc\n", "a\r\nb\r\nc\r\n")


def test_a_last_line_gets_its_line_ending():
    assert edited("b", "B\n", "a\nb") == "a\nB\n"
