"""Commands that reach listed hosts and nobody else."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fsagent_tools import Policy, Workspace
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.policy import ProcessPolicy
from tests.conftest import eventually, needs_curl

FETCH = """
import sys, urllib.request
urllib.request.proxy_bypass = lambda host: False
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://127.0.0.1:3128"}))
try: print(opener.open(sys.argv[1], timeout=20).read().decode())
except Exception as error: print(getattr(error, "code", error))
"""


@pytest.fixture
def site():
    seen = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers.get("Proxy-Connection")))
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.seen = seen
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def fetch(bwrap_sh, site, tmp_path):
    (tmp_path / "ws/fetch.py").write_text(FETCH)
    name = f"localhost:{site.server_port}"

    def run(url, network=None, opened=None):
        policy = {"allow_hosts": [name] if opened is None else opened}
        hosts = [name, "*.example.net"] if network is None else network
        return bwrap_sh(f"python3 fetch.py {url}", policy=policy, network=hosts)

    return run


def test_a_listed_host_is_reached_and_sees_a_plain_request(fetch, site):
    assert fetch(f"http://localhost:{site.server_port}/a?b=c").text == "hello"
    assert site.seen == [("/a?b=c", None)]


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "http://example.net/",
        "http://localhost.example.com:{port}/",
        "http://127.0.0.1:{port}/",
        "http://[::1]:{port}/",
        "http://2130706433:{port}/",
        "http://localhost:1/",
    ],
)
def test_any_other_is_refused_and_named(fetch, site, url):
    out = fetch(url.format(port=site.server_port))
    assert out.text.startswith("403")
    assert "is not in network=[...] of this workspace]" in out.text
    assert not site.seen


def test_a_name_of_a_closed_address_is_refused_unless_the_host_opens_it(fetch, site):
    out = fetch(f"http://localhost:{site.server_port}/", opened=[])
    assert "is a loopback address, which allow_hosts does not open]" in out.text
    assert not site.seen


@needs_curl
def test_connect_reaches_what_is_listed_and_no_other_port(bwrap_sh, site):
    name = f"localhost:{site.server_port}"
    curl = "curl -sS --noproxy '' -p -x http://127.0.0.1:3128"
    policy = {"allow_hosts": [name]}
    assert bwrap_sh(f"{curl} http://{name}/", policy=policy, network=[name]).text == "hello"
    out = bwrap_sh(f"{curl} http://localhost:22/", policy=policy, network=[name])
    assert "localhost:22 is not in network" in out.text


def test_nothing_is_reached_directly_and_no_descriptor_leads_out(bwrap_sh, site):
    name = f"localhost:{site.server_port}"
    out = bwrap_sh(f"exec 3<>/dev/tcp/127.0.0.1/{site.server_port}", network=[name])
    assert out.data["exit_code"]
    assert bwrap_sh("ls /proc/self/fd | wc -l", network=[name]).text == "4"
    assert not site.seen


def test_malformed_requests_end_a_connection_and_no_more(bwrap_sh, site, tmp_path):
    name = f"localhost:{site.server_port}"
    (tmp_path / "ws/raw.py").write_text(
        "import socket\n"
        "for text in (b'x', b'GET\\r\\n\\r\\n', b'A' * 70000, b'CONNECT :x H\\r\\n\\r\\n'):\n"
        "    s = socket.create_connection(('127.0.0.1', 3128))\n"
        "    try: s.sendall(text); s.shutdown(socket.SHUT_WR); s.recv(100)\n"
        "    except OSError: pass  # as an ended connection may also be 'not connected'\n"
        "print('over')\n"
    )
    assert bwrap_sh("python3 raw.py", network=[name]).text.startswith("over")


def test_a_list_needs_bubblewrap(landlock_sh):
    out = landlock_sh("true", network=["example.com"])
    assert out.code == "COMMAND_FAILED"
    assert "network=[...] needs" in out.text


@pytest.mark.parametrize("wrong", [["http://x"], ["*"], ["a b"], "example.com", [""], ["x:99999"]])
def test_a_wrong_host_is_refused_at_once(wrong):
    with pytest.raises(ConfigInvalid, match="network"):
        ProcessPolicy(network=wrong)


def test_the_threads_of_a_proxy_end_with_its_command(tmp_path):
    policy = Policy(process=ProcessPolicy(network=["example.com"]))
    workspace = Workspace(tmp_path, policy=policy)
    workspace.run("true")
    assert eventually(lambda: not [t for t in threading.enumerate() if t.name == "egress"])
    workspace.close()
