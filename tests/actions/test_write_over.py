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
