"""Bytes that nobody addressed stay, whatever the file is written in."""

import pytest

TEXTS = {
    "CRLF": ("ascii", "one\r\ntwo\r\nthree\r\n", "one\r\nTWO\r\nthree\r\n"),
    "CR": ("ascii", "one\rtwo\rthree\r", "one\rTWO\rthree\r"),
    "mixed ends": ("ascii", "one\r\ntwo\nthree\r\n", "one\r\nTWO\nthree\r\n"),
    "a byte-order mark": ("utf-8-sig", "one\ntwo\n", "one\nTWO\n"),
    "UTF-16 with its mark": ("utf-16", "one é\ntwo\n", "one é\nTWO\n"),
    "no end of the last line": ("utf-8", "one\ntwo", "one\nTWO"),
    "separators inside a line": ("utf-8", "one\x0b\x0c\x85\u2028\u2029 end\ntwo\n", None),
    "decomposed letters": ("utf-8", "e\u0301\ntwo\n", "e\u0301\nTWO\n"),
    "Latin-1": ("latin-1", "caf\xe9 cr\xe8me br\xfbl\xe9e d\xe9j\xe0 vu\ntwo\n", None),
}


@pytest.mark.parametrize("what", TEXTS)
@pytest.mark.parametrize("name", ["filesystem", "deepagents", "file_ops"])
def test_an_edit_keeps_what_it_does_not_address(start, root, what, name):
    encoding, text, wanted = TEXTS[what]
    (root / "a.txt").write_bytes(text.encode(encoding))
    path = "path" if name == "filesystem" else "file_path"
    tool = start(name)["edit" if name == "filesystem" else "edit_file"]
    words = {"old_string": "two", "new_string": "TWO"}
    out = tool.call({path: "/a.txt" if name == "deepagents" else "a.txt", **words})
    assert out.ok, out.text
    wanted = wanted or text.replace("two", "TWO")
    assert (root / "a.txt").read_bytes() == wanted.encode(encoding)


def test_new_lines_get_the_ends_of_their_file(start, root):
    (root / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    tool = start("filesystem")["insert"]
    assert tool.call({"path": "a.txt", "line": 2, "content": "new\nlines\n"}).ok
    assert (root / "a.txt").read_bytes() == b"one\r\nnew\r\nlines\r\ntwo\r\n"


def test_what_an_encoding_cannot_hold_is_refused_and_nothing_written(start, root):
    raw = "caf\xe9 cr\xe8me br\xfbl\xe9e d\xe9j\xe0 vu\ntwo\n".encode("latin-1")
    (root / "a.txt").write_bytes(raw)
    tool = start("filesystem")["edit"]
    out = tool.call({"path": "a.txt", "old_string": "two", "new_string": "\u4e8c \u2713"})
    assert not out.ok
    assert (root / "a.txt").read_bytes() == raw


def test_what_is_no_text_is_not_edited(start, root):
    raw = bytes(range(256)) * 20
    (root / "a.bin").write_bytes(raw)
    tools = start("filesystem")
    assert tools["read"].call({"path": "a.bin"}).code == "BINARY_FILE"
    words = {"old_string": "ABC", "new_string": "abc", "fuzzy_threshold": None}
    assert not tools["edit"].call({"path": "a.bin", **words}).ok
    assert (root / "a.bin").read_bytes() == raw


def test_a_half_surrogate_of_a_model_is_no_text(start, root):
    (root / "a.txt").write_text("one\n")
    out = start()["write"].call({"file_path": "a.txt", "content": "x\ud800"})
    assert not out.ok
    assert (root / "a.txt").read_text() == "one\n"
