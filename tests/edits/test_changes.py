"""What an edit by ID makes of the text it is given: prefixes, endings, long lines, repetitions."""

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.edits.checks import Context
from fsagent_tools.edits.indentation import fit
from fsagent_tools.lines.hunks import Hunk
from fsagent_tools.lines.source import Lines

TEXT = "".join(f"value_{n} = {n}\n" for n in range(8))


@pytest.fixture
def ids(root, session):
    (root / "a.txt").write_text(TEXT)
    return session.ids()


def text_with(**lines):
    """`TEXT` with lines replaced: `at_3="x\\n"` is in the place of line 3, from 0."""
    rows = TEXT.splitlines(keepends=True)
    for name, line in lines.items():
        rows[int(name.removeprefix("at_"))] = line
    return "".join(rows)


def test_prefixes_before_every_line_are_taken_off(root, session, ids):
    new = f"[LID:{ids[2]}] two\n\n[LID:{ids[3]}] three"
    change = {"start_line_id": ids[2], "end_line_id": ids[3], "new_content": new}
    assert session.edit(change).ok
    assert (root / "a.txt").read_text() == text_with(at_2="two\n\n", at_3="three\n")


@pytest.mark.parametrize("place", ["line_id", "after_line_id", "before_line_id"])
def test_prefixes_before_some_lines_are_refused(root, session, ids, place):
    out = session.edit({place: ids[2], "new_content": f"[LID:{ids[2]}] two\nmore"})
    assert out.code == "INVALID_CHANGE"
    assert "before some lines" in out.text
    assert (root / "a.txt").read_text() == TEXT


def test_new_text_may_come_as_a_list_of_lines(root, session, ids):
    assert session.edit({"line_id": ids[2], "new_content": ["two", "", "more\nlines\n"]}).ok
    assert (root / "a.txt").read_text() == text_with(at_2="two\n\nmore\nlines\n\n")


@pytest.mark.parametrize(
    ("new", "put"),
    [
        ([""], "\n"),
        (["\n"], "\n"),
        (["two\n"], "two\n"),
        (["two\n", "more"], "two\nmore\n"),
        (["two\n", "more\n"], "two\nmore\n"),
        (["two\n", "more\n", ""], "two\nmore\n"),
        (["two\n", "more", "still"], "two\n\nmore\nstill\n"),
    ],
)
def test_lines_of_a_list_bring_their_endings_only_if_all_do(root, session, ids, new, put):
    assert session.edit({"line_id": ids[2], "new_content": new}).ok
    assert (root / "a.txt").read_text() == text_with(at_2=put)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([], "`changes` is empty. Nothing was written. Give at least one change."),
        ([{"line_id": 2, "new_content": "a\0b"}], "a NUL character. Nothing was written."),
        ([{"line_id": 2, "new_content": "a\0b\nfine"}], "a NUL character. Nothing was written."),
        ([{"line_id": 2, "new_content": "\ud800"}], "a lone surrogate"),
    ],
)
def test_what_no_change_can_be_is_refused_in_words(root, session, ids, changes, told):
    named = [{**change, "line_id": ids[change["line_id"]]} for change in changes]
    out = session.edit(*named)
    assert out.code == "INVALID_CHANGE"
    assert told in out.text
    assert (root / "a.txt").read_text() == TEXT


def test_lines_of_a_range_that_stay_as_they_are_keep_their_ids(session, ids):
    change = {"start_line_id": ids[2], "end_line_id": ids[4]}
    out = session.edit({**change, "new_content": "value_2 = 2\nthree\nvalue_4 = 4"})
    assert (out.data["insertions"], out.data["deletions"]) == (1, 1)
    assert session.edit({"line_id": ids[2], "new_content": "two"}).ok
    assert session.edit({"line_id": ids[4], "new_content": "four"}).ok


