"""`once=True`: a change runs once though nobody is asked about it and its process is killed."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fsagent_tools import Workspace, identified, select_tools
from fsagent_tools.approval.ledger import CallRecord
from tests.conftest import eventually

pytest.importorskip("langgraph.checkpoint.sqlite", reason="a development requirement")
PROGRAM = textwrap.dedent(
    """
    import json, sys
    from langchain.agents import create_agent
    from langgraph.checkpoint.sqlite import SqliteSaver
    from fsagent_tools.testing import call
    from fsagent_tools.testing.langchain import ScriptedChatModel
    from fsagent_tools_langchain import FsAgentMiddleware, get_tools

    root, database, way, command = sys.argv[1:]
    if way == "get_tools":
        given = {"tools": get_tools(root, once=True)}
    else:
        given = {"middleware": [FsAgentMiddleware(root, once=True)]}
    insert = call("bash", command="echo ran >> log; " + command)
    said = [[insert, call("write", file_path="a.txt", content="one")], "Done."]
    with SqliteSaver.from_conn_string(database) as saver:
        agent = create_agent(ScriptedChatModel(said), checkpointer=saver, **given)
        thread = {"configurable": {"thread_id": "1"}}
        begun = agent.get_state(thread).next
        state = agent.invoke(None if begun else {"messages": [("user", "go")]}, thread)
        print(json.dumps([m.text for m in state["messages"] if m.type == "tool"]))
    """
)


def host(tmp_path, way, command):
    words = [tmp_path / "root", tmp_path / "graph.sqlite", way, command]
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, *map(str, words)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
    )


@pytest.mark.parametrize("way", ["get_tools", "middleware"])
def test_a_host_that_is_killed_in_the_middle_and_comes_back(tmp_path, way):
    (root := tmp_path / "root").mkdir()
    command = "touch begun; until test -e go; do sleep 0.05; done"
    with host(tmp_path, way, command) as killed:
        assert eventually((root / "begun").exists)
        killed.send_signal(signal.SIGKILL)
    (root / "go").touch()
    with host(tmp_path, way, command) as again:
        unknown, written = json.loads(again.stdout.read())
    assert "was begun before, and how it ended is not known. It was not run again" in unknown
    assert "Error" not in written
    assert (root / "log").read_text() == "ran\n"
    assert (root / "a.txt").read_text() == "one"


@pytest.fixture
def tools(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "root").mkdir()
    made = select_tools(tmp_path / "root", once=True)
    return {tool.name: tool for tool in made}


def test_a_call_that_ended_only_tells_what_it_said(tools, tmp_path):
    with identified(session="s", scope="task", call="1"):
        first, again = (tools["bash"].call({"command": "echo ran | tee -a log"}) for _ in "12")
    with identified(session="s", scope="task", call="2"):
        tools["bash"].call({"command": "echo ran >> log"})
    assert first.text == again.text
    assert (tmp_path / "root/log").read_text() == "ran\nran\n"


def test_what_only_reads_or_is_not_known_by_a_name_is_called_again(tools, tmp_path):
    (tmp_path / "root/a.txt").write_text("one\n")
    with identified(session="s", scope="task", call="1"):
        assert "one" in tools["read"].call({"file_path": "a.txt"}).text
        (tmp_path / "root/a.txt").write_text("two\n")
        assert "two" in tools["read"].call({"file_path": "a.txt"}).text
    for _ in "12":
        tools["bash"].call({"command": "echo ran >> log"})
    assert (tmp_path / "root/log").read_text() == "ran\nran\n"
    assert not [p for p in (tmp_path / "state").rglob("calls/*") if p.is_file()]


def test_a_process_that_dies_between_effect_and_answer_leaves_an_unknown_outcome(tools, tmp_path):
    with identified(session="s", scope="task", call="1"), pytest.MonkeyPatch.context() as patched:
        patched.setattr(CallRecord, "end", lambda *_: None)  # as if it had died here
        tools["write"].call({"file_path": "a.txt", "content": "one"})
    (tmp_path / "root/a.txt").write_text("somebody else's")
    with identified(session="s", scope="task", call="1"):
        told = tools["write"].call({"file_path": "a.txt", "content": "one"})
    assert told.code == "OUTCOME_UNKNOWN"
    assert (tmp_path / "root/a.txt").read_text() == "somebody else's"


def test_it_is_an_option_of_tools_only(tmp_path):
    with pytest.raises(TypeError, match="once"):
        Workspace(tmp_path, once=True)


def test_nothing_is_recorded_for_a_host_that_does_not_ask_for_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (root := Path(tmp_path, "root")).mkdir()
    (bash,) = select_tools(root, only=["bash"])
    for _ in "12":
        with identified(session="s", scope="task", call="1"):
            bash.call({"command": "echo ran >> log"})
    assert (root / "log").read_text() == "ran\nran\n"
