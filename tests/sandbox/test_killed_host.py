"""Whatever runs for a host that is killed with SIGKILL has ended two seconds later."""

import os
import signal
import subprocess
import sys
import time
import zlib
from itertools import product
from pathlib import Path

import pytest

from fsagent_tools.process.launcher import Launcher
from fsagent_tools.sandbox import processes
from fsagent_tools.sandbox.profile import Profile
from tests.conftest import eventually, state
from tests.office import pdf, shown

HOST = """
import os, sys, time
from fsagent_tools import Workspace, toolset
from fsagent_tools.media import apart
from fsagent_tools.process import alone, launcher
from fsagent_tools.search import ripgrep
kind, level, root = sys.argv[1:]
launcher.NAMESPACES = level == "namespaces"
apart.SECONDS = 600  # of computing, or the document's reader would end by itself
ripgrep.find_ripgrep = lambda programs: None  # so that one search takes for ever
if kind == "alone":  # as a search that a keeper runs
    status, command = os.stat(root), ["/bin/bash", "-c", ": 7104; while :; do :; done"]
    while not (found := alone.start_alone(command, root, (status.st_dev, status.st_ino))):
        time.sleep(0.01)
    sys.stdin.read()
server = (sys.executable, "-c", "import time; time.sleep(7104)")
workspace = Workspace(root, lint="report", servers={"json": server})
name, arguments = {
    "command": ("bash", {"command": "trap '' TERM; setsid sleep 7104 & sleep 7104"}),
    "job": ("bash", {"command": "(setsid sleep 7104 &); sleep 7104", "background": True}),
    "server": ("lsp", {"file_path": "a.json"}),
    "search": ("grep", {"pattern": "(a+)+b$"}),
    "lint": ("write", {"file_path": "a.toml", "content": "a." * 400_000 + "a = 1"}),
    "document": ("read", {"file_path": "a.pdf"}),
}[kind]
out = toolset("workspace").bind(workspace)[name].call(arguments)
sys.stdin.read() if kind == "job" else sys.exit(out.text)
"""
SIGNS = {"search": b"print_matches", "lint": b"child.py", "document": b"media.child"}
SECONDS = 2


def words(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def running(pids):
    return [pid for pid in pids if state(pid) not in "ZX"]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize(
    ("kind", "level"),
    [
        *product(
            ("command", "job", "server", "search", "lint", "document"), ("namespaces", "landlock")
        ),
        ("alone", "namespaces"),
    ],
)
def test_nothing_is_left_of_a_host_that_is_killed(tmp_path, kind, level):
    if kind == "document":
        pytest.importorskip("pypdfium2")
        (tmp_path / "a.pdf").write_bytes(pdf(zlib.compress(shown(100_000)), pages=500))
    if kind == "alone" and Launcher().lacking(Profile((), only="/")):
        pytest.skip("no namespaces may be made here")
    (tmp_path / "a.json").write_text("a" * 60)
    least = 2 if kind == "document" else 1  # who reads it is a fork of who waits for documents
    command, sign = [sys.executable, "-c", HOST, kind, level, tmp_path], SIGNS.get(kind, b"7104")

    def seconds_left():
        with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=os.getcwd()) as host:

            def begun():
                found = [pid for pid in processes.descendants(host.pid) if sign in words(pid)]
                return len(found) >= least

            assert eventually(begun)
            started = processes.descendants(host.pid)
            host.kill()
            killed = time.monotonic()
            host.wait()
            assert eventually(lambda: not running(started))
            return time.monotonic() - killed

    assert any(seconds_left() < SECONDS for _ in range(3))  # the machine may be busy once


TEMPORARY = """
import sys, time
from fsagent_tools import Workspace, toolset
from fsagent_tools.process import launcher
launcher.NAMESPACES = sys.argv[1] == "namespaces"
tool = toolset("workspace").bind(Workspace(sys.argv[2]))["bash"]
print(tool.call({"command": "echo said > $TMPDIR/a; echo $TMPDIR"}).text, flush=True)
time.sleep(7105)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is a keeper on Linux")
@pytest.mark.parametrize("level", ["namespaces", "landlock"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_temporary_directory_is_left_of_a_host_that_is_killed(tmp_path, level, number):
    command = [sys.executable, "-c", TEMPORARY, level, tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=os.getcwd()) as host:
        temporary = Path(host.stdout.readline().strip())
        found = temporary / "a"
        said = found.read_text() if found.exists() else ""
        host.send_signal(number)
        host.wait()
    assert said == "said\n", temporary
    assert eventually(lambda: not temporary.exists())


UNUSED = """
import sys
from dataclasses import replace
from fsagent_tools import Workspace, toolset
from fsagent_tools.process import launcher
begin = launcher.Launcher.__init__
launcher.Launcher.__init__ = lambda self, view: begin(self, replace(view, unused=0.1))
launcher.NAMESPACES = sys.argv[1] == "namespaces"
workspace = Workspace(sys.argv[2])
tool = toolset("workspace").bind(workspace)["bash"]
for line in sys.stdin:
    if line == "close\\n":
        workspace.close()
    print(tool.call({"command": "echo $TMPDIR"}).text if line == "run\\n" else "", flush=True)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is a keeper on Linux")
@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_a_keeper_that_ended_unused_leaves_who_removes_what_is_temporary(tmp_path, level):
    command, pipe = [sys.executable, "-c", UNUSED, level, tmp_path], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1) as host:

        def tell(word):
            host.stdin.write(f"{word}\n")
            return Path(host.stdout.readline().strip())

        def left():
            return len(running(processes.descendants(host.pid)))

        temporary = tell("run")
        assert eventually(lambda: left() == 1)
        assert tell("run") == temporary
        assert temporary.is_dir()
        tell("close")
        assert left() == 0
        temporary = tell("run")
        assert eventually(lambda: left() == 1)
        host.kill()
        host.wait()
        assert eventually(lambda: not temporary.exists())
