"""Users of one process see nothing of each other."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain.agents import create_agent

from fsagent_tools import Policy, Workspace, Workspaces, toolset
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import get_tools

USERS = ["ann", "ben", "cid", "dot"]


@pytest.fixture
def homes(tmp_path):
    for user in USERS:
        (tmp_path / user).mkdir()
        (tmp_path / user / "note.txt").write_text(f"secret of {user}\n")
    return tmp_path


@pytest.fixture
def users(homes):
    """The tools of each on a workspace of their own."""
    opened = {user: Workspace(homes / user) for user in USERS}
    yield {user: toolset("workspace").bind(workspace) for user, workspace in opened.items()}
    for workspace in opened.values():
        workspace.close()


def test_calls_of_many_users_at_once_answer_each_with_their_own(users):
    def visit(number):
        user = USERS[number % len(USERS)]
        tools = users[user]
        read = tools["read"].call({"file_path": "note.txt"})
        found = tools["grep"].call({"pattern": "secret"})
        wrote = tools["write"].call({"file_path": f"{number}.txt", "content": f"{user}\n"})
        return user, f"{read.text} {found.text}", wrote.ok

    with ThreadPoolExecutor(8) as pool:
        for user, text, wrote in pool.map(visit, range(64)):
            assert wrote
            assert text.count(f"secret of {user}") == 2
            assert text.count("secret of") == 2


def test_absolute_paths_of_another_are_refused(users, homes):
    other = str(homes / "ben/note.txt")
    for name, more in {"read": {}, "write": {"content": "x"}, "lsp": {}}.items():
        out = users["ann"][name].call({"file_path": other, **more})
        assert out.code == "PATH_OUTSIDE_WORKSPACE"
    assert "ben" not in users["ann"]["glob"].call({"pattern": f"{homes}/ben/*"}).text.split("\n")
    assert (homes / "ben/note.txt").read_text() == "secret of ben\n"


def test_a_line_id_of_another_names_nothing_here(users, homes):
    (homes / "ann/a.txt").write_text("one\ntwo\n")
    (homes / "ben/a.txt").write_text("eins\nzwei\n")
    line_id = users["ann"]["read"].call({"file_path": "a.txt"}).text[5:11]
    users["ben"]["read"].call({"file_path": "a.txt"})
    change = {"line_id": line_id, "new_content": "x"}
    out = users["ben"]["edit_lines"].call({"file_path": "a.txt", "changes": [change]})
    assert not out.ok
    assert (homes / "ben/a.txt").read_text() == "eins\nzwei\n"


def test_variables_and_directories_of_a_command_stay_with_it(users):
    before = os.getcwd(), dict(os.environ)
    assert users["ann"]["bash"].call({"command": "mkdir -p d; cd d; export MINE=hush"}).ok
    told = users["ben"]["bash"].call({"command": "pwd; echo [$MINE]"}).text
    assert told.split("\n")[0].endswith("/ben")
    assert "[]" in told
    assert (os.getcwd(), dict(os.environ)) == before


def test_jobs_of_another_are_neither_listed_nor_stopped(users):
    assert users["ann"]["bash"].call({"command": "sleep 60", "background": True}).ok
    assert "sleep" not in users["ben"]["jobs"].call({}).text
    assert not users["ben"]["jobs"].call({"action": "stop", "job": "1"}).ok
    assert "running" in users["ann"]["jobs"].call({}).text


def test_an_undo_takes_back_only_what_its_own_user_did(homes):
    ann, ben = Workspace(homes / "ann"), Workspace(homes / "ben")
    for workspace in (ann, ben):
        tool = toolset("workspace").bind(workspace)["write"]
        assert tool.call({"file_path": "note.txt", "content": "changed\n"}).ok
    ann.undo()
    assert (homes / "ann/note.txt").read_text() == "secret of ann\n"
    assert (homes / "ben/note.txt").read_text() == "changed\n"
    ann.close()
    ben.close()


def test_a_policy_binds_its_own_workspace_only(homes):
    closed = Workspace(homes / "ann", policy=Policy(readonly=True))
    free = Workspace(homes / "ann")
    words = {"file_path": "note.txt", "content": "x\n"}
    assert toolset("workspace").bind(closed)["write"].call(words).code == "READONLY"
    assert toolset("workspace").bind(free)["write"].call(words).ok
    assert toolset("workspace").bind(closed)["write"].call(words).code == "READONLY"
    closed.close()
    free.close()


def test_the_tools_of_an_agent_for_many_users_follow_the_run(homes):
    pool = Workspaces(lambda run: homes / run.config["configurable"]["user"], keep=2)
    tools = get_tools(pool, "workspace")

    def visit(number):
        user = USERS[number % len(USERS)]
        model = ScriptedChatModel([call("read", file_path="note.txt"), "Done."])
        said = {"messages": [("user", "Read it.")]}
        state = create_agent(model, tools).invoke(said, {"configurable": {"user": user}})
        return user, state["messages"][-2].text

    with ThreadPoolExecutor(4) as threads:
        for user, text in threads.map(visit, range(16)):
            assert f"secret of {user}" in text
    pool.close()
