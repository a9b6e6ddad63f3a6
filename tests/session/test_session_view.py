"""What a session remembers: staleness, dropped caches, encodings, several processes."""

import os
import sys
import tracemalloc

import pytest

from fsagent_tools.session import memory

TEXT = "one\ntwo\nthree\nfour\n"


@pytest.fixture
def drop(root, session, monkeypatch):
    """Makes the session forget the text of `a.txt`, as when it has read a lot since."""
    (root / "b.txt").write_text("x" * 100)

    def read_another():
        monkeypatch.setattr(memory, "_KEPT", 10)
        session.read("b.txt")

    return read_another


def test_dropping_a_cached_file_of_another_encoding_changes_nothing(root, session, drop):
    (root / "a.txt").write_bytes("grün\nblau\n".encode("utf-16"))
    before = session.read().text
    drop()
    assert session.read().text == before


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_dropped_file_is_freed_and_keeps_its_ids(root, session, drop, newline):
    (root / "a.txt").write_bytes((f"{'x' * 98}{newline}" * 60_000).encode())
    session.read("b.txt")
    tracemalloc.start()
    try:
        ids = session.ids(limit=5)
        assert tracemalloc.get_traced_memory()[0] > 5_000_000
        drop()
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()
    assert session.ids(limit=5) == ids


def test_a_closed_workspace_holds_no_texts_and_may_be_used_again(root, session):
    (root / "a.txt").write_text("x\n" * 1_000_000)
    tracemalloc.start()
    try:
        ids = session.ids(limit=5)
        session.workspace.close()
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()
    assert session.edit({"line_id": ids[1], "new_content": "y"}).ok


def test_a_dropped_file_is_not_taken_for_changed(root, session, drop):
    (root / "a.txt").write_text(TEXT)
    ids = session.ids()
    drop()
    session.ids()
    change = {"line_id": ids[1], "new_content": "TWO"}
    assert session.edit(change, staleness="file").ok


def lines_run(module, call):
    """How many lines of the module run during `call`."""
    ran = []

    def note(frame, event, _):
        if frame.f_code.co_filename != module.__file__:
            return None
        ran.extend(["line"] * (event == "line"))
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        assert call().ok
    finally:
        sys.settrace(before)
    return len(ran)


def test_a_read_takes_no_longer_when_much_was_read_before(root, session):
    (root / "a.txt").write_text(TEXT)
    session.read("a.txt")
    few = lines_run(memory, lambda: session.read("a.txt"))
    for n in range(200):
        (root / f"{n}.txt").write_text(TEXT)
        session.read(f"{n}.txt")
    assert lines_run(memory, lambda: session.read("a.txt")) <= few


def test_an_encoding_given_for_one_read_does_not_stick(root, session):
    (root / "a.txt").write_text("grün\nblau\n")
    session.read()
    out = session.tools["read"].call({"file_path": "a.txt"}, encoding="latin-1")
    assert "grÃ¼n" in out.text
    assert "grün" in session.read().text
    first = session.ids()[0]
    assert session.edit({"line_id": first, "new_content": "süß"}).ok
    assert (root / "a.txt").read_text() == "süß\nblau\n"


def test_file_staleness_outlives_a_refusal_in_another_process(root, sessions):
    (root / "a.txt").write_text(TEXT)
    ids = sessions("line_ids").ids()
    (root / "a.txt").write_text(TEXT + "five\n")
    change = {"line_id": ids[0], "new_content": "ONE"}
    for _ in range(3):
        out = sessions("line_ids").edit(change)
        assert out.code == "STALE_LINE_IDS"
        assert "File has changed since last read. Re-read" in out.text
    fresh = sessions("line_ids")
    assert fresh.ids()[:4] == ids
    assert fresh.edit(change).ok


def test_line_staleness_accepts_a_change_elsewhere_and_ids_of_an_earlier_process(root, sessions):
    (root / "a.txt").write_text(TEXT)
    ids = sessions().ids()
    (root / "a.txt").write_text("zero\n" + TEXT)
    assert sessions().edit({"line_id": ids[1], "new_content": "TWO"}).ok
    assert (root / "a.txt").read_text() == "zero\none\nTWO\nthree\nfour\n"


def test_a_range_into_which_a_line_came_is_refused_once_and_shown(root, session):
    (root / "a.txt").write_text(TEXT)
    ids = session.ids()
    (root / "a.txt").write_text("one\ntwo\nintruder\nthree\nfour\n")
    change = {"start_line_id": ids[1], "end_line_id": ids[2], "new_content": "2\n3"}
    out = session.edit(change)
    assert out.code == "STALE_LINE_IDS"
    assert "intruder" in out.text
    assert "Nothing was written" in out.text
    assert session.edit(change).ok
    assert (root / "a.txt").read_text() == "one\n2\n3\nfour\n"


def test_a_range_that_lost_a_line_is_refused_in_this_and_in_a_new_process(root, sessions):
    (root / "a.txt").write_text(TEXT)
    ids = sessions().ids()
    (root / "a.txt").write_text("one\nthree\nfour\n")
    change = {"start_line_id": ids[0], "end_line_id": ids[2], "new_content": "x"}
    assert sessions().edit(change).code == "STALE_LINE_IDS"


def test_a_range_over_lines_never_shown_is_refused(root, session):
    (root / "a.txt").write_text("".join(f"line {n}\n" for n in range(100)))
    top = session.ids(limit=5)
    bottom = session.ids(offset=90, limit=5)
    change = {"start_line_id": top[-1], "end_line_id": bottom[0], "new_content": "x"}
    assert session.edit(change).code == "STALE_LINE_IDS"


