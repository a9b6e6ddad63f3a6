"""`fsagent serve` as it is typed, and the official SDK calling every tool of every toolset."""

import asyncio
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import httpx
import pytest
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from fsagent_tools import TOOLSETS, select_tools
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools_mcp import SESSION, http_app, server
from mcp_client import ERAS, Client, running
from samples import arguments
from test_frameworks import python_with
from tests.conftest import PATIENCE, alive, eventually

pytestmark = pytest.mark.full

SERVE = ["-m", "fsagent_tools.cli", "--root", ".", "serve"]
NOBODY = {"name": "nobody", "version": "0"}
every_toolset = pytest.mark.parametrize("toolset", TOOLSETS)


async def calls_every_tool(client, tools):
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert [*listed] == [tool.name for tool in tools]
    for tool in tools:
        assert listed[tool.name].input_schema == tool.schema
        result = await client.call_tool(tool.name, arguments(tool))
        text = result.content[0].text
        assert text
        assert result.is_error is text.startswith("Error: ")
        assert result.structured_content["success"] is not result.is_error
        assert result.structured_content.get("code") != "VALIDATION_ERROR", text


@pytest.mark.parametrize("toolset", ["workspace", "deepagents"])  # each by HTTP, which is cheaper
async def test_the_python_sdk_over_stdio(shop, toolset):
    words = [*SERVE, "--toolset", toolset]
    parameters = StdioServerParameters(command=sys.executable, args=words, cwd=shop)
    async with Client(stdio_client(parameters)) as client:
        await calls_every_tool(client, select_tools(shop, toolset))


@pytest.mark.parametrize("era", ERAS)
@every_toolset
async def test_the_python_sdk_over_http(shop, toolset, era):
    with running(http_app(server(shop, toolset))) as url:
        async with Client(f"{url}/mcp", mode=era) as client:
            await calls_every_tool(client, select_tools(shop, toolset))


