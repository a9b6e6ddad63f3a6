"""What goes over the wire between remote tools and their server, also when it breaks."""

import asyncio
import gzip
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import ExitStack, suppress

import pytest

from elsewhere import running
from fsagent_tools import emitting, select_tools
from fsagent_tools.errors import ConfigInvalid, NetworkError, ToolError
from fsagent_tools.remote import CancelFlag, Sending
from fsagent_tools_mcp import HttpChannel, http_app, posting, server
from tests.conftest import PATIENCE, alive, eventually

READ = {"file_path": "shop/prices.py"}


class Watched:
    """An ASGI application whose requests are written down: method, and port of the client."""

    def __init__(self, app):
        self.app, self.seen = app, []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            self.seen.append((scope["method"], scope["client"][1]))
        await self.app(scope, receive, send)


@pytest.fixture
def watched(shop):
    app = Watched(http_app(server(shop)))
    with running(app) as url:
        app.url = url
        yield app


def by_name(*given, **options):
    return {tool.name: tool for tool in select_tools(*given, **options)}


def sockets():
    links = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the one that lists them
            links.append(os.readlink(f"/proc/self/fd/{number}"))
    return sum(link.startswith("socket:") for link in links)


def test_all_users_of_a_server_share_its_connections(watched):
    read = by_name(lambda user: f"{watched.url}?user={user}")["read"]
    for user in range(50):
        with read.within(user) as here:
            assert here.call(READ).ok
    assert len({port for _, port in watched.seen}) == 1


def test_of_connections_to_many_servers_those_used_last_are_kept(watched, monkeypatch):
    monkeypatch.setattr(posting, "AT_HAND", 1)
    servers = [watched.url, watched.url.replace("127.0.0.1", "localhost")]
    read, before = by_name(lambda turn: servers[turn % 2])["read"], sockets()
    for turn in range(20):
        with read.within(turn) as here:
            assert here.call(READ).ok
    # both ends of each are in this process, and the server closes its own later
    assert eventually(lambda: sockets() <= before + 2)


def test_a_call_is_one_request_over_a_connection_that_is_kept(watched):
    read = by_name(watched.url)["read"]
    for _ in range(5):
        assert read.call(READ).ok
    assert [method for method, _ in watched.seen] == ["POST"] * 6
    assert len({port for _, port in watched.seen}) == 1


def test_a_call_with_live_output_leaves_its_connection_to_the_next(watched, monkeypatch):
    monkeypatch.setattr(posting, "LINGER", PATIENCE)
    bash, told = by_name(watched.url)["bash"], []
    with emitting(told.append):
        assert bash.call({"command": "echo one; echo zwei | tr w W"}).ok
    assert bash.call({"command": "echo two"}).ok
    assert "".join(told) == "one\nzWei\n"
    assert len({port for _, port in watched.seen}) == 1


def test_calls_at_once_have_connections_of_their_own(watched, shop):
    bash = by_name(watched.url)["bash"]
    meet = "touch {0}; until [ -e {1} ]; do sleep 0.01; done"  # each waits for the other

    async def both():
        sent = [{"command": meet.format(*names)} for names in ("ab", "ba")]
        return await asyncio.gather(*map(bash.acall, sent))

    assert all(outcome.ok for outcome in asyncio.run(both()))
    assert len({port for _, port in watched.seen}) == 2


def test_what_the_hosts_callback_raises_reaches_the_host(watched):
    def broken(text):
        raise ValueError(f"cannot show {text!r}")

    with emitting(broken), pytest.raises(ValueError, match="cannot show 'one"):
        by_name(watched.url)["bash"].call({"command": "echo one"})


def test_a_call_that_was_cancelled_before_is_not_sent(watched):
    cancelled = CancelFlag()
    cancelled.set()
    with pytest.raises(ToolError, match="cancelled before it was sent"):
        HttpChannel(watched.url).call(Sending("read", READ, cancelled=cancelled))
    assert watched.seen == []


