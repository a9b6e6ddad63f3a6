"""The names that users of LangChain's FileManagementToolkit have in their prompts."""

import pytest

from fsagent_tools import Workspace, toolset

PARAMETERS = {
    "copy_file": {"source_path", "destination_path"},
    "file_delete": {"file_path"},
    "file_search": {"dir_path", "pattern"},
    "list_directory": {"dir_path"},
    "move_file": {"source_path", "destination_path"},
    "read_file": {"file_path"},
    "write_file": {"file_path", "text"},
}


@pytest.fixture
def tools(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/one.txt").write_text("one\n")
    return toolset("file_management").bind(Workspace(tmp_path))


def test_tools_and_parameters_have_the_toolkits_names(tools):
    assert [*tools] == [*PARAMETERS]
    for name, tool in tools.items():
        assert {*tool.visible} >= PARAMETERS[name]
        assert {*tool.schema.get("required", ())} <= PARAMETERS[name]


def test_a_prompt_for_the_toolkit_goes_through(tools, tmp_path):
    def done(name, **given):
        outcome = tools[name].call(given)
        assert outcome.ok, outcome.text
        return outcome.text

    assert done("list_directory") == "a/"
    assert done("file_search", pattern="*.txt") == "a/one.txt"
    assert done("file_search", dir_path="a", pattern="*.md").startswith("No")
    assert done("read_file", file_path="a/one.txt") == "one\n"
    done("write_file", file_path="b/two.txt", text="two\n")
    done("copy_file", source_path="b/two.txt", destination_path="b/three.txt")
    done("move_file", source_path="a/one.txt", destination_path="b/one.txt")
    done("file_delete", file_path="b/two.txt")
    found = {str(p.relative_to(tmp_path)) for p in (tmp_path / "b").iterdir()}
    assert found == {"b/one.txt", "b/three.txt"}


def test_what_is_there_is_not_replaced_without_a_word(tools, tmp_path):
    tools["write_file"].call({"file_path": "b.txt", "text": "b\n"})
    done = tools["move_file"].call({"source_path": "b.txt", "destination_path": "a/one.txt"})
    assert done.code == "ALREADY_EXISTS", done.text
    assert "overwrite" not in done.text
    assert (tmp_path / "a/one.txt").read_text() == "one\n"