def test_a_retired_id_is_named_as_such(root, session):
    (root / "a.txt").write_text(TEXT)
    ids = session.ids()
    assert session.edit({"line_id": ids[1], "new_content": "TWO"}).ok
    out = session.edit({"line_id": ids[1], "new_content": "2"})
    assert out.code == "STALE_LINE_IDS"
    assert "by an edit" in out.text
    assert "TWO" in out.text


def test_several_edits_need_one_read(root, session):
    (root / "a.txt").write_text(TEXT)
    ids = session.ids()
    for n, line_id in enumerate(ids):
        assert session.edit({"line_id": line_id, "new_content": f"{n}\n{n}b"}).ok
    assert (root / "a.txt").read_text() == "0\n0b\n1\n1b\n2\n2b\n3\n3b\n"


def test_the_strict_toolset_wants_a_read_after_each_edit_and_each_write(root, sessions):
    session = sessions("line_ids")
    (root / "a.txt").write_text(TEXT)
    ids = session.ids()
    assert session.edit({"line_id": ids[0], "new_content": "ONE"}).ok
    out = session.edit({"line_id": ids[1], "new_content": "TWO"})
    assert out.code == "NO_LINE_INDEX"
    assert "Read the file first to generate line IDs" in out.text
    ids = session.ids()
    assert session.write("new\n").ok
    assert session.edit({"line_id": ids[0], "new_content": "x"}).code == "NO_LINE_INDEX"


def test_a_refused_write_keeps_the_line_ids(root, sessions):
    from fsagent_tools import Policy

    session = sessions(policy=Policy(max_file_size=100))
    (root / "a.txt").write_text(TEXT)
    ids = session.ids()
    assert session.write("x" * 200 + "\n").code == "FILE_TOO_LARGE"
    assert session.edit({"line_id": ids[0], "new_content": "ONE"}).ok


def test_a_deleted_and_restored_file_keeps_its_ids(root, session):
    (root / "a.txt").write_text(TEXT)
    ids = session.ids()
    os.unlink(root / "a.txt")
    assert session.read().code == "FILE_NOT_FOUND"
    (root / "a.txt").write_text(TEXT)
    assert session.ids() == ids


def test_two_sessions_share_ids_and_see_each_other_s_edits(root, sessions):
    (root / "a.txt").write_text(TEXT)
    a, b = sessions(), sessions()
    ids = a.ids()
    assert b.ids() == ids
    assert a.edit({"line_id": ids[0], "new_content": "ONE"}).ok
    assert b.edit({"line_id": ids[0], "new_content": "1"}).code == "STALE_LINE_IDS"
    assert b.edit({"line_id": ids[3], "new_content": "FOUR"}).ok
    assert (root / "a.txt").read_text() == "ONE\ntwo\nthree\nFOUR\n"


@pytest.mark.parametrize("size", [10, 2 << 20])
def test_a_racy_change_of_equal_size_is_noticed(root, session, size):
    for content in ("a", "b", "c", "d"):
        (root / "a.txt").write_text(content * size + "\n")
        os.utime(root / "a.txt", ns=(10**18, 10**18))
        assert session.read(limit=1).text.split("] ")[1][0] == content


def test_a_write_that_only_changes_endings_does_not_claim_that_nothing_changed(root, session):
    (root / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    session.read()
    out = session.write("one\ntwo\n")
    assert out.ok
    assert (root / "a.txt").read_bytes() == b"one\ntwo\n"
    assert "already had this content" not in out.text


def test_a_write_that_only_drops_the_final_newline_shows_it(root, session):
    (root / "a.txt").write_text("one\ntwo\n")
    session.read()
    out = session.write("one\ntwo")
    assert "already had this content" not in out.text
    assert "No newline at end of file" in out.text


def test_a_write_does_not_double_a_byte_order_mark(root, session):
    (root / "a.txt").write_bytes(b"\xef\xbb\xbfone\n")
    assert session.write("\ufeffone\ntwo\n").ok
    assert (root / "a.txt").read_bytes() == b"\xef\xbb\xbfone\ntwo\n"


def test_data_keys_do_not_depend_on_values(root, session):
    (root / "a.txt").write_text(TEXT)
    ids = session.ids()
    first = session.edit({"line_id": ids[0], "new_content": "1"}).to_dict()
    second = session.edit({"line_id": ids[1], "new_content": "2\n3\n4"}).to_dict()
    assert list(first) == list(second)


def test_a_write_and_an_edit_keep_the_ids_of_lines_that_stay_also_of_repeated_ones(root, session):
    (root / "a.txt").write_text("}\n}\n\nx\n\n}\n}\n")
    ids = session.ids()
    assert session.write("}\n}\n\ny\n\n}\n}\n").ok
    now = session.ids()
    assert now[:3] + now[4:] == ids[:3] + ids[4:]
    change = {"start_line_id": now[0], "end_line_id": now[-1]}
    assert session.edit({**change, "new_content": "}\n}\n\nz\n\n}\n}\n"}).ok
    last = session.ids()
    assert last[:3] + last[4:] == ids[:3] + ids[4:]


def test_prefixes_of_another_file_are_not_written_into_this_one(root, session):
    (root / "a.txt").write_text(TEXT)
    (root / "b.txt").write_text("alpha\nbeta\n")
    ids = session.ids()
    pasted = session.read("b.txt").text
    out = session.edit({"line_id": ids[0], "new_content": pasted})
    assert out.code == "INVALID_CHANGE"
    assert "new_content" in out.text
    assert (root / "a.txt").read_text() == TEXT
