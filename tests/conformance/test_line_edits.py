"""Edits by line that others recorded, and real commits, replayed by the IDs that a read showed."""

import re

import pytest

from tests.conformance.rows import rows

pytestmark = pytest.mark.full

CASES, COMMITS = rows("line_edit_cases"), rows("real_edits")
UNASKABLE = "names a line by number, which an edit by ID cannot: there is no such ID"
BEYOND = {
    "L0066": "an insertion with an end is an unknown shape",
    "L0067": "an insertion with an end is an unknown shape",
}


def line_id(ids, number, anchor):
    if anchor == "stale":
        return next(f"{n:06x}" for n in range(2**24) if f"{n:06x}" not in ids)
    if not 1 <= number <= len(ids):
        pytest.skip(UNASKABLE)
    return ids[number - 1]


def change(edit, ids):
    line, text = edit["line"], edit["text"]
    if edit["op"] in ("append", "insert_after", "insert_before"):
        place = "before_line_id" if edit["op"] == "insert_before" else "after_line_id"
        if place == "after_line_id" and line == 0:
            place, line = "before_line_id", 1
        if place == "before_line_id" and line == len(ids) + 1:
            place, line = "after_line_id", len(ids)
        asked = {place: line_id(ids, line, edit["anchor"]), "new_content": text or "\n"}
        if edit["end_line"] or edit.get("end_anchor"):
            asked["end_line_id"] = ids[(edit["end_line"] or line) - 1]
        return asked
    text = "" if edit["op"] == "delete" else text
    if not edit["end_line"]:
        return {"line_id": line_id(ids, line, edit["anchor"]), "new_content": text}
    return {
        "start_line_id": line_id(ids, line, edit["anchor"]),
        "end_line_id": line_id(ids, edit["end_line"], edit["end_anchor"] or "fresh"),
        "new_content": text,
    }


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["id"])
def test_a_recorded_edit_by_line(root, session, row):
    (root / "a.txt").write_bytes(row["original"].encode())
    ids = session.ids()
    out = session.edit(*[change(edit, ids) for edit in row["edits"]])
    after = (root / "a.txt").read_bytes().decode()
    if row["expect_kind"] == "error":
        assert not out.ok
        assert after == row["original"]
    else:
        assert out.ok, out.text
        assert after == row["expect"]


def parts(hunk, ids):
    """The change that a hunk of a commit is; IDs are those of the lines before all changes."""
    new = hunk["new"].split("\n")
    new = new[:-1] if not new[-1] else new
    start, count = hunk["old_start"] - 1, hunk["old_lines"]
    if not count and start == len(ids):
        return {"after_line_id": ids[-1], "new_content": new}
    if not count:
        return {"before_line_id": ids[start], "new_content": new}
    new = new if hunk["new_lines"] else ""
    return {"start_line_id": ids[start], "end_line_id": ids[start + count - 1], "new_content": new}


def all_ids(session):
    ids = []
    while True:
        out = session.read(offset=len(ids) + 1)
        ids += session.ids(offset=len(ids) + 1)
        if not out.data["truncated"]:
            return ids


def confirmed(session, *changes):
    """Sent with the words that the refusal asks for, as when a commit really repeats a line."""
    out = session.edit(*changes)
    while way := re.search(r"behind the ID:\n((\w+) .*)", out.text):
        words, line_id = way[1], way[2]
        for one in changes:
            one.update({k: words for k, v in one.items() if v in (line_id, words)})
        out = session.edit(*changes)
    return out


@pytest.mark.parametrize("row", COMMITS, ids=lambda row: row["id"])
@pytest.mark.parametrize("order", ["bottom-up", "top-down", "at once"])
def test_a_real_commit_by_line_ids_gives_its_bytes(root, session, row, order):
    (root / "a.txt").write_bytes(row["before"].encode())
    ids = all_ids(session)
    changes = [parts(hunk, ids) for hunk in row["hunks"]]
    if order == "at once":
        out = confirmed(session, *changes)
        assert out.ok, out.text
    else:
        for one in changes[:: -1 if order == "bottom-up" else 1]:
            out = confirmed(session, one)
            assert out.ok, out.text
    after = row["after"]
    if row["final_newline_before"] and not row["final_newline_after"]:
        after += "\n"  # an edit by line leaves the last newline as it is
    assert (root / "a.txt").read_bytes() == after.encode()
