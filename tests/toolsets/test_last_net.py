"""Nothing that a model sends, and no bug of ours, ends the run of an agent."""

import asyncio
import json
import logging
import os

import pytest

from fsagent_tools import Effect, Policy, Toolset, Workspace, emitting, toolset
from fsagent_tools.toolkit.action import action
from fsagent_tools.toolkit.params import Params
from fsagent_tools.types import Entry


class Stop(Exception):
    """A framework's own control flow."""


class FailParams(Params):
    pass


@pytest.fixture
def failing(root, monkeypatch):
    """`failing(error, effect)`: a tool with a bug, as users run it."""
    monkeypatch.delenv("FSAGENT_DEBUG")

    def made(error, effect=Effect.READ):
        @action(effect=effect)
        def fail(workspace, p: FailParams):
            """Fail."""
            raise error

        return Toolset("failing", (Entry(fail),)).bind(Workspace(root))["fail"]

    return made


def test_a_bug_is_an_outcome_and_its_traceback_is_logged(failing, caplog):
    out = failing(ZeroDivisionError("inside")).call({})
    assert out.code == "INTERNAL_ERROR"
    assert "Nothing was written" in out.text
    assert "inside" not in out.text
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("fsagent_tools", logging.ERROR)
    assert isinstance(record.exc_info[1], ZeroDivisionError)
    assert out.to_dict()["success"] is False


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.DELETE, Effect.EXECUTE])
def test_a_bug_of_a_tool_that_changes_things_does_not_say_that_nothing_changed(failing, effect):
    out = failing(MemoryError(), effect).call({})
    assert out.code == "INTERNAL_ERROR"
    assert "may have changed something" in out.text
    assert "Nothing was written" not in out.text


def test_a_bug_raises_where_it_is_looked_for(failing, monkeypatch):
    monkeypatch.setenv("FSAGENT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError()).call({})


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError, SystemExit])
def test_what_is_no_error_passes(failing, error):
    with pytest.raises(error):
        failing(error()).call({})


@pytest.mark.parametrize("error", [Stop, OSError, ValueError, MemoryError])
@pytest.mark.parametrize("tool", ["write", "bash"])
def test_what_an_approval_raises_reaches_the_host(root, monkeypatch, error, tool):
    monkeypatch.delenv("FSAGENT_DEBUG")

    def approve(request):
        raise error("mine")

    async def approve_later(request):
        raise error("mine")

    call = {"file_path": "a", "content": "x"} if tool == "write" else {"command": "true"}
    for asked in (approve, approve_later):
        tools = toolset("workspace").bind(Workspace(root, approve=asked))
        with pytest.raises(error, match="mine"):
            asyncio.run(tools[tool].acall(call))
    assert not (root / "a").exists()


def test_what_a_listener_raises_reaches_the_host(root, monkeypatch):
    monkeypatch.delenv("FSAGENT_DEBUG")

    def listen(text):
        raise Stop(text)

    bash = toolset("workspace").bind(Workspace(root))["bash"]
    with emitting(listen), pytest.raises(Stop):
        bash.call({"command": "echo out"})


@pytest.mark.parametrize("asked", [False, True])
def test_a_write_over_a_huge_sparse_file_does_not_read_it(root, asked):
    with (root / "huge").open("wb") as file:
        os.truncate(file.fileno(), 1 << 40)
    seen = []

    def approve(request):
        seen.append(request.diff)
        return True

    workspace = Workspace(root, policy=Policy(), approve=approve if asked else None)
    out = (
        toolset("workspace").bind(workspace)["write"].call({"file_path": "huge", "content": "x\n"})
    )
    assert out.ok, out.text
    assert (root / "huge").read_text() == "x\n"
    assert seen == ["overwrite huge\nreplaces huge"] * asked


def test_arguments_of_very_many_keys_are_refused_at_once(root):
    tool = toolset("workspace").bind(Workspace(root))["read"]
    many = json.dumps(dict.fromkeys(map(str, range(100_000)), 1))
    assert tool.call(many).code == "VALIDATION_ERROR"
    out = tool.call(f'{many[:-1]}, "7": 1}}')
    assert "duplicate key '7'" in out.text