@pytest.mark.parametrize(
    ("places", "told"),
    [
        ([{"line_id": 2}, {"start_line_id": 1, "end_line_id": 3}], "2 and 3 both address line 3."),
        (
            [{"after_line_id": 2}, {"before_line_id": 3}],
            "2 and 3 both address the place above line 4",
        ),
        (
            [{"start_line_id": 2, "end_line_id": 4}, {"after_line_id": 3}],
            "2 and 3 both address the place above line 5",
        ),
    ],
)
def test_changes_of_one_place_are_refused_by_their_numbers(root, session, ids, places, told):
    named = [{key: ids[at] for key, at in place.items()} for place in [{"line_id": 0}, *places]]
    out = session.edit(*({**place, "new_content": f"new {n}"} for n, place in enumerate(named)))
    assert f"Changes {told}" in out.text
    assert (root / "a.txt").read_text() == TEXT


@pytest.mark.parametrize("side", ["after_line_id", "before_line_id"])
def test_insertions_beside_one_line_come_in_the_order_of_the_call(root, session, ids, side):
    new = [{side: ids[2], "new_content": text} for text in ("first", "second\nand third", "last")]
    assert session.edit(*new).ok
    lines = TEXT.split("\n")
    at = 2 + (side == "after_line_id")
    lines[at:at] = ["first", "second", "and third", "last"]
    assert (root / "a.txt").read_text() == "\n".join(lines)


def test_insertions_after_a_last_line_that_goes_stand_apart(root, session):
    (root / "a.txt").write_text("k\na")
    shown = session.ids()
    new = [{"after_line_id": shown[1], "new_content": text} for text in "xy"]
    assert session.edit({"line_id": shown[1], "new_content": ""}, *new).ok
    assert (root / "a.txt").read_text() == "k\nx\ny"


def test_a_line_that_stood_there_is_no_prefix_to_be_missed(root, session, ids):
    new = f"value_2 = 2\n[LID:{ids[3]}] three"
    change = {"start_line_id": ids[2], "end_line_id": ids[3], "new_content": new}
    assert session.edit(change).ok
    assert (root / "a.txt").read_text() == text_with(at_3="three\n")


def test_a_carriage_return_ends_a_line_only_in_a_text_that_ends_lines_so(root, session):
    (root / "a.txt").write_bytes(b"one\rtwo\rthree\r")
    _, two, _ = session.ids()
    out = session.edit({"line_id": two, "new_content": "2\r2b\n2c"})
    assert (root / "a.txt").read_bytes() == b"one\r2\r2b\r2c\rthree\r"
    assert out.data["insertions"] == out.text.count("\n+[LID:") == 3
    for new, put in (("2\r", b"2\r"), (["2\r2b", ""], b"2\r2b\r\r")):
        (root / "c.txt").write_bytes(b"one\rtwo\rthree\r")
        assert session.edit({"line_id": session.ids("c.txt")[1], "new_content": new}, path="c.txt")
        assert (root / "c.txt").read_bytes() == b"one\r" + put + b"three\r"
    (root / "b.txt").write_bytes(b"one\ntwo\r\nthree\n")
    one, two, _ = session.ids("b.txt")
    changes = {"line_id": two, "new_content": "2\r"}, {"line_id": one, "new_content": "1\rb"}
    assert session.edit(*changes, path="b.txt").ok
    assert (root / "b.txt").read_bytes() == b"1\rb\n2\r\nthree\n"


@pytest.mark.parametrize("line", ["x" * 2001, "é" * 2001])
def test_a_line_that_was_shown_clipped_is_replaced_only_after_it_was_read_alone(
    root, session, line
):
    (root / "a.txt").write_text(f"first\n{line}\nlast\n")
    _, long, last = session.ids()
    change = {"start_line_id": long, "end_line_id": last, "new_content": "short\nend"}
    out = session.edit(change)
    assert f"would replace line {long}, of which you saw only the first 2,000" in out.text
    assert (root / "a.txt").read_text() == f"first\n{line}\nlast\n"
    session.read(offset=2, limit=1)
    assert session.edit(change).ok
    assert (root / "a.txt").read_text() == "first\nshort\nend\n"


def test_a_line_of_two_thousand_characters_is_seen_whole(root, session):
    (root / "a.txt").write_text("é" * 2000 + "\nlast\n")
    assert session.edit({"line_id": session.ids()[0], "new_content": "short"}).ok


