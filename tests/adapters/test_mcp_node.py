"""The MCP server for clients of other makers: the TypeScript SDK and the inspector."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fsagent_tools import TOOLSETS, select_tools
from samples import arguments
from tests.conftest import PATIENCE

NODE = Path(__file__).parents[2] / ".ci/node/node_modules"
SERVE = [sys.executable, "-m", "fsagent_tools.cli", "--root", ".", "serve"]
CLIENT = """
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const told = {};
for (const [toolset, { args, calls }] of Object.entries(JSON.parse(process.argv[2]))) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.argv[3], args }));
  const listed = (await client.listTools()).tools.map(tool => tool.name);
  const results = {};
  for (const [name, sent] of Object.entries(calls))
    results[name] = await client.callTool({ name, arguments: sent });
  told[toolset] = { listed, results };
  await client.close();
}
console.log(JSON.stringify(told));
"""

pytestmark = pytest.mark.skipif(
    not (shutil.which("node") and (NODE / "@modelcontextprotocol/sdk").exists()),
    reason="needs node, and @modelcontextprotocol/sdk and inspector in .ci/node (.ci/run)",
)


def run(command, cwd):
    patience = PATIENCE * len(TOOLSETS)  # one run may start a server for each
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=patience)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_typescript_sdk_lists_and_calls_every_tool(shop, tmp_path):
    (tmp_path / "node_modules").symlink_to(NODE)
    (tmp_path / "client.mjs").write_text(CLIENT)
    sent, names = {}, {}
    for toolset in TOOLSETS:
        copy = shutil.copytree(shop, tmp_path / toolset)
        tools = select_tools(copy, toolset)
        names[toolset] = [tool.name for tool in tools]
        words = [*SERVE[1:], "--root", str(copy), "--toolset", toolset]
        sent[toolset] = {"args": words, "calls": {tool.name: arguments(tool) for tool in tools}}
    told = run(["node", "client.mjs", json.dumps(sent), SERVE[0]], tmp_path)
    assert {toolset: one["listed"] for toolset, one in told.items()} == names
    for toolset, one in told.items():
        for name, result in one["results"].items():
            text = result["content"][0]["text"]
            assert text, (toolset, name)
            assert result.get("isError", False) is text.startswith("Error: ")
            assert result["structuredContent"]["success"] is not result.get("isError", False)


def inspected(*words, root):
    return run([NODE / ".bin/mcp-inspector", "--cli", *SERVE, *words], root)


def test_the_inspector_lists_and_calls(shop):
    listed = inspected("--method", "tools/list", root=shop)["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in select_tools(shop)]
    called = inspected("--method", "tools/call", "--tool-name", "ls", root=shop)
    assert "shop" in called["content"][0]["text"]


@pytest.mark.slow
@pytest.mark.parametrize("toolset", TOOLSETS)
def test_the_inspector_calls_every_tool(toolset, shop):
    words = ("--toolset", toolset, "--method")
    tools = select_tools(shop, toolset)
    listed = inspected(*words, "tools/list", root=shop)["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in tools]
    for tool in tools:
        sent = {k: v if isinstance(v, str) else json.dumps(v) for k, v in arguments(tool).items()}
        given = [word for name, value in sent.items() for word in ("--tool-arg", f"{name}={value}")]
        found = inspected(*words, "tools/call", "--tool-name", tool.name, *given, root=shop)
        text = found["content"][0]["text"]
        assert found.get("isError", False) is text.startswith("Error: ")
        assert found["structuredContent"].get("code") != "VALIDATION_ERROR", text
