"""What people do all day, in the confinement that commands have by default, or for developers."""

import base64
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
import threading
import zipfile
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.policy import ProcessPolicy
from tests.conftest import PATIENCE, needs_curl

PYTHON = os.path.realpath(sys.executable)
LIVE = """
import http.server, threading, urllib.request

def test_live():
    server = http.server.HTTPServer(("localhost", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with urllib.request.urlopen(f"http://localhost:{server.server_port}/test_live.py") as answer:
        assert b"def test_live" in answer.read()
    server.shutdown()
"""
NODE = """
const server = require('http').createServer((_, answer) => answer.end('from node'))
server.listen(8124, 'localhost')
"""
FETCH = "curl -s --retry 60 --retry-delay 1 --retry-connrefused localhost:8124"


def test_pytest_starts_a_server_and_asks_it(namespace_sh, tmp_path):
    (tmp_path / "ws" / "test_live.py").write_text(LIVE)
    command = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q test_live.py"
    out = namespace_sh(command, timeout=PATIENCE)
    assert "1 passed" in out.text


@needs_curl
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_a_node_server_of_one_command_answers_the_next(namespace_sh, tmp_path):
    (tmp_path / "ws/server.js").write_text(NODE)
    namespace_sh("exec node server.js", hidden={"background": True})
    assert namespace_sh(FETCH, timeout=PATIENCE).text == "from node"


def wheel():
    info = "demo_of_ours-1.0.dist-info"
    files = {
        "demo_of_ours.py": "WORD = 'installed'\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: demo-of-ours\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            file.writestr(name, text)
    return data.getvalue()


def tarball():
    text = json.dumps({"name": "demo-of-ours", "version": "1.0.0"}).encode()
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as file:
        entry = tarfile.TarInfo("package/package.json")
        entry.size = len(text)
        file.addfile(entry, io.BytesIO(text))
    return data.getvalue()


@pytest.fixture
def registry():
    """An index of Python packages and a registry of npm, with one package each, on loopback."""
    pages = {}

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            body = pages.get(self.path)
            self.send_response(200 if body else 404)
            kind = "text/html" if self.path.startswith("/simple") else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Cache-Control", "max-age=600")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    url = f"http://127.0.0.1:{server.server_port}"
    name = "demo_of_ours-1.0-py3-none-any.whl"
    pages["/simple/demo-of-ours/"] = f'<a href="/{name}">{name}</a>'.encode()
    pages[f"/{name}"] = wheel()
    pages["/demo.tgz"] = packed = tarball()
    digest = base64.b64encode(hashlib.sha512(packed).digest()).decode()
    dist = {"tarball": f"{url}/demo.tgz", "integrity": f"sha512-{digest}"}
    version = {"name": "demo-of-ours", "version": "1.0.0", "dist": dist}
    told = {
        "name": "demo-of-ours",
        "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": version},
    }
    pages["/demo-of-ours"] = json.dumps(told).encode()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield url
    server.shutdown()
    server.server_close()


@pytest.fixture
def developer(root, tmp_path, monkeypatch):
    """Commands of the preset for developers, in a fresh home."""
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "VIRTUAL_ENV", "CARGO_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    workspace = Workspace(root, policy=Policy(process=ProcessPolicy.developer()))
    tool = toolset("workspace").bind(workspace)["bash"]
    yield lambda command: tool.call({"command": command, "timeout": 4 * PATIENCE})
    workspace.close()


def caches(home):
    (found,) = (home / ".cache/fsagent-tools/commands").iterdir()  # of one workspace
    assert [path.name for path in home.iterdir()] == [".cache"]
    assert [path.name for path in (home / ".cache").iterdir()] == ["fsagent-tools"]
    return {path.name for path in found.iterdir() if path.is_dir() and any(path.iterdir())}


def test_a_developers_pip_installs_into_an_environment_of_the_project(
    developer, registry, tmp_path
):
    pip = f"env/bin/python -m pip install --index-url {registry}/simple demo-of-ours"
    out = developer(f"{PYTHON} -m venv env && {pip} 2>&1")
    assert out.data["exit_code"] == 0, out.text
    assert developer("env/bin/python -c 'import demo_of_ours as d; print(d.WORD)'").text == (
        "installed"
    )
    (place,) = (tmp_path / "home/.cache/fsagent-tools/commands").iterdir()
    assert developer("env/bin/python -m pip cache dir").text == f"{place}/pip"
    assert developer(f"mkdir {place}/pip").data["exit_code"] == 0  # for what comes by HTTPS


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_a_developers_npm_installs(developer, registry, root, tmp_path):
    out = developer(f"npm install --registry {registry} demo-of-ours 2>&1")
    assert out.data["exit_code"] == 0, out.text
    package = root / "node_modules/demo-of-ours/package.json"
    assert json.loads(package.read_text())["version"] == "1.0.0"
    assert caches(tmp_path / "home") == {"npm"}


