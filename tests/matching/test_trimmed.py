"""Quotes with blanks or blank lines around them that the file does not have."""

import pytest

from fsagent_tools.matching import find
from fsagent_tools.matching.cascade import trimmed


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        # one line: blanks around it
        ("call(a,  b)\n", " call(a, b) ", " fetch(a, b) ", "fetch(a, b)\n"),
        # blank lines behind a quote that does not end its last line
        ("one\ntwo\nthree\n", "one\ntwo\n\n  ", "one\n2\n\n  ", "one\n2\nthree\n"),
        ("  one\n  two\nthree\n", "\none\ntwo\n ", "\none\n2\n ", "  one\n  2\nthree\n"),
    ],
)
def test_what_surrounds_a_quote_does_not_hide_it(text, old, new, expected):
    found = find(text.encode(), old, new)
    assert (found.strategy, found.apply(text.encode()).decode()) == ("indentation", expected)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"  a b ", b"  a c ", (b"a b", b"a c")),
        (b"\ta", b"b", (b"a", b"b")),
        (b"a\nb\n\n ", b"a\nc\n\n ", (b"a\nb", b"a\nc")),
        (b"a\nb\n ", b"a\nc", (b"a\nb", b"a\nc")),
        (b"\n\na\nb", b"\na\nc", (b"a\nb", b"a\nc")),
        (b"a\nb\n\n", b"a\nc\n\n", (b"a\nb\n\n", b"a\nc\n\n")),  # a closed blank line stays
    ],
)
def test_old_and_new_lose_the_same_blanks(old, new, expected):
    assert trimmed(old, new) == expected
