"""Every public way in passes the gate: one documented outcome each, and a record in the log.

The ways are derived from the public names; a new one without a row here fails.
"""

import asyncio
import importlib
import inspect
from contextlib import suppress

import pytest
from mcp import MCPError
from mcp.client import Client

from fsagent_tools import (
    EventLog,
    Policy,
    ToolError,
    Toolset,
    Workspace,
    execute,
    identified,
    toolset,
)
from fsagent_tools.cli import main
from fsagent_tools.types import Entry
from fsagent_tools_deepagents import FsAgentBackend
from fsagent_tools_langchain import get_tools as langchain_tools
from fsagent_tools_llamaindex import get_tools as llamaindex_tools
from fsagent_tools_mcp import server

pytestmark = pytest.mark.full

NOT_SHOWN = "NOT_SHOWN"  # an adapter leaves out what the policy forbids
OUTCOMES = {  # kind of way -> what is documented of it under each setting; else it goes through
    "read": {"allowed_actions": "ACTION_NOT_ALLOWED", "denied_paths": "PATH_DENIED"},
    "names": {"allowed_actions": "ACTION_NOT_ALLOWED"},  # what is denied is left out of the answer
    "write": {
        "readonly": "READONLY",
        "allowed_actions": "ACTION_NOT_ALLOWED",
        "denied_paths": "PATH_DENIED",
        "write_denied": "PATH_DENIED",
        "approve": "APPROVAL_DENIED",
    },
    "run": {
        "allowed_actions": "ACTION_NOT_ALLOWED",
        "approve": "APPROVAL_DENIED",
    },  # else the sandbox
    "back": {  # of files that may not be written: a conflict, which says so
        "readonly": "READONLY",
        "allowed_actions": "ACTION_NOT_ALLOWED",
        "denied_paths": "FILE_CHANGED",
        "write_denied": "FILE_CHANGED",
        "approve": "APPROVAL_DENIED",
    },
    "past": {"readonly": "NOT_CONFIGURED", "allowed_actions": "ACTION_NOT_ALLOWED"},  # no history
}
SETTINGS = {
    "nothing": {},
    "readonly": {"policy": Policy(readonly=True)},
    "allowed_actions": {"policy": Policy(allowed_actions=["stat"])},
    "denied_paths": {"policy": Policy(denied_paths=["a.txt"])},
    "write_denied": {"policy": Policy(write_denied=["a.txt"])},
    "approve": {"approve": lambda request: "no"},
}
A = "a.txt"
TOOLS = toolset("workspace").joined(Toolset("further", (Entry("undo"),)))
CALLS = {  # tool -> its kind, and arguments
    "read": ("read", {"file_path": A}),
    "ls": ("names", {}),
    "write": ("write", {"file_path": A, "content": "new"}),
    "bash": ("run", {"command": "true"}),
    "undo": ("back", {}),
}


def bound(workspace, name):
    return TOOLS.bind(workspace)[name]


def by_mcp(workspace, name, given):
    async def call():
        async with Client(server(workspace, TOOLS)) as client:
            with suppress(MCPError):  # of a tool that it does not show
                await client.call_tool(name, given)

    return asyncio.run(call())


def by(get_tools, call):
    """The adapter's tools, where it shows this one."""

    def way(workspace, name, given):
        for tool in get_tools(workspace, TOOLS):
            if tool.core.name == name:
                call(tool, given)

    return way


