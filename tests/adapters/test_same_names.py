"""Two users whose sessions have one name, in two directories of one host, over one connection."""

from dataclasses import dataclass
from pathlib import Path

import pytest

import places
from fsagent_tools import Toolset, Workspace, identified, select_tools, toolset
from fsagent_tools.types import Entry
from fsagent_tools_places import SshChannel

NAMES = {"session": "anna", "scope": "turn 1"}  # of both


@dataclass
class User:
    home: Path
    tools: dict

    def use(self, name, call="", **sent):
        with (
            identified(**NAMES, call=call or None),
            self.tools[name].within(self.home.name) as here,
        ):
            return here.call(sent)

    def beside(self):
        """The files as a program there has them, which works under the same name."""
        return Workspace(self.home)


@pytest.fixture(params=["a channel for each", "a function"])
def two(request, ssh, tmp_path):
    shells = toolset("lines").showing({"bash": ["session"]})
    chosen = shells.joined(Toolset("more", (Entry("undo"),)))

    def channel(name):
        return SshChannel("127.0.0.1", str(tmp_path / name), ssh=ssh, toolset=chosen, **places.FAR)

    users = []
    shared = select_tools(channel, chosen, once=True)
    for name in ("one", "two"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "a.txt").write_text(f"first of {name}\nsecond\n")
        own = select_tools(channel(name), once=True) if request.param != "a function" else shared
        users.append(User(tmp_path / name, {tool.name: tool for tool in own}))
    return users


def test_commands_and_shells_are_of_a_directory(two):
    one, other = two
    started = "echo begun > begun; exec sleep 600"
    assert one.use("bash", command=started, background=True).ok
    assert one.use("bash", command="cd sub; export MINE=1", session="work").ok
    assert "No command" in other.use("jobs", action="list").text
    assert not other.use("jobs", action="stop", job="1").ok
    shown = other.use("bash", command="pwd; echo ${MINE:-none}", session="work").text
    assert shown.splitlines()[:2] == [str(other.home), "none"]
    shown = one.use("bash", command="pwd; echo $MINE", session="work").text
    assert shown.splitlines()[:2] == [str(one.home / "sub"), "1"]
    assert "running" in one.use("jobs", action="list").text


def test_lines_are_known_in_the_directory_that_they_were_read_in(two):
    one, other = two
    first = one.use("read", file_path="a.txt").text.splitlines()[0]
    change = {"file_path": "a.txt", "changes": [{"line_id": first, "new_content": "changed"}]}
    assert not other.use("edit_lines", **change).ok
    assert (other.home / "a.txt").read_text() == "first of two\nsecond\n"
    assert one.use("edit_lines", **change).ok
    assert "first of two" in other.use("read", file_path="a.txt").text


def test_what_is_taken_back_is_of_a_directory(two):
    one, other = two
    with identified(session="anna"):
        marks = [user.beside().checkpoint("begin") for user in two]
    for user in two:
        assert user.use("write", file_path="new.txt", content="x\n", call=f"{user.home.name}").ok
    assert other.use("undo").ok
    assert "nothing to take back" in other.use("undo").text
    assert [(user.home / "new.txt").exists() for user in two] == [True, False]
    with identified(session="anna"):
        assert [step.id for step in one.beside().history.checkpoints()] == marks[:1]
        one.beside().undo(to=marks[0])
    assert not (one.home / "new.txt").exists()


def test_a_call_of_one_is_not_the_call_of_the_other(two):
    """Though it has one name, in one scope: it is carried out in each directory, and once there."""
    for user in (*two, *two):
        assert user.use("bash", command="echo ran >> log; pwd", call="1").text == str(user.home)
    assert [(user.home / "log").read_text() for user in two] == ["ran\n"] * 2
