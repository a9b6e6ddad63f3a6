"""Tools of several commands: which one a call means, and what is told of it."""

import pytest

from fsagent_tools import Workspace, toolset


@pytest.fixture
def asked():
    return []


@pytest.fixture
def memory(tmp_path, asked):
    def approve(request):
        asked.append(request)
        return True

    (tmp_path / "memories").mkdir()
    (tmp_path / "memories/a.md").write_text("one\n")
    return toolset("anthropic").bind(Workspace(tmp_path, approve=approve))["memory"]


@pytest.mark.parametrize("sent", [
    {"command": "delete", "path": "/memories/a.md"},
    {"Command": "delete", "path": "/memories/a.md"},
    {"cmd": "delete", "file_path": "/memories/a.md"},
    {"input": {"command": "delete", "path": "/memories/a.md"}},
    '{"Command": "delete", "Path": "/memories/a.md"}',
], ids=str)  # fmt: skip
def test_a_command_is_meant_by_whatever_spelling_is_taken(sent, memory, asked, tmp_path):
    done = memory.call(sent)
    assert done.ok, done.text
    assert not (tmp_path / "memories/a.md").exists()
    (request,) = asked
    assert {"command": "delete", "path": "/memories/a.md"}.items() <= request.arguments.items()


@pytest.mark.parametrize("sent", [
    {"command": "Delete", "path": "/memories/a.md"},
    {"command": "delete", "cmd": "view", "path": "/memories/a.md"},
    {"Command": ["delete"], "path": "/memories/a.md"},
    {"path": "/memories/a.md"},
], ids=str)  # fmt: skip
def test_a_command_that_is_none_is_refused(sent, memory, asked, tmp_path):
    refused = memory.call(sent)
    assert refused.code == "VALIDATION_ERROR"
    assert "command" in refused.text
    assert asked == []
    assert (tmp_path / "memories/a.md").read_text() == "one\n"


def test_a_memory_that_is_not_there_yet_is_empty(tmp_path):
    memory = toolset("anthropic").bind(Workspace(tmp_path))["memory"]
    assert memory.call({"command": "view", "path": "/memories"}).text == "Nothing is there yet."
    assert not memory.call({"command": "view", "path": "/memories/a.md"}).ok
    assert not (tmp_path / "memories").exists()


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"command": "str_replace", "old_str": "two two\n"}, "one\ntwo\n"),
        ({"command": "insert", "insert_line": 1, "new_str": "x"}, "one\nx\ntwo\ntwo two\n"),
        (
            {"command": "str_replace", "old_str": "two", "new_str": "2", "replace_all": True},
            "one\n2\n2 2\n",
        ),
    ],
    ids=["deletes", "as older editors have it", "everywhere"],
)
def test_an_edit_may_be_spelled_as_other_editors_have_it(sent, text, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\ntwo two\n")
    editor = toolset("anthropic").bind(Workspace(tmp_path))["str_replace_based_edit_tool"]
    assert editor.call({"command": "view", "path": "a.txt"}).ok
    done = editor.call({"path": "a.txt", **sent})
    assert done.ok, done.text
    assert (tmp_path / "a.txt").read_text() == text
