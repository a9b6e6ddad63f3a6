"""A mistyped ID is put right where its words leave no doubt; else a refusal shows what is near."""

import re

import pytest

from fsagent_tools.edits.likely import Shown, likely, only, sure

LINES = [
    Shown(0, "a3f2c1", b"def f():"),
    Shown(4, "0f526b", b"    return  x"),
    Shown(9, "9050f2", b"\treturn x"),
]


@pytest.mark.parametrize(
    ("name", "quote", "beside", "lines"),
    [
        ("a3f2c2", "", None, [0]),
        ("zzzzzz", "", None, []),
        ("zzzzzz", "def f():", None, [0]),
        ("9050f3", "return x", None, [9]),
        ("0f526c", "return x", None, [4]),
        ("a3f2c2", "return", None, [4, 9]),
        ("a3f2c2", "return", 8, [9, 4]),
        ("0f526c", "return", 8, [9, 4]),
        ("a3f2c1", "", None, [0]),
        ("a3f2", "", None, []),
        ("", "", None, []),
    ],
)
def test_the_words_tell_first_then_place_and_letters(name, quote, beside, lines):
    assert likely(name, quote, LINES, beside) == lines


@pytest.mark.parametrize(
    ("name", "quote", "line"),
    [
        ("a3f2c2", "def f():", 0),
        ("a32fc1", "def f():", 0),
        ("a3f2c", "def f():", 0),
        ("a3f2c2", "def f():\n    return x", 0),
        ("a3f2c2", "", None),
        ("a3f2c2", "def", None),
        ("a3f2c2", "def g():", None),
        ("b3f2c2", "def f():", None),
        ("0f526c", "return x", 4),
        ("0f526c", "return  x + 1", 4),
    ],
)
def test_only_a_line_that_the_words_fit_and_whose_id_is_one_letter_off_is_sure(name, quote, line):
    found = sure(name, quote, LINES, [])
    assert (found and found.line) == line


def test_of_equal_lines_none_is_sure_where_another_id_is_as_near():
    twins = [Shown(0, "a3f2c1", b"return x"), Shown(1, "a3f2c3", b"return x")]
    assert sure("a3f2c2", "return x", twins, []) is None
    assert sure("a3f2c0", "return x", [twins[0], Shown(1, "000000", b"return x")], []) == twins[0]
    assert sure("a3f2c0", "return x", [*LINES, *twins[:1]], ["a3f2c9"]) is None


@pytest.fixture(params=["tag", "short", "words"])
def lines(request, sessions, root):
    """A session that read 300 lines, the mark of the 200th, and that mark with a wrong letter."""
    (root / "a.txt").write_text("".join(f"line {n} of many\n" for n in range(300)))
    session = sessions(line_ids=request.param)
    rows = session.read().data["content"].split("\n")
    row = next(row for row in rows if row.endswith("line 200 of many"))
    mark = row[: -len("line 200 of many")].strip("[]\t| ").removeprefix("LID:")
    return session, row, mark, mark[:-1] + ("0" if mark[-1] != "0" else "1")


def test_a_refusal_shows_the_line_that_was_meant_however_far_down_it_is(lines):
    session, row, mark, wrong = lines
    out = session.edit({"line_id": wrong, "new_content": "x"})
    assert not out.ok
    (asked,) = re.findall(r"Did you mean (.+)\?", out.text)
    assert f"'{mark} line 200'" in asked.split(", ")
    assert row in out.text.split("\n")


@pytest.mark.parametrize("end", ["start_line_id", "end_line_id"])
def test_a_slip_in_an_id_is_put_right_and_told_where_the_words_are_those_of_one_line(
    lines, root, end
):
    session, _, mark, wrong = lines
    change = {"start_line_id": f"{mark} line 200", "end_line_id": f"{mark} line 200"}
    change[end] = f"{wrong} line 200"
    out = session.edit({**change, "new_content": "x"})
    assert out.ok, out.text
    assert out.text.startswith(f"No line {wrong}: taken as {mark}.\n")
    assert (root / "a.txt").read_text().split("\n")[199:202] == [
        "line 199 of many",
        "x",
        "line 201 of many",
    ]


def test_an_id_that_was_given_up_is_no_slip(lines, root):
    session, row, _, _ = lines
    assert session.edit({"line_id": row, "new_content": "line 200 of all"}).ok
    assert not session.edit({"line_id": row, "new_content": "x"}).ok
    assert "x" not in (root / "a.txt").read_text().split("\n")


