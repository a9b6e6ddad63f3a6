"""A whole text in place of another: what nobody has seen of that is not lost without a word."""

import pytest

from fsagent_tools import Workspace, toolset

TEXT = "".join(f"value_{n} = {n}\n" for n in range(60))
WRITES = {
    "lines": ("read", "write"),
    "workspace": ("read", "write"),
    "line_ids": ("read", "write"),
    "compact": ("Read", "Write"),
    "file_ops": ("read_file", "write"),
    "filesystem": ("read", "write"),
    "deepagents": ("read_file", "write_file"),
    "anthropic": ("str_replace_based_edit_tool", "str_replace_based_edit_tool"),
}
every_write = pytest.mark.parametrize("name", WRITES)


class Model:
    def __init__(self, name, root):
        self.file, self.name = root / "a.py", name
        self.file.write_text(TEXT)
        self.tools = toolset(name).bind(Workspace(root))

    def call(self, tool, **arguments):
        path = "path" if self.name in ("anthropic", "filesystem") else "file_path"
        return self.tools[tool].call({path: "a.py", **arguments})

    def read(self):
        view = {"command": "view"} if self.name == "anthropic" else {}
        assert self.call(WRITES[self.name][0], **view).ok

    def write(self, text):
        create = {"command": "create", "file_text": text}
        given = create if self.name == "anthropic" else {"content": text}
        return self.call(WRITES[self.name][1], **given)


@pytest.fixture
def model(name, tmp_path):
    return Model(name, tmp_path)


@every_write
def test_a_file_that_others_changed_since_it_was_read_is_not_replaced(model):
    model.read()
    theirs = TEXT.replace("value_2 = 2\n", "value_2 = 2  # a colleague\n")
    model.file.write_text(theirs)
    mine = TEXT.replace("value_9 = 9\n", "value_9 = 10\n")
    for _ in range(2):  # saying it again is no answer
        out = model.write(mine)
        assert not out.ok
        assert "a.py has changed since you read it. Nothing was written." in out.text
        assert "-value_2 = 2  # a colleague" in out.text
        assert model.file.read_text() == theirs
    model.read()
    assert model.write(mine).ok
    assert model.file.read_text() == mine


@every_write
def test_a_text_with_a_placeholder_is_asked_about_once(model):
    model.read()
    mine = "value_0 = 1\n# ... rest of the code unchanged\n"
    for _ in range(2):
        out = model.write(mine)
        assert not out.ok
        assert "placeholder for omitted text: '# ... rest of the code unchanged'" in out.text
        assert "-value_0 = 0" in out.text
        assert model.file.read_text() == TEXT
    model.read()
    assert not model.write(mine.replace("1", "2")).ok  # another text is another question
    model.read()
    assert model.write(mine.replace("1", "2")).ok


@every_write
def test_a_text_whose_last_line_end_is_missing_is_asked_about(model):
    model.read()
    mine = TEXT[:200]
    out = model.write(mine)
    assert not out.ok
    assert "the text may be cut off. Nothing was written." in out.text
    assert model.file.read_text() == TEXT
    model.read()
    assert model.write(mine).ok
    assert model.write(mine[:-1]).ok  # the file has none either


@every_write
def test_a_file_that_was_never_read_is_replaced_and_told(model, name):
    out = model.write("value_0 = 1\n")
    if name == "compact":
        assert out.code == "FILE_NOT_READ"
        assert model.file.read_text() == TEXT
        model.read()
        assert model.write("value_0 = 1\n").ok
        return
    assert out.ok
    assert "Replaced 60 lines that you had not read." in out.text
    assert "not read" not in model.write("value_0 = 2\n").text


@pytest.mark.parametrize("name", ["lines", "compact"])
def test_what_the_session_wrote_itself_is_no_change_by_others(model):
    model.read()
    assert model.write(TEXT + "a = 1\n").ok
    assert model.write(TEXT + "a = 2\n").ok


def test_a_file_that_moved_or_is_empty_or_already_so_is_written_without_a_question(tmp_path):
    model = Model("filesystem", tmp_path)
    model.read()
    (tmp_path / "b.py").write_text("")
    ends = {"source": "a.py", "destination": "b.py", "overwrite": True}
    assert model.tools["mv"].call(ends).ok
    assert model.tools["write"].call({"path": "b.py", "content": "a = 1\n"}).ok
    assert model.tools["write"].call({"path": "b.py", "content": ""}).ok
    (tmp_path / "b.py").write_text("a = 2\n")
    assert model.tools["write"].call({"path": "b.py", "content": "a = 2\n"}).ok


def test_one_sentence_gates_the_edit_and_the_write_of_compact(tmp_path):
    model = Model("compact", tmp_path)
    edit = model.call("Edit", old_string="value_7 = 7", new_string="value_7 = 8")
    assert edit.text == model.write("a = 1\n").text
    assert "a.py was not read in this session" in edit.text
    assert "Read it with" not in edit.text


@pytest.mark.parametrize("name", ["lines", "compact"])
def test_a_file_that_is_no_text_is_replaced_when_the_same_call_comes_again(model):
    model.file.write_bytes(b"\x7fELF\0\0\0\1" * 100)
    mine = "x = 1\n# ... rest of the code unchanged\n"
    out = model.write(mine)
    assert not out.ok
    assert "a.py is a binary file (800 bytes), and `content` is text. Nothing was" in out.text
    out = model.write(mine)
    assert out.ok
    assert "Replaced 800 bytes that were no text." in out.text
    assert "/dev/null" not in out.text
    assert model.file.read_text() == mine


@pytest.mark.parametrize("name", ["lines", "compact"])
def test_a_file_too_large_to_compare_is_checked_by_its_version(model, name):
    large = (64 << 20) + 1
    with model.file.open("wb") as file:
        file.write(b"a = 1\n" * 10_000)
        file.truncate(large)
        file.seek(70_000)
        file.write(b"\n" * (large - 70_000))
    if name == "compact":
        assert model.write("a = 2\n").code == "FILE_NOT_READ"
    model.read()
    with model.file.open("ab") as file:
        file.write(b"b = 2\n")
    out = model.write("a = 2\n")
    assert not out.ok
    assert "has changed since you read it" in out.text
    model.read()
    out = model.write("a = 2\n")
    assert out.ok
    assert f"Replaced {large + 6:,} bytes, which are too many to compare." in out.text
    assert model.file.read_text() == "a = 2\n"


def test_a_text_that_a_guessed_encoding_cannot_hold_is_written_as_utf8_and_told(tmp_path):
    model = Model("lines", tmp_path)
    model.file.write_bytes("# Größe\n# für Müller\nx = 1\n".encode("cp1252"))
    model.read()
    mine = "# Größe\n# für Jiří\nx = 1\n"
    out = model.write(mine)
    assert out.ok
    assert "Written as UTF-8: cp1252, which was a guess, cannot hold 'ř'." in out.text
    assert "-# für Müller\n+# für Jiří" in out.text
    assert model.file.read_text(encoding="utf-8") == mine
    assert "guess" not in model.call("read").text


def test_a_fault_of_the_file_comes_before_a_question(tmp_path):
    model = Model("lines", tmp_path)
    model.file.chmod(0o444)
    out = model.write(TEXT[:200])
    assert "cut off" not in out.text
    assert "write-protected" in out.text
    assert model.file.read_text() == TEXT


def test_one_line_without_its_end_was_not_cut_off(tmp_path):
    model = Model("lines", tmp_path)
    assert model.write("x = 1").ok
