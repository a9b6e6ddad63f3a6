"""Tools of several toolsets as one."""

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.errors import ConfigInvalid


def test_tools_of_two_toolsets_are_one_toolset(root):
    bash = toolset("workspace").only("bash").renamed({"bash": "Bash"})
    tools = toolset("compact").joined(bash).bind(Workspace(root))
    assert list(tools) == ["Read", "Write", "Edit", "Glob", "Grep", "Bash"]
    assert tools["Write"].call({"file_path": "a.txt", "content": "one\n"}).ok
    assert tools["Bash"].call({"command": "mv a.txt b.txt && cat b.txt"}).text.startswith("one")
    assert {tool.workspace for tool in tools.values()} == {tools["Read"].workspace}


def test_a_name_that_two_tools_would_have_is_refused():
    with pytest.raises(ConfigInvalid, match="would have one name: read, write"):
        toolset("workspace").joined(toolset("filesystem").only("read", "write"))


def test_hints_name_the_tools_of_the_whole(root):
    joined = toolset("compact").joined(toolset("filesystem").only("ls", "rm"))
    tools = joined.bind(Workspace(root))
    (root / "d").mkdir()
    alone = toolset("compact").bind(Workspace(root))
    hint = "List it with `ls`."
    assert tools["Read"].call({"file_path": "d"}).text.endswith(hint)
    assert hint not in alone["Read"].call({"file_path": "d"}).text
