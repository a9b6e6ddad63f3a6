"""Only what was shown counts: a hit of a search is no reading of the file."""

import pytest

from fsagent_tools import Workspace, toolset

LINES = "".join(f"line {n} of the file\n" for n in range(1, 101))


@pytest.mark.parametrize("name", ["workspace", "line_ids"])
def test_a_hit_does_not_lift_the_staleness_of_a_file(sessions, root, name):
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    session = sessions(name, staleness="file")
    ids = session.ids()
    (root / "a.txt").write_text("one\nTWO\nthree\n")
    assert session.tools["grep"].call({"pattern": "one"}).ok
    assert session.workspace.line_index("a.txt")
    out = session.edit({"line_id": ids[2], "new_content": "3"})
    assert out.code == "STALE_LINE_IDS"
    session.read()
    assert session.edit({"line_id": ids[2], "new_content": "3"}).ok


def test_a_hit_in_a_file_never_read_can_be_edited_by_its_id(sessions, root):
    (root / "a.txt").write_text("one\ntwo\n")
    session = sessions(staleness="file")
    hit = session.tools["grep"].call({"pattern": "two"}).data["matches"][0]["line_id"]
    assert session.edit({"line_id": hit, "new_content": "2"}).ok


@pytest.fixture
def compact(root):
    (root / "a.txt").write_text(LINES)
    return toolset("compact").bind(Workspace(root))


def replaced(tools, root, old, new):
    call = {"file_path": str(root / "a.txt"), "old_string": old, "new_string": new}
    return tools["Edit"].call(call)


def test_a_hit_opens_the_gate_for_its_line_only(compact, root):
    assert compact["Grep"].call({"pattern": "line 77 "}).ok
    out = replaced(compact, root, "line 5 of", "line five of")
    assert out.code == "FILE_NOT_READ"
    assert (root / "a.txt").read_text() == LINES
    out = replaced(compact, root, "line 77 of the file\nline 78 of", "x\ny of")
    assert out.code == "FILE_NOT_READ"
    assert replaced(compact, root, "line 77 of", "line seventy-seven of").ok
    assert "line seventy-seven of the file\n" in (root / "a.txt").read_text()


def test_text_may_be_put_beside_a_line_that_was_a_hit(compact, root):
    assert compact["Grep"].call({"pattern": "line 77 "}).ok
    assert replaced(compact, root, "line 77 of the file\n", "line 77 of the file\nmore\n").ok


def test_a_file_that_came_in_place_of_one_that_was_read_was_not_read(compact, root):
    (root / "b.txt").write_text(LINES.replace("line", "row"))
    assert compact["Read"].call({"file_path": str(root / "a.txt")}).ok
    compact["Read"].workspace.move("b.txt", "a.txt", overwrite=True)
    assert replaced(compact, root, "row 5 of", "row five of").code == "FILE_NOT_READ"


def test_a_hit_moves_with_its_file(compact, root):
    (root / "b.txt").write_text(LINES.replace("line", "row"))
    assert compact["Grep"].call({"pattern": "(line|row) 5 "}).ok
    compact["Read"].workspace.move("b.txt", "a.txt", overwrite=True)
    assert replaced(compact, root, "row 6 of", "row six of").code == "FILE_NOT_READ"
    assert replaced(compact, root, "row 5 of", "row five of").ok


def test_a_copy_is_seen_as_far_as_what_it_was_made_from(compact, root):
    (root / "b.txt").write_text(LINES.replace("line", "row"))
    workspace = compact["Read"].workspace
    assert compact["Read"].call({"file_path": str(root / "a.txt")}).ok
    workspace.copy("a.txt", "c.txt")
    workspace.copy("b.txt", "a.txt", overwrite=True)
    assert replaced(compact, root, "row 5 of", "row five of").code == "FILE_NOT_READ"
    workspace.copy("c.txt", "a.txt", overwrite=True)
    assert replaced(compact, root, "line 5 of", "line five of").ok


@pytest.mark.parametrize("tool", ["Read", "Grep"])
@pytest.mark.parametrize("gone", ["moved", "removed"])
def test_what_comes_where_a_seen_file_was_is_not_seen(compact, root, tool, gone):
    seen = {"file_path": str(root / "a.txt")} if tool == "Read" else {"pattern": "line 5 "}
    assert compact[tool].call(seen).ok
    workspace = compact["Read"].workspace
    _ = workspace.move("a.txt", "b.txt") if gone == "moved" else workspace.remove("a.txt")
    (root / "a.txt").write_text(LINES)
    assert replaced(compact, root, "line 5 of", "line five of").code == "FILE_NOT_READ"
