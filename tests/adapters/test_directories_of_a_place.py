"""The directories that one far end serves: each has the tools and the sessions that are its own."""

import pytest

from fsagent_tools import Policy
from fsagent_tools.remote import Sending
from fsagent_tools_places.far import Served
from fsagent_tools_places.wire import Settings


@pytest.fixture
def served(tmp_path, monkeypatch):
    """Directories by name, at a far end that began while the user's file allowed to read only."""
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    (configured := tmp_path / "XDG_CONFIG_HOME/fsagent/config.yaml").parent.mkdir(parents=True)
    configured.write_text("readonly: true\n")
    far = Served(Settings("lines", None, True, 60.0))
    configured.unlink()
    (tmp_path / "free").mkdir()
    yield lambda name: far.at(str(tmp_path / name))
    far.pool.close()


def listed(rooted):
    return {tool.name for tool in rooted.tools()}


def test_what_a_directory_lists_can_be_called(served):
    assert "write" in listed(served("free"))
    sent = {"file_path": "a.txt", "content": "one\n"}
    assert served("free").call(Sending("write", sent)).ok


def test_no_name_of_a_session_is_one_however_it_is_written(served, tmp_path):
    (tmp_path / "free/a.txt").write_text("one\n")
    rooted = served("free")
    rooted.call(Sending("bash", {"command": "sleep 600", "background": True}))
    jobs = Sending("jobs", {"action": "list"}, session=None)
    assert "running" in rooted.call(jobs).text


def test_of_a_tool_of_several_commands_those_that_may_run_are_there(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    far = Served(Settings("anthropic", Policy(readonly=True), True, 60.0))
    rooted = far.at(str(tmp_path))
    sent = {"command": "view", "path": "a.txt"}
    assert "str_replace_based_edit_tool" in listed(rooted)
    assert "one" in rooted.call(Sending("str_replace_based_edit_tool", sent)).text
    sent = {"command": "create", "path": "b.txt", "file_text": "two\n"}
    assert not rooted.call(Sending("str_replace_based_edit_tool", sent)).ok
    assert not (tmp_path / "b.txt").exists()
    far.pool.close()