@pytest.mark.parametrize(
    ("place", "line", "new"),
    [
        ("after_line_id", 3, "value_4 = 4\nvalue_5 = 5"),
        ("after_line_id", 3, "value_2 = 2\nvalue_3 = 3"),
        ("before_line_id", 3, "value_3 = 3\nvalue_4 = 4"),
        ("before_line_id", 0, "value_0 = 0\nvalue_1 = 1"),
        ("after_line_id", 7, "value_6 = 6\nvalue_7 = 7"),
    ],
)
def test_lines_that_stand_beside_the_place_already_are_not_inserted(
    root, session, ids, place, line, new
):
    out = session.edit({place: ids[line], "new_content": new})
    assert "which stay" in out.text
    assert (root / "a.txt").read_text() == TEXT


@pytest.mark.parametrize(
    ("first", "last", "new", "where"),
    [
        (2, 3, "value_1 = 1\ntwo\nthree", "above"),
        (2, 3, "two\nthree\nvalue_4 = 4", "below"),
        (0, 0, "zero\nvalue_1 = 1", "below"),
        (7, 7, "value_6 = 6\nseven", "above"),
    ],
)
def test_a_range_that_repeats_the_line_beside_it_is_refused(
    root, session, ids, first, last, new, where
):
    change = {"start_line_id": ids[first], "end_line_id": ids[last], "new_content": new}
    out = session.edit(change)
    assert f"repeats the line {where}, which stays" in out.text
    assert (root / "a.txt").read_text() == TEXT


def test_other_lines_are_inserted_and_replace_as_they_are(root, session, ids):
    assert session.edit({"after_line_id": ids[0], "new_content": "new\nvalue_9 = 9"}).ok
    assert session.edit({"line_id": ids[4], "new_content": "four\nfour_b"}).ok
    expected = text_with(at_0="value_0 = 0\nnew\nvalue_9 = 9\n", at_4="four\nfour_b\n")
    assert (root / "a.txt").read_text() == expected


def test_words_of_a_placeholder_inside_a_sentence_are_text(root, session, ids):
    new = "the other values are read from the existing file, one after the other, in order"
    assert session.edit({"line_id": ids[2], "new_content": new}).ok


@pytest.mark.parametrize("place", ["after_line_id", "before_line_id"])
def test_a_blank_line_says_nothing_of_depth(root, session, place):
    (root / "a.md").write_text("- one\n\n    code\n")
    blank = session.ids("a.md")[1]
    assert session.edit({place: blank, "new_content": "text"}, path="a.md").ok


def test_the_depth_of_a_range_is_that_of_its_first_line_with_text(root, session):
    (root / "a.md").write_text("- one\n\n    code\n    more\n")
    _, blank, code, _ = session.ids("a.md")
    change = {"start_line_id": blank, "end_line_id": code, "new_content": "code two\nthree"}
    assert "would lose 4 columns" in session.edit(change, path="a.md").text
    change["new_content"] = "\n    code two"
    assert session.edit(change, path="a.md").ok


@pytest.mark.parametrize("found", [(False, None), (None, True), (None, None), (True, True)])
def test_where_one_reading_is_not_known_to_parse_none_is_taken_silently(found):
    block = Hunk(1, 2, (b"if x:", b"    y()"))
    text = b"def f():\n    z()\n"
    verdicts = {text: True, b"def f():\nif x:\n    y()\n": found[0]}
    context = Context(
        Lines.of(text, b"\n"), text, lambda data: verdicts.get(data, found[1]), "a.py"
    )
    fitted = fit(context, block, 1)
    assert fitted.hunk == block
    assert fitted.doubt


def test_a_call_without_changes_says_so_whatever_became_of_the_file(root):
    tools = toolset("line_ids").bind(Workspace(root))
    (root / "a.txt").write_text(TEXT)
    assert tools["read"].call({"file_path": "a.txt"}).ok
    (root / "a.txt").write_text("of others\n")
    out = tools["edit_lines"].call({"file_path": "a.txt", "changes": []})
    assert "`changes` is empty. Nothing was written." in out.text
    assert "changed since" not in out.text
