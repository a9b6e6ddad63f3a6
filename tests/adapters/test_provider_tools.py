"""Models in the form that they were trained on: the clients of providers against servers here."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from langchain.agents import create_agent
from llama_index.core.agent.workflow import FunctionAgent
from pydantic import TypeAdapter

from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools_langchain import FsAgentMiddleware, get_tools
from fsagent_tools_llamaindex import get_tools as llamaindex_tools
from tests.edits.patches import enveloped

GOAL = {"messages": [("user", "Round the cents.")]}
LINE = "    return int(whole) * 100 + int(cents or 0)"
ROUNDED = '    return int(whole) * 100 + int(cents.ljust(2, "0"))'
PATCH = enveloped(
    "*** Update File: shop/prices.py", "@@", f"-{LINE}", f"+{ROUNDED}",
    "*** Add File: NOTES.md", "+Cents are rounded.",
)  # fmt: skip
EDITOR = "str_replace_based_edit_tool"
EDITS = [
    (EDITOR, {"command": "view", "path": "shop/prices.py", "view_range": [1, -1]}),
    (EDITOR, {"command": "str_replace", "path": "shop/prices.py", "old_str": LINE,
              "new_str": ROUNDED}),
    ("bash", {"command": "cd shop && export DONE=yes"}),
    ("bash", {"command": 'echo "$DONE in ${PWD##*/}"'}),
    ("bash", {"restart": True}),
    ("memory", {"command": "view", "path": "/memories"}),
    ("memory", {"command": "create", "path": "/memories/notes.md", "file_text": "Rounded.\n"}),
]  # fmt: skip
SHELL = [
    ("shell", {"command": ["bash", "-lc", "cat shop/prices.py"], "timeout_ms": 10_000}),
    ("read", {"path": "shop/prices.py"}),
    ("grep", {"pattern": "cents", "path": "shop"}),
    ("apply_patch", {"input": PATCH}),
]


@contextmanager
def serving(answers):
    """A server that gives these JSON answers in turn, and what it was asked."""
    asked, turns = [], iter(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            size = int(self.headers["content-length"])
            asked.append(
                {"beta": self.headers["anthropic-beta"], **json.loads(self.rfile.read(size))}
            )
            body = json.dumps(next(turns)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("way", ["tools", "middleware"])
def test_claude_gets_the_tools_that_its_api_knows(way, shop):
    langchain_anthropic = pytest.importorskip("langchain_anthropic")
    answers = [
        {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": "claude-of-tests",
         "content": [{"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": given}],
         "stop_reason": "tool_use", "stop_sequence": None,
         "usage": {"input_tokens": 1, "output_tokens": 1}}
        for n, (name, given) in enumerate(EDITS)
    ]  # fmt: skip
    last = {
        **answers[0],
        "content": [{"type": "text", "text": "Rounded."}],
        "stop_reason": "end_turn",
    }
    with serving([*answers, last]) as (url, asked):
        model = langchain_anthropic.ChatAnthropic(
            model="claude-of-tests", base_url=url, api_key="none"
        )
        agent = (
            create_agent(model, get_tools(shop, "anthropic"))
            if way == "tools"
            else create_agent(model, middleware=[FsAgentMiddleware(shop, "anthropic")])
        )
        state = agent.invoke(GOAL, {"recursion_limit": 50})
    check_edits(shop, [m.text for m in state["messages"] if m.type == "tool"])
    assert asked[0]["tools"] == [
        {"type": "text_editor_20250728", "name": EDITOR},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "memory_20250818", "name": "memory"},
    ]
    assert "context-management" in asked[0]["beta"]


def check_edits(shop, answers):
    assert ROUNDED in (shop / "shop/prices.py").read_text()
    assert (shop / "memories/notes.md").read_text() == "Rounded.\n"
    assert answers[0].startswith("     1\t")
    assert answers[3] == "yes in shop"
    assert answers[5] == "Nothing is there yet."


def test_anthropic_takes_the_definitions():
    types = pytest.importorskip("anthropic").types
    from fsagent_tools import MemoryFiles, Workspace, toolset

    tools = toolset("anthropic").bind(Workspace(files=MemoryFiles({})))
    for name, kind in (
        (EDITOR, types.ToolTextEditor20250728Param),
        ("bash", types.ToolBash20250124Param),
        ("memory", types.beta.BetaMemoryTool20250818Param),
    ):
        TypeAdapter(kind).validate_python(tools[name].native("anthropic"))


def test_a_tool_of_another_name_is_a_function(shop):
    (tool,) = get_tools(shop, "anthropic", only=["bash"], renamed={"bash": "run"})
    assert not tool.extras
    (tool,) = get_tools(shop, "workspace", only=["bash"])
    assert not tool.extras


@pytest.mark.parametrize(("toolset", "script"), [("openai", SHELL), ("anthropic", EDITS)])
@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
async def test_the_same_calls_run_to_the_end_as_functions(toolset, script, framework, shop):
    turns = [call(name, **given) for name, given in script]
    if framework == "langchain":
        agent = create_agent(ScriptedChatModel([*turns, "Done."]), get_tools(shop, toolset))
        state = await agent.ainvoke(GOAL, {"recursion_limit": 50})
        assert state["messages"][-1].text == "Done."
    else:
        tools = llamaindex_tools(shop, toolset)
        agent = FunctionAgent(llm=ScriptedLLM([*turns, "Done."]), tools=tools)
        assert str(await agent.run("Round the cents.")).strip() == "Done."
    assert ROUNDED in (shop / "shop/prices.py").read_text()