def test_cancelling_ends_the_command_and_not_the_channel(watched):
    channel, cancelled = HttpChannel(watched.url), CancelFlag()
    found = []

    def call():
        try:
            channel.call(Sending("bash", {"command": "exec sleep 2718281"}, cancelled=cancelled))
        except ToolError as error:
            found.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    assert eventually(lambda: alive("sleep 2718281"))
    cancelled.set()
    thread.join(PATIENCE)
    assert [error.code for error in found] == ["CANCELLED"]
    assert eventually(lambda: not alive("sleep 2718281"))
    assert channel.call(Sending("read", READ)).ok


def test_an_answer_counts_for_the_change_that_was_shown(watched, shop):
    (shop / "a.txt").write_text("old\n")
    channel, sent = HttpChannel(watched.url), {"file_path": "a.txt", "content": "ours\n"}
    asked = channel.call(Sending("write", sent, ask=True, call="1"))
    (shop / "a.txt").write_text("theirs\n")
    again = channel.call(Sending("write", sent, answer=asked.state, call="1"))
    assert "-theirs" in again.diff
    assert (shop / "a.txt").read_text() == "theirs\n"
    assert channel.call(Sending("write", sent, answer=again.state, call="1")).ok
    assert (shop / "a.txt").read_text() == "ours\n"


@pytest.mark.parametrize("megabytes", [5, 40])
def test_a_body_that_is_too_large_is_answered(watched, shop, megabytes):
    tools = by_name(watched.url)
    sent = {"file_path": "a.txt", "content": "x" * megabytes * 2**20}
    refused = tools["write"].call(sent)
    assert "takes no call as large as this" in refused.text
    assert not (shop / "a.txt").exists()
    assert tools["read"].call(READ).ok


# What a host gets wrong


@pytest.mark.parametrize("url", [
    "http://", "http://:8000", "http://h:port", "http://h:99999", "http://[::1", "https:///mcp",
])  # fmt: skip
def test_a_url_that_is_none(url):
    with pytest.raises(ConfigInvalid, match=re.escape(repr(url)) + " is not the URL of a tool ser"):
        select_tools(url)


@pytest.mark.parametrize("url", [
    "localhost:8000", "127.0.0.1:8000/mcp", "files.internal:80", "http:/localhost:8000", "ws://h:1",
])  # fmt: skip
def test_a_url_that_has_no_scheme_of_ours(url):
    with pytest.raises(ConfigInvalid, match=r"neither a directory nor a URL.*http://"):
        select_tools(url)


def test_a_directory_may_be_called_like_a_url(tmp_path, monkeypatch):
    (tmp_path / "localhost:8000").mkdir()
    monkeypatch.chdir(tmp_path)
    assert select_tools("localhost:8000")


@pytest.mark.parametrize(
    "form", ["{}", "{}/", "{}/mcp", "{}/mcp/", " {}\n", "{}/mcp#top", "HTTP{}"]
)
def test_forms_of_a_url_that_lead_to_the_server(watched, form):
    url = watched.url.removeprefix("http") if form == "HTTP{}" else watched.url
    assert select_tools(form.format(url))


@pytest.mark.parametrize("path", ["/mcp/mcp", "/tools", "/mcp/tools"])
def test_a_path_that_leads_nowhere(watched, path):
    with pytest.raises(ConfigInvalid, match=r"is not there \(404.*`fsagent serve` prints"):
        select_tools(watched.url + path)


def test_a_name_that_the_server_does_not_know(shop):
    app = http_app(server(shop), host="files.internal", token="s3cret")
    with running(app) as url, pytest.raises(ConfigInvalid, match=r"not know itself .*--http"):
        select_tools(url, token="s3cret")


def test_the_usual_port_is_no_part_of_a_name(shop):
    with running(http_app(server(shop), port=80)) as url:
        place = url.removeprefix("http://").partition(":")
        with socket.create_connection((place[0], int(place[2].partition("/")[0]))) as client:
            client.send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.recv(12) == b"HTTP/1.1 400"  # of what is posted, not 421


def test_a_token_for_what_is_no_server(shop):
    with pytest.raises(ConfigInvalid, match="token is for the URL of a server"):
        select_tools(shop, token="s3cret")
    assert select_tools(shop, token="")


@pytest.mark.parametrize("token", ["s3cret\n", "sécret", " s3cret", "a\0b"])
def test_a_token_that_no_header_carries(token):
    with pytest.raises(ConfigInvalid, match="token has characters"):
        HttpChannel("http://127.0.0.1:9", token)


