"""What a call costs where the tools are reached by MCP, as ratios.

Run `python examples/bench/reach.py`. npm's server-filesystem is compared when its folder is given:
`--node FOLDER` (with node_modules in it).
"""

import argparse
import asyncio
import gc
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import uvicorn
from corpora import source, tree
from mcp import StdioServerParameters, types
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from fsagent_tools import Tool, select_tools

FILES, LINES, ROUNDS = 2_000, 2_000, 41
READ = {"file_path": "lines.py"}
GLOB = {"pattern": "**/file1*.py"}
GREP = {"pattern": "needle"}
Call = Callable[[], Awaitable[object]]


def echo_server(texts: Path) -> Server[Any]:
    """A server of the same SDK whose one tool answers with the text of a file."""

    async def listed(context: Any, params: Any) -> types.ListToolsResult:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema=schema)])

    async def called(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        name = (params.arguments or {})["name"]
        text = held.get(name) or held.setdefault(name, (texts / name).read_text())
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    held: dict[str, str] = {}
    return Server("echo", on_list_tools=listed, on_call_tool=called)


async def echo_on_stdio(texts: Path) -> None:
    made = echo_server(texts)
    async with stdio_server() as (read, write):
        await made.run(read, write, made.create_initialization_options())


def echo_on_http(texts: Path) -> None:
    app = echo_server(texts).streamable_http_app()
    config = uvicorn.Config(app, port=0, log_level="warning")

    class Told(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            port = self.servers[0].sockets[0].getsockname()[1]
            print(f"http://127.0.0.1:{port}/mcp", file=sys.stderr, flush=True)

    Told(config).run()


async def interleaved(**sides: Call) -> dict[str, list[float]]:
    """Milliseconds of each, in turn, the first two rounds not counted."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(ROUNDS + 2):
        for name, call in sides.items():
            gc.collect()
            start = time.perf_counter()
            await call()
            if number > 1:
                taken[name].append((time.perf_counter() - start) * 1e3)
    return taken


def told(what: str, taken: dict[str, list[float]], bar: str, value: float) -> None:
    sides = ", ".join(f"{name} {statistics.median(ms):.2f} ms" for name, ms in taken.items())
    print(f"| {what} | {value:.2f} | {bar} | {sides} |", flush=True)


def medians(taken: dict[str, list[float]]) -> dict[str, float]:
    return {name: statistics.median(ms) for name, ms in taken.items()}


async def over_stdio(root: Path, texts: Path, node: Path | None) -> None:
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(client("-m", "fsagent_tools.cli", "serve", at=root))
        echo = await stack.enter_async_context(client(__file__, "echo", str(texts), at=root))
        grep = by_name(root)["grep"]
        taken = await interleaved(
            ours=lambda: ours.call_tool("read", READ),
            echo=lambda: echo.call_tool("echo", {"name": "read"}),
            again=lambda: echo.call_tool("echo", {"name": "read"}),
        )
        both = medians(taken)
        told("read of 2,000 lines, more than echo, ms", taken, "1.5", both["ours"] - both["echo"])
        taken = await interleaved(
            ours=lambda: ours.call_tool("grep", GREP),
            here=lambda: done(lambda: grep.call(GREP)),
            echo=lambda: echo.call_tool("echo", {"name": "grep"}),
        )
        both = medians(taken)
        ratio = both["ours"] / (both["here"] + both["echo"])
        told("grep / (in process + echo)", taken, "1.1", ratio)
        if node:
            script = node / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
            theirs = await stack.enter_async_context(
                client(str(script), str(root), at=root, program="node")
            )
            sent = {"path": str(root), "pattern": GLOB["pattern"]}
            taken = await interleaved(
                ours=lambda: ours.call_tool("glob", GLOB),
                theirs=lambda: theirs.call_tool("search_files", sent),
            )
            both = medians(taken)
            told("glob / search_files", taken, "0.5", both["ours"] / both["theirs"])


async def over_http(root: Path, texts: Path) -> None:
    serving = [
        subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True)
        for command in (
            [sys.executable, "-m", "fsagent_tools.cli", "serve", "--http", "0"],
            [sys.executable, __file__, "echo-http", str(texts)],
        )
    ]
    try:
        ours, theirs = (re.search(r"http://\S+", served.stderr.readline())[0] for served in serving)
        async with Client(ours) as serving_ours, Client(theirs) as echo:
            taken = await interleaved(
                ours=lambda: serving_ours.call_tool("read", READ),
                echo=lambda: echo.call_tool("echo", {"name": "read"}),
            )
        both = medians(taken)
        told("read / echo over HTTP", taken, "1.3", both["ours"] / both["echo"])
    finally:
        for served in serving:
            served.terminate()
            served.wait()


async def done(work: Callable[[], object]) -> object:
    return work()


def client(*words: str, at: Path, program: str = sys.executable) -> Client:
    return Client(stdio_client(StdioServerParameters(command=program, args=[*words], cwd=at)))


def by_name(root: Path) -> dict[str, Tool]:
    return {tool.name: tool for tool in select_tools(root)}


async def main(node: Path | None) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        root, texts = Path(temporary, "project"), Path(temporary, "texts")
        root.mkdir()
        texts.mkdir()
        tree(root, FILES)
        (root / "lines.py").write_text(source(LINES))
        tools = by_name(root)
        for name, sent in (("read", READ), ("grep", GREP)):
            (texts / name).write_text(tools[name].call(sent).text)
        print("| what | is | bar | medians |\n|---|---|---|---|")
        await over_stdio(root, texts, node)
        await over_http(root, texts)


if __name__ == "__main__":
    if sys.argv[1:2] == ["echo"]:
        asyncio.run(echo_on_stdio(Path(sys.argv[2])))
    elif sys.argv[1:2] == ["echo-http"]:
        echo_on_http(Path(sys.argv[2]))
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("--node", type=Path, help="a folder with node_modules")
        asyncio.run(main(parser.parse_args().node))