def test_a_cache_of_commands_is_no_place_for_helper_programs(developer, tmp_path, monkeypatch):
    developer("true")
    (own,) = (tmp_path / "home/.cache/fsagent-tools/commands").iterdir()
    place = own / "cargo/bin"
    policy = Policy(process=ProcessPolicy.developer())
    out = developer(f"mkdir -p {place} && cp /bin/true {place}/rg")
    assert out.data["exit_code"] == 0, out.text
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    with closing(Workspace(tmp_path / "ws", policy=policy)) as workspace:
        programs = workspace.services.programs
        assert programs.find("rg") != str(place / "rg")
        assert not programs.is_outside(str(place / "rg"))


def test_what_builds_has_caches_of_the_workspace(home, sh):
    out = sh('mkdir -p "$GOCACHE" "$PIP_CACHE_DIR" && echo x > /dev/shm/x$$ && rm /dev/shm/x$$')
    assert out.data["exit_code"] == 0, out.text
    assert ".cache/fsagent-tools/commands/" in sh("echo $UV_CACHE_DIR").text


def test_a_variable_of_the_host_that_is_not_passed_on_is_named_once(sh, monkeypatch):
    monkeypatch.setenv("BATTERY_URL", "secret")
    first, second = sh('echo "<$BATTERY_URL>"'), sh("printenv BATTERY_URL; true")
    assert first.text.startswith("<>\n[BATTERY_URL: set outside, not passed to commands;")
    assert "secret" not in first.text
    assert "BATTERY_URL" not in second.text
    assert "set outside" not in sh("BATTERY_URL=1; echo $BATTERY_URL").text


@pytest.mark.parametrize("engine", ["auto", "bwrap"])
def test_reading_that_cannot_be_confined_is_not_confined_by_words(root, lacking, engine):
    if engine == "bwrap" and not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    lacking("landlock")
    policy = Policy(process=ProcessPolicy(readable=[], engine=engine))
    with closing(Workspace(root, policy=policy)) as workspace:
        out = toolset("workspace").bind(workspace)["bash"].call({"command": "touch ran"})
    assert (out.code, "Landlock, which confines reading" in out.text) == ("COMMAND_FAILED", True)
    assert not (root / "ran").exists()


def test_reading_is_confined_where_the_policy_says_so(root, tmp_path):
    for name in ("other/secret", "shown/word", "ws/inside"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}\n")
    process = ProcessPolicy(readable=[str(tmp_path / "shown")])
    for sandbox in ("workspace-write", "read-only"):
        with closing(Workspace(root, policy=Policy(process=process))) as workspace:
            tool = toolset("workspace").bind(workspace)["bash"]
            out = tool.call(
                {"command": "cat inside ../shown/word ../other/secret 2>/dev/null"}, sandbox=sandbox
            )
            if out.code == "COMMAND_FAILED":
                assert "Landlock" in out.text
                pytest.skip("this kernel has no Landlock")
            assert out.data["output"] == "text of ws/inside\ntext of shown/word\n"
            work = f"{PYTHON} -c 'import json, ssl' && git --version && ls / >/dev/null; echo $?"
            assert "git version" in tool.call({"command": work}, sandbox=sandbox).text
            assert tool.call({"command": "echo x > $TMPDIR/a && cat $TMPDIR/a"}).text == "x"


@pytest.mark.parametrize("shared", ["/tmp", "/var/tmp"])
def test_what_all_users_share_is_private(namespace_sh, tmp_path, shared):
    name = f"{shared}/{tmp_path.name}"
    out = namespace_sh(f"echo said > {name} && cat {name}; ls {shared}; mkdir {shared}/a/b -p")
    assert out.data["exit_code"] == 0
    assert {"said", tmp_path.name} <= {*out.data["output"].split()}
    assert not Path(name).exists()
    assert namespace_sh(f"cat {name} $TMPDIR/{tmp_path.name}").data["output"] == "said\n" * 2


@pytest.mark.parametrize("shared", ["/tmp", "/var/tmp"])
def test_a_workspace_there_is_where_it_was(shared):
    with tempfile.TemporaryDirectory(dir=shared) as folder, closing(Workspace(folder)) as workspace:
        bash = toolset("workspace").bind(workspace)["bash"]
        out = bash.call({"command": f"pwd && touch made {folder}-made && ls -d {folder}*"})
        if not out.data["sandbox"].startswith("namespaces"):
            pytest.skip("no namespaces here")
        assert out.data["output"].split() == [folder, folder, f"{folder}-made"]
        assert os.listdir(folder) == ["made"]
        assert not os.path.exists(f"{folder}-made")