@pytest.mark.parametrize("token", ["wrong", "", None])
def test_a_token_that_is_not_the_servers(shop, token):
    with running(http_app(server(shop), token="s3cret")) as url:
        with pytest.raises(ConfigInvalid, match=r"refuses the token.*what FSAGENT_SERVE_"):
            select_tools(url, **({} if token is None else {"token": token}))
        assert select_tools(url, token="s3cret")


# Others on the wire


class Rude:
    """A server that reads one request after the other, and answers what it is given."""

    def __init__(self, *answers):
        self.answers, self.ended, self.goes_on = answers, 0, False
        self.hasty = None  # keeps connections open, of which no more is read than the head

    def __enter__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listening.close()

    def _serve(self):
        for answer in self.answers:
            connection, _ = self.listening.accept()
            if self.hasty:
                self.hasty.enter_context(connection.dup())
            with connection:
                got = b""
                while b"\r\n\r\n" not in got:
                    got += connection.recv(65536)
                head, _, body = got.partition(b"\r\n\r\n")
                length = not self.hasty and re.search(rb"(?i)content-length: (\d+)", head)
                while length and len(body) < int(length[1]):
                    body += connection.recv(65536)
                with suppress(ConnectionError):  # who had enough of it
                    connection.sendall(answer)
                    while self.goes_on and connection.recv(65536):  # until who asked has gone
                        pass
            self.ended += 1


def http(status, body, kind="application/json", length=None):
    length = len(body) if length is None else length
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
    return head.encode() + body.encode()


def result(**result):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result})


TEXT = result(content=[{"type": "text", "text": "done"}])
NOTICE = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})


SLICE = "io.github.fsagent-tools/slice"
OF_ANOTHER_SHAPE = [
    {"structuredContent": {"a": {SLICE: ["a", {}]}}},
    {"structuredContent": {"a": {SLICE: [-1, 5]}}},
    {"structuredContent": {"a": {SLICE: [0, 5, 5]}}},
    {"structuredContent": []},
    {"content": "x"},
    {"content": [{"type": "text", "text": 1}]},
    {"_meta": []},
    {"resultType": "input_required", "_meta": {"io.github.fsagent-tools/request": {"paths": 1}}},
    [],
    "text",
]


@pytest.mark.parametrize(("answer", "code"), [
    (b"", "OUTCOME_UNKNOWN"),
    (b"HTTP/1.1 200 OK\r\ncontent-le", "OUTCOME_UNKNOWN"),
    (b"nonsense\r\n\r\n", "OUTCOME_UNKNOWN"),
    (http("200 OK", TEXT, length=10_000), "OUTCOME_UNKNOWN"),  # the rest never comes
    (http("200 OK", "{"), "OUTCOME_UNKNOWN"),
    (http("200 OK", "[]"), "OUTCOME_UNKNOWN"),
    *((http("200 OK", json.dumps({"jsonrpc": "2.0", "id": 1, "result": one})), "OUTCOME_UNKNOWN")
      for one in OF_ANOTHER_SHAPE),
    (http("200 OK", f"data: {NOTICE}\n\n", "text/event-stream"), "OUTCOME_UNKNOWN"),
    (http("502 Bad Gateway", "<html>", "text/html"), "OUTCOME_UNKNOWN"),
    (http("429 Too Many Requests", "later", "text/plain"), "NETWORK_ERROR"),
    (http("400 Bad Request", '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, '
          '"message": "There is no tool"}}'), "NETWORK_ERROR"),
    (http("500 Internal Server Error", '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, '
          '"message": "It broke"}}'), "OUTCOME_UNKNOWN"),
])  # fmt: skip
def test_an_answer_that_is_none(answer, code):
    with Rude(answer) as rude, pytest.raises(ToolError, match="The tool server at") as raised:
        HttpChannel(rude.url).call(Sending("write", {}))
    assert raised.value.code == code


def test_a_stream_of_events_in_parts():
    lines = [": ping", "", "event: message", f"data: {TEXT[:18]}", f"data:{TEXT[18:]}", ""]
    stream = "\r\n".join(["id: 1", f"data: {NOTICE}", "", *lines, ""])
    with Rude(http("200 OK", stream, "text/event-stream")) as rude:
        assert HttpChannel(rude.url).call(Sending("bash", {}, emit=lambda _: None)).text == "done"


