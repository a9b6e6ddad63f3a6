"""IDs of lines that changed in white space only live on, for reading."""

import pytest

CODE = "def f(x):\n  if x:\n    return 1\n  return 0\n\n\ndef g():\n  return f(1)\n"
FORMATTED = CODE.replace("  ", "    ")


@pytest.fixture
def read(session, root):
    (root / "a.txt").write_text(CODE)
    session.before = session.ids()
    return session


def test_a_formatter_leaves_the_ids_of_every_line(read, root):
    (root / "a.txt").write_text(FORMATTED)
    assert read.ids() == read.before


def test_a_line_that_was_respaced_is_edited_only_after_it_was_shown(read, root):
    (root / "a.txt").write_text(FORMATTED)
    change = {"line_id": read.before[3], "new_content": "    return 2"}
    out = read.edit(change)
    assert out.code == "STALE_LINE_IDS"
    assert f"[LID:{read.before[3]}]     return 0" in out.text
    assert (root / "a.txt").read_text() == FORMATTED
    assert read.edit(change).ok
    assert (root / "a.txt").read_text() == FORMATTED.replace("return 0", "return 2")


@pytest.mark.parametrize("place", ["after_line_id", "before_line_id"])
def test_nor_is_text_put_beside_it(read, root, place):
    (root / "a.txt").write_text(FORMATTED)
    assert read.edit({place: read.before[3], "new_content": "x"}).code == "STALE_LINE_IDS"


def test_the_guard_outlives_the_process(read, sessions, root):
    (root / "a.txt").write_text(FORMATTED)
    read.read(offset=1, limit=1)
    read.close()
    out = sessions().edit({"line_id": read.before[3], "new_content": "    return 2"})
    assert out.code == "STALE_LINE_IDS"
    assert (root / "a.txt").read_text() == FORMATTED


@pytest.mark.parametrize("lines", [2, 9])
def test_ids_outlive_a_formatter_and_the_process(read, sessions, root, lines):
    session = sessions()
    shown = session.ids(limit=lines)
    session.close()
    (root / "a.txt").write_text(FORMATTED)
    session = sessions()
    assert session.ids(limit=lines) == shown
    session.close()
    (root / "a.txt").write_text(CODE)
    out = sessions().edit({"line_id": shown[1], "new_content": "  if not x:"})
    assert out.code == "STALE_LINE_IDS"
    assert f"[LID:{shown[1]}]   if x:" in out.text


def test_trailing_white_space_changes_no_id(read, root):
    (root / "a.txt").write_text(CODE.replace("\n", " \n"))
    kept = [line_id for line_id, line in zip(read.before, CODE.split("\n"), strict=False) if line]
    assert {*kept} <= {*read.ids()}


def test_a_line_with_other_words_is_another_line(read, root):
    (root / "a.txt").write_text(FORMATTED.replace("return 0", "return  x"))
    after = read.ids()
    assert after[3] not in read.before
    assert after[:3] == read.before[:3]