BY_TOOLS = {  # public name -> a call of a tool by it
    "fsagent_tools.Tool.call": lambda w, name, given: bound(w, name).call(given),
    "fsagent_tools.Tool.acall": lambda w, name, given: asyncio.run(bound(w, name).acall(given)),
    "fsagent_tools_mcp.server": by_mcp,
    "fsagent_tools_langchain.FsAgentTool": by(langchain_tools, lambda t, a: t.invoke(a)),
    "fsagent_tools_llamaindex.FsAgentTool.call": by(llamaindex_tools, lambda t, a: t.call(**a)),
    "fsagent_tools_llamaindex.FsAgentTool.acall": by(
        llamaindex_tools, lambda t, a: asyncio.run(t.acall(**a))
    ),
}
METHODS = {  # of `Workspace`, whose kind a call is
    "read_bytes": ("read", lambda w: w.read_bytes(A)),
    "read_text": ("read", lambda w: w.read_text(A)),
    "tag_lines": ("read", lambda w: w.tag_lines(A, {1: b"old"})),
    "line_index": ("index", lambda w: w.line_index(A)),
    "list": ("names", lambda w: w.list()),
    "find": ("names", lambda w: w.find("*")),
    "search": ("names", lambda w: w.search("old")),
    "write_bytes": ("write", lambda w: w.write_bytes(A, b"new")),
    "write_text": ("write", lambda w: w.write_text(A, "new")),
    "edit_text": ("write", lambda w: w.edit_text(A, "old", "new")),
    "write": ("write", lambda w: w.write(A, b"new")),
    "move": ("write", lambda w: w.move(A, "b.txt")),
    "copy": ("write", lambda w: w.copy("c.txt", A, True)),
    "remove": ("write", lambda w: w.remove(A)),
    "run": ("run", lambda w: w.run("true")),
    "undo": ("back", lambda w: w.undo()),
    "redo": ("back", lambda w: w.redo()),
    "checkpoint": ("past", lambda w: w.checkpoint()),
    "diff": ("past", lambda w: w.diff()),
    "reading": ("let in", lambda w: w.reading(A).__enter__()),
}
BACKEND = {  # of `FsAgentBackend`: its kind, and arguments
    "read": ("read", "/a.txt"),
    "download_files": ("read", ["/a.txt"]),
    "ls": ("names", "/"),
    "glob": ("names", "*"),
    "grep": ("names", "old", "/"),
    "write": ("write", "/a.txt", "new"),
    "edit": ("write", "/a.txt", "old", "new"),
    "delete": ("write", "/a.txt"),
    "upload_files": ("write", [("/a.txt", b"new")]),
    "execute": ("run", "true"),
}
BACKEND |= {f"a{name}": row for name, row in BACKEND.items()}
OUTCOMES["index"] = {**OUTCOMES["read"], "readonly": "NO_LINE_INDEX"}  # it is kept in memory
OUTCOMES["let in"] = OUTCOMES["names"]  # the path is judged when the block is entered


async def _result(called):
    return await called


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project where this session has written `a.txt` twice and taken back a third time."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "c.txt").write_text("other")
    earlier = Workspace(folder)
    with identified(session="one"):
        for text in (b"new", b"old"):
            earlier.write_bytes(A, text)
        bound(earlier, "read").call({"file_path": A})
        earlier.write_bytes(A, b"gone")
        earlier.undo()
    earlier.close()
    return folder


def outcome(root, setting, way, **more):
    """What the log says of it, in which it has to stand, and that nothing else has happened."""
    before, records = (root / A).read_bytes(), []
    workspace = Workspace(root, log=EventLog(records.append), **SETTINGS[setting], **more)
    with suppress(ToolError), identified(session="one"):
        way(workspace)
    workspace.close()
    code = records[-1]["code"] if records else NOT_SHOWN
    if code != "OK":
        assert (root / A).read_bytes() == before
    return code


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("way", BY_TOOLS)
def test_a_tool_has_one_outcome_by_whatever_way_it_is_called(way, name, setting, root):
    kind, given = CALLS[name]
    expected = OUTCOMES[kind].get(setting, "OK")
    found = outcome(root, setting, lambda w: BY_TOOLS[way](w, name, given))
    hides = not way.startswith("fsagent_tools.")
    if hides and expected in ("READONLY", "ACTION_NOT_ALLOWED"):
        expected = NOT_SHOWN
    assert found == expected


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_a_method_asks_where_the_host_says_so_and_is_logged_always(name, direct, setting, root):
    kind, call = METHODS[name]
    expected = OUTCOMES[kind].get(setting, "OK")
    if expected == "APPROVAL_DENIED" and not direct:
        expected = "OK"
    assert outcome(root, setting, call, approve_direct=direct) == expected


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", BACKEND)
def test_the_backend_of_deepagents_asks_as_tools_do(name, setting, root):
    kind, *given = BACKEND[name]

    def call(workspace):
        called = getattr(FsAgentBackend(workspace), name)(*given)
        if inspect.isawaitable(called):
            asyncio.run(_result(called))

    assert outcome(root, setting, call) == OUTCOMES[kind].get(setting, "OK")


CONFIGURED = {
    "readonly": "true",
    "allowed_actions": '["stat"]',
    "denied_paths": '["a.txt"]',
    "write_denied": '["a.txt"]',
}


