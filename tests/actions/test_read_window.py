"""Which lines a read shows: the byte limit, long lines, files too large to keep in memory."""

import os
import re

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.errors import ReadFailed
from fsagent_tools.session import texts
from fsagent_tools.toolkit import window as read_window

PLAIN = {"marks": "none"}
TAG = re.compile(r"^\[LID:.{6}\] ", re.M)


@pytest.fixture
def huge(request, monkeypatch):
    """Every file of more than 100 bytes is read through a window, as one of 65 MB is."""
    monkeypatch.setattr(texts, "LOADED", getattr(request, "param", 100))


def read(session, **hidden):
    out = session.tools["read"].call({"file_path": "a.txt"}, **hidden)
    assert out.ok, out.text
    return out.data


def test_a_long_line_that_is_cut_off_does_not_end_the_window(sessions, root):
    lines = [*["x" * 99] * 100, "y" * 60_000, "last"]
    (root / "a.txt").write_text("\n".join(lines))
    told = read(sessions())
    assert told["end_line"] == 102
    assert "… [58,000 more characters]\n" in told["content"]
    assert told["content"].endswith("] last")


@pytest.mark.parametrize("line", ["", "x", "words of a line", "é" * 90, "y" * 2_010])
@pytest.mark.parametrize("style", ["tag", "words"])
@pytest.mark.parametrize("marks", ["ids", "numbers", "none"])
def test_the_byte_limit_is_of_the_text_that_the_model_reads(root, line, style, marks):
    (root / "a.txt").write_text(f"{line}\n" * 60_000)
    tool = toolset("workspace").bind(Workspace(root, line_ids=style))["read"]
    out = tool.call({"file_path": "a.txt"}, marks=marks, limit=60_000)
    size, more = len(out.text.encode()), len(line.encode()) + 14
    words = style == "words" and marks == "ids"  # may take two words
    assert (5_000 if words else 51_200 - more - 40) < size <= 51_200
    assert "continue with offset=" in out.text


@pytest.mark.parametrize("name", ["workspace", "line_ids", "filesystem", "compact"])
def test_a_clipped_line_counts_as_truncated(root, name):
    (root / "a.txt").write_text("x" * 2_001 + "\nlast\n")
    (root / "b.txt").write_text("é" * 2_000 + "\nlast\n")
    tool = next(iter(toolset(name).bind(Workspace(root)).values()))
    for path, truncated in (("a.txt", True), ("b.txt", False)):
        argument = "path" if name == "filesystem" else "file_path"
        told = tool.call({argument: path}).to_dict()
        assert told.get("metadata", told)["truncated"] is truncated


def test_a_window_that_was_asked_for_is_not_truncated_and_one_that_was_cut_is(sessions, root):
    (root / "a.txt").write_text("x" * 99 + "\n" + "y\n" * 2_500)
    tool = sessions().tools["read"]
    for asked, truncated in (({}, True), ({"limit": 5}, False), ({"offset": 2_000}, False)):
        assert tool.call({"file_path": "a.txt", **asked}).data["truncated"] is truncated
    cut = tool.call({"file_path": "a.txt", "limit": 5}, max_bytes=200)
    assert cut.data["truncated"] is True


def test_a_line_too_large_to_show_ends_the_window_before_it(sessions, root):
    (root / "a.txt").write_bytes(b"first\n" + b"y" * (17 << 20) + b"\nlast\n")
    session = sessions()
    told = read(session)
    assert (told["end_line"], told["truncated"]) == (1, True)
    out = session.tools["read"].call({"file_path": "a.txt", "offset": 2})
    assert (out.code, "Line 2 of a.txt" in out.text) == ("FILE_TOO_LARGE", True)
    assert session.tools["read"].call({"file_path": "a.txt", "offset": 3}).ok


def test_lines_that_are_cut_off_are_not_kept_in_memory_without_end(sessions, root, monkeypatch):
    monkeypatch.setattr(read_window, "_LONGEST", 10_000)
    (root / "a.txt").write_text("short\n" + f"{'x' * 3999}\n" * 10)
    assert read(sessions(), max_line_chars=20, max_bytes=3000)["end_line"] == 3


def test_a_wide_line_shown_alone_can_be_edited(sessions, root):
    (root / "a.txt").write_text("é" * 30_000 + "\nlast\n")
    session = sessions()
    (first,) = session.ids(limit=1)
    assert session.edit({"line_id": first, "new_content": "short"}).ok
    assert (root / "a.txt").read_text() == "short\nlast\n"