def test_a_result_counts_although_its_stream_goes_on():
    stream = http("200 OK", f"data: {TEXT}\n\n", "text/event-stream", length=10_000)
    with Rude(stream, http("200 OK", TEXT)) as rude:
        rude.goes_on = True
        channel = HttpChannel(rude.url)
        for _ in range(2):
            assert channel.call(Sending("write", {})).text == "done"


def test_a_connection_that_the_server_has_ended_meanwhile_is_not_used():
    with Rude(http("200 OK", TEXT), http("200 OK", TEXT)) as rude:
        channel = HttpChannel(rude.url)
        for calls in (1, 2):
            assert channel.call(Sending("write", {})).text == "done"
            assert eventually(lambda calls=calls: rude.ended == calls)


def test_a_connection_is_not_used_again_where_a_request_was_sent_in_part(monkeypatch):
    monkeypatch.setattr(posting, "SILENCE", 1.0)
    with Rude(http("200 OK", TEXT), http("200 OK", TEXT)) as rude, ExitStack() as open_:
        rude.hasty = open_
        channel = HttpChannel(rude.url)
        assert channel.call(Sending("write", {"content": "x" * 2**24})).text == "done"
        assert channel.call(Sending("write", {})).text == "done"


def test_an_address_that_moved():
    moved = "HTTP/1.1 308 Permanent Redirect\r\nlocation: https://files.example/mcp\r\n"
    answer = f"{moved}content-length: 0\r\n\r\n".encode()
    with Rude(answer) as rude, pytest.raises(ConfigInvalid, match=r"308 https://files\.example/"):
        HttpChannel(rude.url).tools()


def test_a_proxy_whose_server_is_away():
    answer = http("502 Bad Gateway", "<html>", "text/html")
    with Rude(answer) as rude, pytest.raises(NetworkError, match=r"\(502 <html>\)"):
        HttpChannel(rude.url).tools()


def test_nobody_listens():
    with socket.socket() as deaf:  # its port is taken, so that nobody else answers there
        deaf.bind(("127.0.0.1", 0))
        with pytest.raises(NetworkError, match=r"does not answer.*Nothing was done"):
            HttpChannel(f"http://127.0.0.1:{deaf.getsockname()[1]}").call(Sending("write", {}))


def test_a_proxy_gets_a_tunnel(monkeypatch):
    with Rude(b"HTTP/1.1 403 No\r\n\r\n") as rude:
        monkeypatch.setenv("http_proxy", rude.url)
        with pytest.raises(NetworkError, match="403"):
            HttpChannel("http://files.example:8000").tools()


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_the_server_sends_small_answers_at_once(shop):
    """Or each call waits for the delayed acknowledgement of the one before, some 40 ms."""
    command = [sys.executable, "-m", "fsagent_tools.cli", "--root", ".", "serve", "--http", "0"]
    traced = ["strace", "-f", "-e", "trace=setsockopt", "-o", str(shop / "calls"), *command]
    served = subprocess.Popen(
        traced, cwd=shop, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert "serving" in served.stderr.readline()
        assert "TCP_NODELAY, [1]" in (shop / "calls").read_text()
    finally:
        os.killpg(served.pid, signal.SIGKILL)
        served.communicate()


def test_a_client_needs_no_mcp_library(watched, shop):
    script = (
        "import sys; sys.modules['mcp'] = None\n"
        "from fsagent_tools import select_tools\n"
        "read = next(tool for tool in select_tools(sys.argv[1]) if tool.name == 'read')\n"
        "print(read.call({'file_path': 'shop/prices.py'}).ok)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, watched.url], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "a b"},
        {"inputSchema": []},
        {"inputSchema": {"properties": []}},
        {"inputSchema": {"properties": {"__init__": {}}}},
        {"inputSchema": {"properties": {"a": "string"}}},
        {"inputSchema": {"required": 1}},
        {"_meta": {"io.github.fsagent-tools/effect": {}}},
        {"_meta": {"io.github.fsagent-tools/shape": {"envelope": "x"}}},
    ],
)
def test_a_tool_of_another_shape_is_an_error_of_the_host(answers, tool):
    told = {"name": "read", "inputSchema": {}, **tool}
    with pytest.raises(NetworkError, match="does not answer"):
        HttpChannel(answers(json.dumps({"jsonrpc": "2.0", "result": {"tools": [told]}}))).tools()