@pytest.mark.parametrize("setting", CONFIGURED)
@pytest.mark.parametrize("name", CALLS)
def test_one_call_and_the_command_line_obey_what_is_configured(
    name, setting, root, monkeypatch, capsys
):
    monkeypatch.setenv(f"FSAGENT_{setting.upper()}", CONFIGURED[setting])
    kind, given = CALLS[name]
    refused = setting in OUTCOMES[kind]
    if name != "undo":  # not in this toolset
        assert execute(name, given, root)["success"] is not refused
    words = {"write": [A, "new"], "read": [A], "bash": ["true"]}.get(name, [])
    assert bool(main(["--root", str(root), name, *words])) is refused
    assert bool(capsys.readouterr().err) is refused


NO_WAYS = {  # public names by which nothing is done in a workspace, and why
    "fsagent_tools": {
        "Workspace": {"called", "close", "from_config", "readable", "rest", "view"},
        "Tool": {"by_position", "effect_of", "native", "preview", "within"},  # preview: a dry run
        "Toolset": {"bind", "joined", "only", "renamed", "showing", "with_defaults", "without"},
        "EventLog": {"event"},
        "Workspaces": {"close", "end", "lend"},
        "MemoryFiles": "the door behind the gate",
        **dict.fromkeys(("Outcome", "Request"), "data"),
        **dict.fromkeys(("Policy", "Verdict"), "choices of a host"),
        **dict.fromkeys(("approve_at_terminal", "ask_at_terminal"), "asks"),
        **dict.fromkeys(("approving", "emitting", "identified"), "context of a call"),
        "awaited": "a call of what has a row",
        **dict.fromkeys(("select_tools", "toolset", "TOOLSETS"), "makes tools"),
        "toolset_for": "names a toolset",
        "execute": "has a test of its own",
        "simple_commands": "looks at text",
    },
    "fsagent_tools.types": {
        "Entry": {
            *("has_anyway", "meant", "showing", "shows", "spelling", "with_defaults"),
            "without_command",
        },
        **dict.fromkeys(("Store", "StoreEntry", "StoredFile", "Etag"), "the door behind the gate"),
        **dict.fromkeys(("PathChange", "Shape", "SimpleCommand", "StepChange"), "data"),
        **dict.fromkeys(("AnyToolset", "Options", "WorkspaceSource"), "choices of a host"),
        "calls_of": "the order of calls",
        "with_signature": "a signature",
    },
    "fsagent_tools.testing": dict.fromkeys(("Call", "Script", "Turn", "call", "line_id"), "fakes"),
    "fsagent_tools_langchain": {
        **dict.fromkeys(("FsAgentToolkit", "aget_tools", "get_tools", "interrupt_on"), "tools"),
        "FsAgentMiddleware": "calls FsAgentTool",
    },
    "fsagent_tools_llamaindex": {
        **dict.fromkeys(("FsAgentToolSpec", "aget_tools", "get_tools"), "makes tools"),
        "OutputDelta": "data",
    },
    "fsagent_tools_mcp": {"SESSION": "a word", "http_app": "a server"},
    "fsagent_tools_ray": {"RayWorkspaces": {"at"}},  # a toolset, bound as any
    "fsagent_tools_deepagents": {"deep_agent_options": "makes the backend and the middleware"},
}


def public_ways(package):
    """The functions of a package, and the methods of its classes that are its own."""
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        if not inspect.isclass(value):
            yield name, ""
            continue
        own = [vars(kind) for kind in value.__mro__ if kind.__module__.startswith("fsagent_tools")]
        for method in {method for names in own for method in names}:
            if method[0] != "_" and callable(getattr(value, method)) and method[:6] != "model_":
                yield name, method


@pytest.mark.parametrize("package", NO_WAYS)
def test_every_public_way_in_has_a_row(package):
    tables = {
        "fsagent_tools.Workspace": METHODS,
        "fsagent_tools_deepagents.FsAgentBackend": BACKEND,
    }
    for name, method in public_ways(package):
        whole = f"{package}.{name}"
        known = NO_WAYS[package].get(name, ())
        row = isinstance(known, str) or method in known or method in tables.get(whole, ())
        assert row or {whole, f"{whole}.{method}"} & {*BY_TOOLS}, f"{whole}.{method}: add a row"