@pytest.mark.parametrize("length", [1500, 1999, 2000, 2500])
def test_lines_take_what_is_shown_of_them(sessions, root, length):
    (root / "a.txt").write_text(f"{'x' * (length - 1)}\n" * 100)
    shown = f"[LID:a3f2c1] {'x' * 20}… [{length - 21:,} more characters]\n"
    told = "(lines 1-100 of 100; continue with `offset`=101)\n"
    fit = (5000 - len(told)) // len(shown.encode())
    assert read(sessions(), max_line_chars=20, max_bytes=5000)["end_line"] == fit


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("last", [b"", b"end", b"end\r"])
def test_without_marks_a_cut_line_keeps_its_ending(sessions, root, newline, last):
    raw = newline.join([b"short", b"x" * 30, "wörter".encode() * 10, last])
    (root / "a.txt").write_bytes(raw)
    cut = raw.decode().replace("x" * 30, f"{'x' * 20}… [10 more characters]")
    cut = cut.replace("wörter" * 10, f"{('wörter' * 4)[:20]}… [40 more characters]")
    assert read(sessions(), max_line_chars=20, **PLAIN)["content"] == cut
    assert read(sessions(), **PLAIN)["content"] == raw.decode()


@pytest.mark.parametrize("marks", ["ids", "numbers", "none"])
@pytest.mark.parametrize("widest", [20, 2000])
def test_a_huge_marked_file_with_a_broken_character_is_still_read(
    sessions, root, huge, marks, widest
):
    (root / "a.txt").write_bytes(b"\xef\xbb\xbfone\n" + b"two \xff two\n" * 50)
    told = read(sessions(), marks=marks, max_line_chars=widest)
    assert told["content"].count(r"two \xff two") == 50


def test_a_huge_file_keeps_to_the_byte_limit_when_decoding_makes_it_longer(sessions, root, huge):
    (root / "a.txt").write_bytes("déjà vu, élève\n".encode("latin-1") * 5000)
    told = read(sessions(), max_bytes=4000, **PLAIN)
    assert "vu, " in told["content"]
    assert not told["content"].isascii()
    assert 3900 < len(told["content"].encode()) <= 4000
    assert told["content"].count("\n") == told["end_line"]


@pytest.mark.parametrize("marks", ["ids", "numbers", "none"])
@pytest.mark.parametrize("lines", [5, 1 << 18])
@pytest.mark.parametrize("huge", [100, 64 << 20], indirect=True)
def test_a_part_that_is_no_utf8_has_the_lines_of_the_whole(sessions, root, marks, lines, huge):
    (root / "a.txt").write_bytes(b"ascii\n" * lines + "prix\nété%".encode("latin-1"))
    out = sessions().tools["read"].call({"file_path": "a.txt", "offset": lines + 1}, marks=marks)
    assert (out.data["line_count"], out.data["total_lines"]) == (2, lines + 2)
    assert out.data["content"].count("\n") == 1


FRENCH = "l'élève a déjà payé, où est la clé ?\n".encode("latin-1")
ODD = {
    "one language": FRENCH * 60,
    "a degree sign": b"25 \xb0C\n" * 20 + FRENCH * 40,
    "two languages": FRENCH * 40 + "größere Übung für später\n".encode("latin-1") * 20,
    "a byte that no encoding has": FRENCH * 30 + b"\x81\x8d\xff\xe9\n" + FRENCH * 29,
    "one line of UTF-8": FRENCH * 30 + "日本語\n".encode() + FRENCH * 29,
    "one line of Latin-1": "日本語\n".encode() * 30 + FRENCH + "日本語\n".encode() * 29,
}


@pytest.mark.parametrize("what", ODD)
def test_a_line_of_a_huge_file_that_is_no_utf8_reads_the_same_in_every_part(
    sessions, root, huge, what
):
    (root / "a.txt").write_bytes(ODD[what])
    whole = read(sessions(), **PLAIN)["content"]
    session = sessions()
    starts = [41, 1, 31, 21, 11, 51]
    pages = {n: session.read(offset=n, limit=10) for n in starts}
    ids = {n: session.ids(offset=n, limit=10) for n in starts}
    texts = [TAG.sub("", page.data["content"]) for page in pages.values()]
    parts = whole.splitlines()
    assert texts == ["\n".join(parts[n - 1 : n + 9]) for n in starts]
    with (root / "a.txt").open("ab") as file:
        file.write(b"more\n")
    for other in (session, sessions()):
        assert {n: other.ids(offset=n, limit=10) for n in starts} == ids


def test_a_line_of_a_huge_latin_1_file_can_be_edited_by_its_id(sessions, root, huge):
    (root / "a.txt").write_bytes(ODD["a degree sign"])
    session = sessions()
    session.read(limit=1)
    first, *_ = session.ids(offset=31)
    assert session.edit({"line_id": first, "new_content": "payé"}).ok
    lines = (root / "a.txt").read_bytes().splitlines(keepends=True)
    assert lines[30] == "payé\n".encode("latin-1")
    assert lines[:30] + lines[31:] == ODD["a degree sign"].splitlines(keepends=True)[:-1]


def test_a_huge_file_that_shrinks_before_it_is_counted_is_told(sessions, root, huge):
    (root / "a.txt").write_bytes(b"line\n" * 1000)
    workspace = sessions().workspace
    with workspace.files.open("a.txt") as file:
        os.truncate(root / "a.txt", 2000)
        with (
            pytest.raises(ReadFailed, match="shorter"),
            workspace.session.reading(file, workspace.style),
        ):
            pass
