"""A refusal shows the lines near which a mistyped ID was meant."""

import pytest

from fsagent_tools.lines.likely import likely

SHOWN = [(0, "a3f2c1", b"def f():"), (4, "0f526b", b"    return  x"), (9, "9050f2", b"\treturn x")]


@pytest.mark.parametrize(
    ("name", "quote", "line"),
    [
        ("a3f2c2", "", 0),
        ("zzzzzz", "", None),
        ("zzzzzz", "def f():", 0),
        ("9050f3", "return x", 9),
        ("0f526c", "return x", 4),
        ("a3f2c2", "return", 4),
        ("a3f2c1", "", 0),
        ("a3f2", "", None),
        ("", "", None),
    ],
)
def test_the_words_tell_first_then_the_letters(name, quote, line):
    assert likely(name, quote, SHOWN) == line


@pytest.mark.parametrize("style", ["tag", "short", "words"])
def test_a_refusal_shows_the_line_that_was_meant_however_far_down_it_is(style, sessions, root):
    (root / "a.txt").write_text("".join(f"line {n} of many\n" for n in range(300)))
    session = sessions(line_ids=style)
    rows = session.read().data["content"].split("\n")
    row = next(row for row in rows if row.endswith("line 200 of many"))
    mark = row[: -len("line 200 of many")].strip("[]\t| ").removeprefix("LID:")
    wrong = mark[:-1] + ("0" if mark[-1] != "0" else "1")
    out = session.edit({"line_id": f"{wrong} line 200", "new_content": "x"})
    assert not out.ok
    assert row in out.text


@pytest.mark.parametrize("style", ["tag", "short", "words"])
def test_a_line_that_is_a_bracket_alone_can_be_quoted(style, sessions, root):
    (root / "a.txt").write_text("x = [\n    1,\n]\n")
    session = sessions(line_ids=style)
    row = session.read().data["content"].split("\n")[2]
    mark = row[:-1].strip("[]\t| ").removeprefix("LID:")
    out = session.edit({"line_id": f"{mark} ]", "new_content": "]  # end"})
    assert out.ok, out.text
