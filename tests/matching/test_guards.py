"""Slips beside a change are looked for near it, whatever the size of the text."""

import pytest

from fsagent_tools.errors import InvalidChange
from fsagent_tools.matching.guards import refuse_slips
from fsagent_tools.matching.source import Haystack
from fsagent_tools.matching.spans import Found, Replacement, Span

LINES = [b"line %d" % number for number in range(1, 1001)]


def looked_at(newline, old, new):
    source = Haystack(newline.join(LINES) + newline)
    at = source.text.index(old)
    change = Replacement(Span(at, at + len(old)), new)
    try:
        refuse_slips(source, Found("exact", (change,), 1), old, new)
    finally:
        assert not {"lines", "offsets"} & vars(source).keys(), "the whole text was taken apart"


@pytest.mark.parametrize("newline", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("new", [b"other", b"line 499\nother", b"other\nline 501"])
def test_a_line_beside_the_change_is_found_and_numbered(newline, new):
    sent = new.replace(b"\n", newline)
    if b"\n" not in new:
        looked_at(newline, b"line 500", sent)
        return
    number = 499 if new.startswith(b"line") else 501
    with pytest.raises(InvalidChange, match=rf"twice:\n{number} line {number}\b"):
        looked_at(newline, b"line 500", sent)


def test_a_blank_line_that_would_be_left_is_numbered():
    with pytest.raises(InvalidChange, match="behind line 500 a blank line would be left"):
        looked_at(b"\n", b"line 500", b"other\n")


def test_a_blank_line_that_was_sent_as_one_is_meant():
    looked_at(b"\n", b"line 500", b"other\n\n")
    looked_at(b"\n", b"line 500", b"other\n    \n")