@pytest.mark.parametrize("style", ["tag", "short", "words"])
def test_a_line_that_is_a_bracket_alone_can_be_quoted(style, sessions, root):
    (root / "a.txt").write_text("x = [\n    1,\n]\n")
    session = sessions(line_ids=style)
    row = session.read().data["content"].split("\n")[2]
    mark = row[:-1].strip("[]\t| ").removeprefix("LID:")
    out = session.edit({"line_id": f"{mark} ]", "new_content": "]  # end"})
    assert out.ok, out.text


ROWS = "def f(rows):\n    count = len(rows)\n    summed = sum(rows)\n}\n    return summed / count\n"


def other_letter(mark):
    return mark[:-1] + ("0" if mark[-1] != "0" else "1")


@pytest.fixture(params=["tag", "short", "words"])
def few(request, sessions, root):
    """A session that read five lines, and their marks."""
    (root / "a.txt").write_text(ROWS)
    session = sessions(line_ids=request.param)
    rows = session.read().data["content"].split("\n")
    marks = [re.match(r"(?:\[LID:)?([\w.]+)", row)[1] for row in rows[:5]]
    return request.param, session, marks


@pytest.mark.parametrize(
    ("line", "new", "taken"),
    [
        (3, "    summed = sum(rows) + 1", True),
        (3, "    summed = sum(rows)\n    print(summed)", True),
        (3, "    print(rows)\n    summed = sum(rows)  # all", True),
        (3, "    count = len(rows) + 1", False),  # more like the line beside
        (3, "    x = 1", False),
        (3, "", False),
        (4, "} ", False),  # no letters tell
        (3, "    summed = sum(rows) + 1\n{row 2}", False),  # a tag of another line
    ],
)
def test_a_slip_in_a_bare_id_is_put_right_where_the_new_text_is_like_the_line(
    few, root, line, new, taken
):
    style, session, marks = few
    wrong = other_letter(marks[line - 1])
    row = session.read(offset=2, limit=1).data["content"]
    out = session.edit({"line_id": wrong, "new_content": new.replace("{row 2}", row)})
    assert out.ok == (taken and style != "words"), out.text
    rows = ROWS.split("\n")
    if out.ok:
        assert out.text.startswith(f"No line {wrong}: taken as {marks[line - 1]}.\n")
        rows[line - 1] = new
    assert (root / "a.txt").read_text() == "\n".join(rows)


def test_each_end_of_a_range_is_told_by_its_own_end_of_the_new_text(few, root):
    style, session, marks = few
    ends = {"start_line_id": other_letter(marks[1]), "end_line_id": other_letter(marks[2])}
    turned = "    summed = sum(rows, 1)\n    count = len(rows, 1)"
    assert not session.edit({**ends, "new_content": turned}).ok
    new = "    count = len(rows, 1)\n    summed = sum(rows, 1)"
    assert session.edit({**ends, "new_content": new}).ok == (style != "words")


@pytest.mark.parametrize(
    ("more", "taken"),
    [
        ("x = 1\n" * 9, True),
        ("x = 1\n" * 9 + "    summed = sum(rows) + 1\n", False),
        ("x = 1\n" * 1000, False),
    ],
)
def test_a_bare_id_is_put_right_where_no_line_of_a_short_file_is_more_like_the_new_text(
    session, root, more, taken
):
    (root / "a.txt").write_text(text := ROWS + more)
    wrong = other_letter(session.ids("a.txt")[2])
    out = session.edit({"line_id": wrong, "new_content": "    summed = sum(rows) + 1, 2"})
    assert out.ok == taken, out.text
    assert ((root / "a.txt").read_text() == text) != taken


@pytest.mark.parametrize("key", ["after_line_id", "before_line_id"])
def test_text_put_beside_a_line_tells_nothing_of_it(few, root, key):
    _, session, marks = few
    change = {key: other_letter(marks[2]), "new_content": "    summed = sum(rows) + 1"}
    assert not session.edit(change).ok
    assert (root / "a.txt").read_text() == ROWS


def test_a_bare_id_that_is_as_near_to_another_one_or_to_one_given_up_is_refused():
    assert only("a3f2c2", LINES, []) == LINES[0]
    assert only("a3f2c2", LINES, ["a3f2c9"]) is None
    assert only("a3f2c2", [*LINES, Shown(12, "b3f2c2", b"x")], []) is None
    assert only("a3f2", LINES, []) is None