def typed(*words, root, **environment):
    """What `fsagent serve` says where it does not serve."""
    return subprocess.run(
        [sys.executable, "-m", "fsagent_tools.cli", "--root", root, "serve", *words],
        env={"PATH": "/usr/bin:/bin", "HOME": str(root), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("address", ["abc", "99999", "-1", "localhost", "127.0.0.1:"])
def test_an_address_that_is_none(shop, address):
    done = typed(f"--http={address}", root=shop)
    assert done.returncode == 2
    assert f"{address!r} is not PORT or HOST:PORT, such as 8000" in done.stderr


def test_an_address_that_is_taken(shop):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = typed("--http", str(port), root=shop)
    assert done.returncode == 2
    assert re.search(rf"cannot listen at 127\.0\.0\.1:{port}.*in use", done.stderr)
    assert "Traceback" not in done.stderr


def test_a_root_that_is_not_there(shop):
    done = typed(root=shop / "nope")
    assert done.returncode == 2
    assert f"--root: {shop / 'nope'} is not a directory." in done.stderr


def test_a_token_that_no_client_can_send(shop):
    with pytest.raises(ConfigInvalid, match="token has characters that no header can carry"):
        http_app(server(shop), token="s3cret\n")


def test_its_help_names_the_options_of_every_command(shop):
    assert "--toolset" in typed("--help", root=shop).stdout


@contextmanager
def served_at(shop):
    """The port of `fsagent serve --http`, and its process."""
    words = [sys.executable, "-m", "fsagent_tools.cli", "--root", shop, "serve", "--http", "0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield int(re.search(r":(\d+)/mcp", process.stderr.readline())[1]), process
        finally:
            process.kill()


def test_a_client_that_never_ends_its_request_does_not_keep_the_server_from_ending(shop):
    with (
        served_at(shop) as (port, process),
        socket.create_connection(("127.0.0.1", port)) as slow,
    ):
        slow.send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
        with socket.create_connection(("127.0.0.1", port)) as other:
            other.send(b"GET / HTTP/1.0\r\n\r\n")
            assert other.recv(12).endswith(b"404")  # so the slow one was taken, too
        process.terminate()
        process.wait(PATIENCE)


def test_a_client_that_closes_only_its_own_end_of_stdout_ends_the_server(shop):
    """While a call is under way, too: its command ends with the server."""
    sent = (
        ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": NOBODY}),
        ("tools/call", {"name": "bash", "arguments": {"command": "touch begun; sleep 600"}}),
    )
    with subprocess.Popen(
        [sys.executable, *SERVE], cwd=shop, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as served:
        for number, (method, params) in enumerate(sent):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            served.stdin.write(json.dumps(message).encode() + b"\n")
            served.stdin.flush()
            if not number:
                assert b"fsagent-tools" in served.stdout.readline()
                initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                served.stdin.write(json.dumps(initialized).encode() + b"\n")
        assert eventually((shop / "begun").exists)
        served.stdout.close()
        assert served.wait(PATIENCE) == 0


@pytest.mark.parametrize(("text", "code"), [("\\ud83d", -32602), ("\\ud83d\\ude00", None)])
def test_a_request_with_half_a_character_is_answered(shop, text, code):
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": NOBODY}
    call = {"name": "write", "arguments": {"file_path": "half.txt", "content": "HALF"}}
    sent = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with subprocess.Popen(
        [sys.executable, *SERVE], cwd=shop, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as served:
        try:
            for message in sent:
                served.stdin.write(json.dumps(message).replace("HALF", text) + "\n")
                served.stdin.flush()
                if "id" in message:
                    answer = json.loads(served.stdout.readline())
        finally:
            served.kill()
    assert answer["id"] == 2
    assert answer.get("error", {}).get("code") == code
    assert (shop / "half.txt").exists() is (code is None)


async def test_what_a_session_over_http_started_ends_with_it(shop):
    accept = {"accept": "application/json, text/event-stream"}
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": NOBODY}
    call = {"name": "bash", "arguments": {"command": "exec sleep 16180339", "background": True}}
    with running(http_app(server(shop))) as url:
        async with httpx.AsyncClient(timeout=PATIENCE, headers=accept) as http:

            async def post(method, params, **headers):
                body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                return await http.post(f"{url}/mcp", json=body, headers=headers)

            begun = await post("initialize", start)
            session = {"mcp-session-id": begun.headers["mcp-session-id"]}
            assert "running as job 1" in (await post("tools/call", call, **session)).text
            assert await asyncio.to_thread(eventually, lambda: alive("sleep 16180339"))
            assert (await http.delete(f"{url}/mcp", headers=session)).is_success
            assert await asyncio.to_thread(eventually, lambda: not alive("sleep 16180339"))


def test_the_name_of_a_host_has_no_case(shop):
    asked = "POST /mcp HTTP/1.1\r\nHost: {0}:{1}\r\nOrigin: HTTP://{0}:{1}\r\n\r\n"
    with (
        served_at(shop) as (port, _),
        socket.create_connection(("127.0.0.1", port)) as client,
    ):
        client.send(asked.format("LocalHost", port).encode())
        assert client.recv(12) == b"HTTP/1.1 400"  # of what is posted, not 421 nor 403


async def test_two_sessions_over_http_are_apart(shop):
    (shop / "a.txt").write_text("one\n" + "two\n" * 100_000)  # large files have to be read first
    sent = {"file_path": "a.txt", "old_string": "one", "new_string": "1"}
    with running(http_app(server(shop, "compact"))) as url:
        first, second = (Client(f"{url}/mcp", mode="legacy") for _ in range(2))
        async with first as anna, second as bert:
            await anna.call_tool("Read", {"file_path": "a.txt"})
            assert (await bert.call_tool("Edit", sent)).is_error
            assert not (await anna.call_tool("Edit", sent)).is_error


SESSIONS = [40, pytest.param(1500, marks=pytest.mark.slow)]
START = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": NOBODY}
READ = {"name": "read", "arguments": {"file_path": "shop/prices.py"}}


def posted(method, params, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def are_flat(counts):
    """None is kept: some that the first sessions open, such as a log, are for all."""
    return max(counts[len(counts) // 2 :]) <= max(counts[: len(counts) // 2]) + 2


@pytest.mark.parametrize("count", SESSIONS)
def test_sessions_over_http_that_end_leave_no_descriptor(count, shop):
    accept = {"accept": "application/json, text/event-stream"}
    counts = []
    with served_at(shop) as (port, process), httpx.Client(timeout=PATIENCE, headers=accept) as http:
        url = f"http://127.0.0.1:{port}/mcp"
        for _ in range(count):
            begun = http.post(url, json=posted("initialize", START))
            session = {"mcp-session-id": begun.headers["mcp-session-id"]}
            assert (
                "def parse" in http.post(url, json=posted("tools/call", READ), headers=session).text
            )
            assert http.delete(url, headers=session).is_success
            counts.append(len(os.listdir(f"/proc/{process.pid}/fd")))
    assert are_flat(counts), counts


@pytest.mark.parametrize("count", SESSIONS)
def test_sessions_that_a_client_over_stdio_names_need_no_descriptors(count, shop):
    counts = []
    with subprocess.Popen(
        [sys.executable, *SERVE], cwd=shop, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as served:
        sent = [posted("initialize", START)]
        sent += [posted("tools/call", {**READ, "_meta": {SESSION: f"{n}"}}) for n in range(count)]
        for message in sent:
            served.stdin.write(json.dumps(message) + "\n")
            served.stdin.flush()
            assert "error" not in json.loads(served.stdout.readline())
            counts.append(len(os.listdir(f"/proc/{served.pid}/fd")))
        served.kill()
    assert are_flat(counts), counts


SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
SETTINGS = """
HostKey {0}/host
AuthorizedKeysFile {0}/user.pub
StrictModes no
PidFile none
SetEnv XDG_STATE_HOME={1}
"""
OPTIONS = ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")


@pytest.fixture
def ssh(tmp_path):
    """The words of `ssh localhost`, with a server and keys of its own."""
    if not SSHD or not (os.getuid() or os.path.isdir("/run/sshd")):
        pytest.skip("needs sshd, and root's needs /run/sshd, which its service makes")
    for name in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name]
        subprocess.run(words, check=True)
    (tmp_path / "settings").write_text(SETTINGS.format(tmp_path, os.environ["XDG_STATE_HOME"]))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = ["-f", tmp_path / "settings", "-o", f"ListenAddress=127.0.0.1:{port}"]
    with subprocess.Popen([SSHD, "-De", *own], stderr=subprocess.PIPE, text=True) as process:
        assert "Server listening" in process.stderr.readline()
        options = [word for option in OPTIONS for word in ("-o", option)]
        yield ["-F", "none", "-i", f"{tmp_path}/user", "-p", f"{port}", *options, "localhost"]
        process.terminate()


async def test_two_users_over_ssh_are_apart(ssh, shop):
    (shop / "a.txt").write_text("one\n" + "two\n" * 100_000)
    sent = {"file_path": "a.txt", "old_string": "one", "new_string": "1"}
    fsagent = f"{os.path.dirname(sys.executable)}/fsagent"
    serve = shlex.join([fsagent, "--root", str(shop), "--toolset", "compact", "serve"])
    there = StdioServerParameters(command="ssh", args=[*ssh, serve])
    async with Client(stdio_client(there)) as anna, Client(stdio_client(there)) as bert:
        await anna.call_tool("Read", {"file_path": "a.txt"})
        assert (await bert.call_tool("Edit", sent)).is_error
        assert not (await anna.call_tool("Edit", sent)).is_error


USERS = """
import asyncio, json, pathlib, sys
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

async def main(server):
    client = MultiServerMCPClient({"files": json.loads(server)})
    async with client.session("files") as one, client.session("files") as two:
        anna, bert = [{t.name: t for t in await load_mcp_tools(each)} for each in (one, two)]
        await anna["bash"].ainvoke({"command": "exec sleep 16180338", "background": True})
        print([str(await user["jobs"].ainvoke({"action": "list"})) for user in (anna, bert)])
    bash = {t.name: t for t in await client.get_tools()}["bash"]
    waiting = asyncio.create_task(bash.ainvoke({"command": "touch begun; exec sleep 16180337"}))
    while not pathlib.Path("begun").exists():
        await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.wait([waiting])
    print("cancelled", flush=True)
    sys.stdin.read()

asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize("way", ["stdio", "http", "ssh"])
def test_langchains_client_has_two_users_apart_and_cancels_a_command(way, shop, request):
    python = python_with("langchain_mcp_adapters")
    stdio = {"transport": "stdio", "command": sys.executable, "args": SERVE, "cwd": str(shop)}
    with ExitStack() as stack:
        server = stdio
        if way == "http":
            port, _ = stack.enter_context(served_at(shop))
            server = {"transport": "http", "url": f"http://127.0.0.1:{port}/mcp"}
        elif way == "ssh":
            there = [f"{os.path.dirname(sys.executable)}/fsagent", "--root", str(shop), "serve"]
            words = [*request.getfixturevalue("ssh"), shlex.join(there)]
            server = {**stdio, "command": "ssh", "args": words}
        piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        words = [python, "-c", USERS, json.dumps(server)]
        client = stack.enter_context(subprocess.Popen(words, cwd=shop, text=True, **piped))
        assert client.stdout.readline().count("sleep 16180338") == 1
        assert client.stdout.readline() == "cancelled\n"
        assert eventually(lambda: not alive("sleep 16180338") and not alive("sleep 16180337"))
        client.stdin.close()
