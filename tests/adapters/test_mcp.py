"""The MCP server as clients use it: the official SDK over stdio and HTTP, and rude ones."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import httpx
import pytest
from mcp import StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools_mcp import SESSION, http_app, server
from mcp_client import ERAS, Client, MCPError
from tests.conftest import PATIENCE, alive, eventually

VERSION = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
every_era = pytest.mark.parametrize("era", ERAS)
NOBODY = {"name": "nobody", "version": "0"}
SERVE = [sys.executable, "-m", "fsagent_tools.cli", "--root", ".", "serve"]


def posted(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


KNOWN = {"protocolVersion": "2025-06-18", "capabilities": {}}
BEGIN = posted("initialize", **KNOWN, clientInfo=NOBODY)


def answering(action, asked):
    async def answer(context, params):
        asked.append(params.message)
        return types.ElicitResult(action=action, content={} if action == "accept" else None)

    return answer


def text_of(result):
    return result.content[0].text


@every_era
async def test_effects_are_told_as_annotations(shop, era):
    async with Client(server(shop), mode=era) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    hints = {
        name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
        for name, tool in listed.items()
    }
    assert hints["read"] == (True, False)
    assert hints["write"] == (False, True)
    assert listed["bash"].annotations.open_world_hint
    assert listed["read"].input_schema["required"] == ["file_path"]


@every_era
async def test_a_tool_that_is_not_there(shop, era):
    async with Client(server(shop, only=["read"]), mode=era) as client:
        with pytest.raises(MCPError, match=r"no tool 'write'\. There are: read"):
            await client.call_tool("write", {})


@every_era
@pytest.mark.parametrize(("tool", "sent"), [
    ("write", {"file_path": "new.txt", "content": "x\n"}),
    ("bash", {"command": "echo x > new.txt"}),
])  # fmt: skip
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_the_client_asks_its_user(shop, era, tool, sent, action):
    asked = []
    made = server(shop, approval=True)
    async with Client(made, mode=era, elicitation_callback=answering(action, asked)) as client:
        result = await client.call_tool(tool, sent)
    assert [re.match(rf"Allow {tool} ", message) is not None for message in asked] == [True]
    assert (shop / "new.txt").exists() is (action == "accept")
    assert result.is_error is (action != "accept")
    assert action == "accept" or f"the user chose to {action}" in text_of(result)


async def test_nothing_of_what_is_asked_is_hidden_or_in_another_order(shop):
    asked, made = [], server(shop, approval=True)
    async with Client(made, elicitation_callback=answering("decline", asked)) as client:
        await client.call_tool("bash", {"command": "ls \u202e\x1b[8m\u2066; rm -rf ~"})
    assert r"command: ls \u202e\x1b[8m\u2066; rm -rf ~" in asked[0]


@every_era
async def test_a_client_that_cannot_ask_changes_nothing(shop, era):
    async with Client(server(shop, approval=True), mode=era) as client:
        result = await client.call_tool("write", {"file_path": "new.txt", "content": "x"})
    assert "cannot ask its user" in text_of(result)
    assert not (shop / "new.txt").exists()


@every_era
async def test_what_changed_while_the_user_thought_is_asked_about_again(shop, era):
    asked = []

    async def answer(context, params):
        asked.append(params.message)
        if len(asked) == 1:
            (shop / "a.txt").write_text("theirs\n")
        return types.ElicitResult(action="accept", content={})

    (shop / "a.txt").write_text("old\n")
    made = server(shop, approval=True)
    async with Client(made, mode=era, elicitation_callback=answer) as client:
        sent = {"file_path": "a.txt", "content": "ours\n"}
        assert not (await client.call_tool("write", sent)).is_error
    assert "-old" in asked[0]
    assert "-theirs" in asked[1]
    assert (shop / "a.txt").read_text() == "ours\n"


async def test_a_picture_is_a_block(shop):
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (4, 4), "red").save(shop / "red.png")
    async with Client(server(shop)) as client:
        content = (await client.call_tool("read", {"file_path": "red.png"})).content
    assert [part.type for part in content] == ["text", "image"]


def rooted(*roots):
    """The callback of a client with these roots."""

    async def listed(context):
        return types.ListRootsResult(roots=[types.Root(uri=path.as_uri()) for path in roots])

    return {"list_roots_callback": listed}


async def called(made, era, roots, tool, **sent):
    async with Client(made, mode=era, **roots) as client:
        return await client.call_tool(tool, sent)


@every_era
@pytest.mark.parametrize(("inside", "tool", "sent"), [
    (True, "read", {"file_path": "shop/prices.py"}),
    (False, "read", {"file_path": "README.md"}),
    (False, "read", {"file_path": "out.md"}),  # a link in the root leads out of it
    (True, "write", {"file_path": "shop/new.txt", "content": "x"}),
    (False, "write", {"file_path": "new.txt", "content": "x"}),
    (False, "mv", {"source": "shop/prices.py", "destination": "prices.py"}),
    (False, "bash", {"command": "cat README.md"}),
])  # fmt: skip
async def test_roots_of_the_client_tighten(shop, era, inside, tool, sent):
    (shop / "shop/out.md").symlink_to(shop / "README.md")
    sent = {k: v.replace("out.md", "shop/out.md") for k, v in sent.items()}
    made = server(shop, "filesystem" if tool == "mv" else "workspace")
    result = await called(made, era, rooted(shop / "shop"), tool, **sent)
    assert result.is_error is not inside
    assert inside or "outside the allowed paths" in text_of(result) or "roots" in text_of(result)
    assert not (shop / "new.txt").exists()


@every_era
@pytest.mark.parametrize(("tool", "sent"), [
    ("glob", {"pattern": "**/*"}),
    ("grep", {"pattern": "shop|parse"}),
    ("ls", {"recursive": True}),
])  # fmt: skip
async def test_a_search_shows_only_what_is_beneath_the_roots(shop, era, tool, sent):
    (shop / "a[b]").mkdir()
    (shop / "a[b]/c.txt").write_text("parse\n")
    (shop / "ab.txt").write_text("parse\n")
    roots = rooted(shop / "shop", shop / "a[b]")
    found = await called(server(shop, show={"ls": ["recursive"]}), era, roots, tool, **sent)
    assert "prices.py" in text_of(found)
    assert "c.txt" in text_of(found)
    assert "README" not in text_of(found)
    assert "ab.txt" not in text_of(found)


@every_era
async def test_roots_cannot_widen(shop, era):
    (shop.parent / "other").mkdir()
    (shop.parent / "other/a.txt").write_text("theirs")
    wide, other = rooted(shop.parent), rooted(shop.parent / "other")
    path = str(shop.parent / "other/a.txt")
    for roots in (wide, other):
        result = await called(server(shop), era, roots, "read", file_path=path)
        assert result.is_error, text_of(result)
    assert not (await called(server(shop), era, wide, "bash", command="true")).is_error
    assert (await called(server(shop), era, other, "read", file_path="README.md")).is_error
    assert not (await called(server(shop), era, rooted(), "read", file_path="README.md")).is_error


@every_era
async def test_a_client_with_roots_approves(shop, era):
    asked = []
    answer = {**rooted(shop / "shop"), "elicitation_callback": answering("accept", asked)}
    sent = {"file_path": "shop/new.txt", "content": "x\n"}
    result = await called(server(shop, approval=True), era, answer, "write", **sent)
    assert not result.is_error
    assert len(asked) == 1


async def test_each_session_has_seen_its_own(shop):
    (shop / "a.txt").write_text("one\n" + "two\n" * 100_000)  # large files have to be read first
    made = server(shop, "compact")
    sent = {"file_path": "a.txt", "old_string": "one", "new_string": "1"}
    async with Client(made) as client:
        await client.call_tool("Read", {"file_path": "a.txt"}, meta={SESSION: "anna"})
        other = await client.call_tool("Edit", sent, meta={SESSION: "bert"})
        own = await client.call_tool("Edit", sent, meta={SESSION: "anna"})
    assert (other.is_error, own.is_error) == (True, False), text_of(other)


def stdio(*words, cwd, **environment):
    wanted = {k: v for k, v in os.environ.items() if not k.startswith("FSAGENT_")}
    return StdioServerParameters(
        command=SERVE[0], args=[*SERVE[1:], *words], cwd=cwd, env={**wanted, **environment}
    )


@every_era
async def test_over_stdio(shop, era):
    told = []

    async def progress(done, total, message):
        told.append(message)

    async with Client(stdio_client(stdio(cwd=shop)), mode=era) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert "read" in listed
        sent = {"command": "echo one; echo two >&2"}
        result = await client.call_tool("bash", sent, progress_callback=progress)
    assert "one" in text_of(result)
    assert "one" in "".join(told)


@pytest.mark.full
@every_era
async def test_a_request_over_stdio_that_is_cancelled_stops_its_command(shop, era):
    async with Client(stdio_client(stdio(cwd=shop)), mode=era) as client:
        call = client.call_tool("bash", {"command": "exec sleep 31415927"})
        waiting = asyncio.create_task(call)
        assert await asyncio.to_thread(eventually, lambda: alive("sleep 31415927"))
        waiting.cancel()
        await asyncio.wait([waiting])
        assert await asyncio.to_thread(eventually, lambda: not alive("sleep 31415927"))
        assert not (await client.call_tool("read", {"file_path": "shop/prices.py"})).is_error


class Wire:
    """Messages to a server, None at their end, and the IDs of its answers."""

    def __init__(self):
        self.sent, self.answered = asyncio.Queue(), list[object]()

    async def __aiter__(self):
        while (message := await self.sent.get()) is not None:
            yield json.dumps({**message, "jsonrpc": "2.0"})

    async def write(self, text):
        self.answered.append(json.loads(text)["id"])

    async def flush(self):
        pass


async def several_turns(context, params):
    for _ in range(20):  # more than a cancel takes to arrive
        turn = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(turn.set_result, None)
        await turn
    return {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}


async def test_a_cancel_at_any_turn_of_a_call_leaves_a_server_that_answers():
    """One call for each turn of the loop, until one is answered before it would be cancelled."""
    made, wire = Server("turns"), Wire()
    made.add_request_handler("tools/call", types.CallToolRequestParams, several_turns)
    async with asyncio.timeout(PATIENCE), stdio_server(wire, wire) as streams:
        serving = asyncio.create_task(made.run(*streams, made.create_initialization_options()))
        wire.sent.put_nowait(BEGIN)
        wire.sent.put_nowait({"method": "notifications/initialized"})
        for turns in count(2):
            wire.sent.put_nowait({**posted("tools/call", name="any"), "id": turns})
            for _ in range(turns):
                await asyncio.sleep(0)
            if turns in wire.answered or serving.done():
                break
            gone = {"requestId": turns}
            wire.sent.put_nowait({"method": "notifications/cancelled", "params": gone})
        wire.sent.put_nowait(None)
    assert turns in wire.answered
    assert max(Counter(wire.answered).values()) == 1, wire.answered


@pytest.mark.full
@pytest.mark.parametrize("page", ["README.md", "docs/howto/mcp.md"])
async def test_the_configuration_in_the_documents_works(shop, page):
    text = (Path(__file__).parents[2] / page).read_text()
    (written,) = re.findall(r"^```json\n(.*?)^```$", text, re.M | re.S)
    (named,) = json.loads(written)["mcpServers"].values()
    words = [named["command"], *named["args"]]
    words = words[words.index("fsagent") + 1 :]  # before it stands what installs it
    arguments = [str(shop) if one == "/path/to/project" else one for one in words]
    installed = str(Path(sys.executable).with_name("fsagent"))
    parameters = StdioServerParameters(command=installed, args=arguments)
    async with Client(stdio_client(parameters)) as client:
        assert "def parse" in text_of(await client.call_tool("grep", {"pattern": "def parse"}))


@pytest.mark.full
async def test_a_readonly_server_has_only_tools_that_read(shop):
    async with Client(stdio_client(stdio("--readonly", cwd=shop))) as client:
        listed = (await client.list_tools()).tools
    assert not {"write", "edit_lines"} & {tool.name for tool in listed}
    assert "read" in {tool.name for tool in listed}


@asynccontextmanager
async def serving(shop, token=None):
    """`fsagent serve --http`, at the port that it prints."""
    environment = {"FSAGENT_SERVE_TOKEN": token} if token else {}
    parameters = stdio("--http", "0", cwd=shop, **environment)
    process = await asyncio.create_subprocess_exec(
        parameters.command,
        *parameters.args,
        cwd=shop,
        env=parameters.env,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            line = (await process.stderr.readline()).decode()
        yield re.search(r"http://\S+", line)[0], process
    finally:
        process.send_signal(signal.SIGINT)
        await process.wait()


HEADERS = {"accept": "application/json, text/event-stream"}


@pytest.mark.full
async def test_what_a_rude_client_gets(shop):
    huge = json.dumps(posted("tools/call", name="read", arguments={"x": "x" * 5_000_000}))
    async with serving(shop) as (url, _), httpx.AsyncClient(timeout=PATIENCE) as http:
        evil = {**HEADERS, "origin": "http://evil.example"}
        assert (await http.post(url, json=posted("tools/list"), headers=evil)).status_code == 403
        other = {**HEADERS, "host": "evil.example"}
        assert (await http.post(url, json=posted("tools/list"), headers=other)).status_code == 421
        typed = {**HEADERS, "content-type": "application/json"}
        assert (await http.post(url, content=huge, headers=typed)).status_code == 413
        assert (await http.post(url, content="{", headers=typed)).status_code == 400
        command = {"command": "exec sleep 31415926"}
        sent = posted("tools/call", name="bash", arguments=command, _meta=ENVELOPE)
        named = {"mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": "bash"}
        dropped = asyncio.create_task(http.post(url, json=sent, headers=HEADERS | named))
        assert await asyncio.to_thread(eventually, lambda: alive("sleep 31415926"))
        dropped.cancel()
        await asyncio.wait([dropped])
        assert await asyncio.to_thread(eventually, lambda: not alive("sleep 31415926"))
        async with Client(url) as client:
            assert (await client.list_tools()).tools


@pytest.mark.full
def test_lines_on_stdin_that_are_no_requests(shop):
    words = [*SERVE[:-1], "--root", str(shop), "serve"]
    lines = ["{", "[]", "null", '{"jsonrpc": "2.0"}', "\x00\xff", json.dumps(BEGIN)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write("\n".join([*lines, ""]).encode("latin-1"))
        process.stdin.flush()
        answers = (json.loads(line) for line in process.stdout)
        found = next(one for one in answers if one.get("id") == 1)
        process.kill()
    assert found["result"]["serverInfo"]["name"] == "fsagent-tools"


@pytest.mark.full
def test_an_interrupt_ends_it_though_its_terminal_stays_open(shop):
    words = [*SERVE, "--root", str(shop)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            process.stdin.write(json.dumps(BEGIN).encode() + b"\n")
            process.stdin.flush()
            assert process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == -signal.SIGINT
        finally:
            process.kill()


@pytest.mark.full
def test_what_is_printed_in_the_server_is_no_message(shop):
    code = "import sys, fsagent_tools.cli as cli; from fsagent_tools import Workspace\n"
    code += "Workspace.readable = lambda self, path: print('printed', flush=True) or self\n"
    call = posted("tools/call", name="read", arguments={"file_path": "shop/prices.py"})
    sent = [BEGIN, {"jsonrpc": "2.0", "method": "notifications/initialized"}, {**call, "id": 2}]
    words = [sys.executable, "-c", code + "sys.exit(cli.main(['serve', '--root', '.']))"]
    with subprocess.Popen(
        words, cwd=shop, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdin.write("".join(f"{json.dumps(one)}\n" for one in sent).encode())
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.kill()
    assert "\tdef parse" in answers[1]["result"]["content"][0]["text"]


def test_no_open_door_without_a_token(shop):
    with pytest.raises(ConfigInvalid, match=r"Anyone who can reach 0\.0\.0\.0.*token"):
        http_app(server(shop), host="0.0.0.0")


def test_serve_without_the_extra_names_it(shop):
    script = "import sys; sys.modules['mcp'] = None; from fsagent_tools.cli import main; "
    done = subprocess.run(
        [sys.executable, "-c", script + "sys.exit(main(['serve', '--root', '.']))"],
        cwd=shop,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    assert 'Install "fsagent-tools[mcp]"' in done.stderr
