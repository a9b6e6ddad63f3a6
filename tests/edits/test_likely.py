"""A mistyped ID is never taken as another; the refusal shows the line that was meant."""

import re

import pytest


@pytest.fixture(params=["tag", "words"])
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
def test_a_slip_in_an_id_is_no_other_line_even_where_its_words_fit_one(lines, root, end):
    session, _, mark, wrong = lines
    change = {"start_line_id": f"{mark} line 200", "end_line_id": f"{mark} line 200"}
    change[end] = f"{wrong} line 200"
    out = session.edit({**change, "new_content": "x"})
    assert out.code in ("UNKNOWN_LINE_ID", "INVALID_CHANGE")
    assert f"Did you mean '{mark} line 200'" in out.text
    assert "x" not in (root / "a.txt").read_text().split("\n")


@pytest.mark.parametrize("lines", ["words"], indirect=True)
def test_where_words_are_too_few_no_other_line_is_asked_about(lines):
    session, _, mark, _ = lines
    out = session.edit({"line_id": f"{mark} line", "new_content": "x"})
    assert f"it would be '{mark} line 200'. Nothing was written." in out.text


def test_an_id_that_was_given_up_is_no_slip(lines, root):
    session, row, _, _ = lines
    assert session.edit({"line_id": row, "new_content": "line 200 of all"}).ok
    assert not session.edit({"line_id": row, "new_content": "x"}).ok
    assert "x" not in (root / "a.txt").read_text().split("\n")


@pytest.mark.parametrize("style", ["tag", "words"])
def test_a_line_that_is_a_bracket_alone_can_be_quoted(style, sessions, root):
    (root / "a.txt").write_text("x = [\n    1,\n]\n")
    session = sessions(line_ids=style)
    row = session.read().data["content"].split("\n")[2]
    mark = row[:-1].strip("[]\t| ").removeprefix("LID:")
    out = session.edit({"line_id": f"{mark} ]", "new_content": "]  # end"})
    assert out.ok, out.text


def test_of_lines_with_the_same_words_none_is_taken_where_two_ids_are_as_near(session, root):
    (root / "a.txt").write_text("return x\nreturn x\n")
    first, second = session.ids("a.txt")
    wrong = "".join(a if a == b else "z" for a, b in zip(first, second, strict=True))
    assert not session.edit({"line_id": f"{wrong} return x", "new_content": "y"}).ok
    assert (root / "a.txt").read_text() == "return x\nreturn x\n"


def test_a_bare_id_with_a_slip_is_not_guessed(session, root):
    (root / "a.txt").write_text("def f(rows):\n    summed = sum(rows)\n")
    wrong = session.ids("a.txt")[1][:-1] + "z"
    assert not session.edit({"line_id": wrong, "new_content": "    summed = sum(rows) + 1"}).ok