AGAIN = "HTTP/1.1 100 Continue\r\n\r\n"
JSON, EVENTS = (
    f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n"
    for kind in ("application/json", "text/event-stream")
)


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (AGAIN, AGAIN),
        (f"{EVENTS}\r\n", "\n"),
        (f"{EVENTS}\r\n", f"data: {NOTICE}\n\n"),
        (f"{JSON}transfer-encoding: chunked\r\n\r\n0\r\n", "a: b\r\n"),
    ],
    ids=["heads", "lines", "events", "trailers"],
)
def test_what_goes_on_for_ever_ends(start, more, monkeypatch):
    for name, size in (("HEAD", 10_000), ("MOST", 100_000)):
        monkeypatch.setattr(posting, name, size)
    answer = (start + more * 100_000).encode()
    with Rude(answer) as rude, pytest.raises(ToolError, match="the answer does not end"):
        HttpChannel(rude.url).call(Sending("read", READ))


def test_what_trickles_ends_with_the_time_of_a_call(answers, monkeypatch):
    monkeypatch.setattr(posting.Poster.post, "__defaults__", (0.5,))
    slowly = (time.sleep(0.01) or b" " for _ in range(500))
    with pytest.raises(ToolError, match="the answer does not end"):
        HttpChannel(answers(slowly)).call(Sending("read", READ))


def test_a_compressed_reply_is_not_inflated(answers):
    bomb = gzip.compress(b" " * 10_000_000)
    channel = HttpChannel(answers([bomb], encoding="gzip"))
    with pytest.raises(ToolError, match="compressed, which was not asked for"):
        channel.call(Sending("read", READ))


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_a_huge_reply_ends_at_its_bound(answers, kind):
    channel = HttpChannel(answers(itertools.repeat(b"data: " + b" " * 1_000_000, 60), kind))
    tracemalloc.start()
    with pytest.raises(ToolError, match="larger than 16 MB"):
        channel.call(Sending("read", READ))
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("inner", "told"),
    [
        ("[" + "[]," * 3_000_000 + "[]]", "more than 200,000 values"),
        ('"\N{GRINNING FACE}' + "x" * 20_000_000 + '"', "larger than"),
        (r'"\ud83d\ude00' + "x" * 20_000_000 + '"', "larger than"),
    ],
    ids=["values", "wide", "escaped"],
)
def test_a_reply_that_swells_is_refused_before_it_does(answers, inner, told):
    channel = HttpChannel(answers(f'{{"jsonrpc": "2.0", "result": {{"a": {inner}}}}}'))
    with pytest.raises(ToolError, match=told):
        channel.call(Sending("read", READ))


def test_a_long_text_with_many_commas_is_a_reply(answers):
    text = json.dumps("," * 3_000_000)
    told = f'{{"content": [{{"type": "text", "text": {text}}}]}}'
    channel = HttpChannel(answers(f'{{"jsonrpc": "2.0", "result": {told}}}'))
    assert len(channel.call(Sending("read", READ)).text) == 3_000_000


def test_a_deep_reply_is_an_error_of_the_call(answers):
    deep = "[" * 100_000 + "]" * 100_000
    with pytest.raises(ToolError, match="gave no usable answer"):
        HttpChannel(answers(f'{{"jsonrpc": "2.0", "result": {{"a": {deep}}}}}')).call(
            Sending("read", READ)
        )


@pytest.fixture
def answers():
    """The URL of a server that answers every request with the same body, as text or in pieces."""
    with ExitStack() as running_ones:

        def start(body, kind="application/json", encoding="identity"):
            pieces = [body.encode()] if isinstance(body, str) else body

            async def app(scope, receive, send):
                start = {"type": "http.response.start", "status": 200}
                headers = {"content-type": kind, "content-encoding": encoding}.items()
                await send({**start, "headers": [(k.encode(), v.encode()) for k, v in headers]})
                for piece in pieces:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b""})

            return running_ones.enter_context(running(app))

        yield start
