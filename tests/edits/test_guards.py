"""Slips beside a change are looked for near it, whatever the size of the text."""

import pytest

from fsagent_tools.edits.finding import find
from fsagent_tools.edits.guards import refuse_slips
from fsagent_tools.edits.haystack import Haystack
from fsagent_tools.edits.spans import Found, Replacement, Span
from fsagent_tools.errors import InvalidChange

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
    with pytest.raises(InvalidChange, match=rf"\n{number} line {number}$"):
        looked_at(newline, b"line 500", sent)


def test_a_blank_line_that_would_be_left_is_numbered():
    with pytest.raises(InvalidChange, match="behind line 500 a blank line would be left"):
        looked_at(b"\n", b"line 500", b"other\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_blank_line_at_the_end_of_a_text_can_be_sent_as_the_refusal_says(end):
    text, old, new = f"one{end}two{end}", "two", "2\n"
    with pytest.raises(InvalidChange, match="blank line would be left") as refused:
        find(text.encode(), old, new)
    assert "next line" not in refused.value.hint
    assert "`old_string` with one line ending and `new_string` with two" in refused.value.hint
    found = find(text.encode(), f"{old}\n", f"{new}\n")
    assert found.replacements[0].text.split() == [b"2"]
    with pytest.raises(InvalidChange) as refused:
        find(f"{text}{end}three{end}".encode(), old, new)
    assert "quote the next line" in refused.value.hint


def test_a_blank_line_that_was_sent_as_one_is_meant():
    looked_at(b"\n", b"line 500", b"other\n\n")
    looked_at(b"\n", b"line 500", b"other\n    \n")


@pytest.mark.parametrize(
    ("old", "new", "rest"),
    [
        ('raise Wrong("empty', 'raise Other("empty: %s" % name)', ': %s" % name)'),
        ("compute(a)", "total = compute(b)", "total ="),
    ],
)
def test_the_rest_of_a_line_is_not_left_to_stand_twice(old, new, rest):
    text = f"total = compute(a)\n{old}{rest}\n" if "Wrong" in old else f"    {rest} {old}\n"
    with pytest.raises(InvalidChange, match="would then stand twice") as refused:
        find(text.encode(), old, new)
    assert rest in refused.value.message
    whole = f"{rest} {old}" if new.startswith(rest) else f"{old}{rest}"
    assert find(text.encode(), whole, new).count == 1


@pytest.mark.parametrize(("old", "new"), [("f(x", "f(g(x)"), ("name)", "name, other)")])
def test_a_sign_that_comes_twice_by_chance_is_taken(old, new):
    assert find(b"f(x) # name)\nreturn given\n", old, new).count == 1


def test_what_closes_an_element_may_come_twice():
    old, new = b'<span class="a">', b'<span class="a"><span>x</span>'
    assert find(old + b"</span>\n", old.decode(), new.decode()).count == 1


def compiles(text):
    try:
        compile(text, "a.py", "exec")
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize(
    ("old", "new"),
    [("a = 1\n", "a = 2"), ("\n  b = 2", "  b = 3"), ("a = 1\r\n", "a = 2")],
)
def test_lines_are_not_joined_by_a_line_ending_that_was_left_out(old, new):
    text = "z = 0\na = 1\n  b = 2\n".replace("\n", "\r\n" if "\r" in old else "\n")
    with pytest.raises(InvalidChange, match="it would be joined to the line beside it"):
        find(text.encode(), old, new)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("a\nb\n", "a\n", ""),
        ("a\nb\n", "a\nb", "a b"),
        ("a\n\nb\n", "\nb", "c"),
        ("a\nb\n", "\nb", "c"),
        ("a\n\nb\n", "a\n", "c"),
        ("a\nb\n", "b\n", "c"),
    ],
)
def test_a_line_ending_may_go_where_no_lines_are_joined_unquoted(text, old, new):
    assert find(text.encode(), old, new).apply(text.encode()).decode() == text.replace(old, new)


@pytest.mark.parametrize(("old", "new"), [("f(1)", "f(2),"), ("g()", "h();")])
def test_a_sign_at_the_end_of_a_line_does_not_come_twice(old, new):
    with pytest.raises(InvalidChange, match=r"stand twice: '[,;]'"):
        find(b"f(1),\ng();\n", old, new)
