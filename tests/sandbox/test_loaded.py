"""What runs away is ended in time on a machine that has no time, by a keeper that looks slowly.

Each in a PID namespace of its own, with at most 1,500 processes; 100 keep the machine busy.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fsagent_tools

REPO = Path(fsagent_tools.__file__).parents[1]
CONTAINED = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
BUSY, TIMEOUT = 100, 2
SLOW_KEEPER = f"""
import _socket, sys, time
sys.path.insert(0, {str(REPO)!r})
from fsagent_tools.sandbox import processes
quick = processes.state_of
processes.state_of = lambda pid: time.sleep(0.05) or quick(pid)
from fsagent_tools.process.keeper import Tending
Tending(_socket.socket(fileno=int(sys.argv[1]))).run()
"""
HOST = """
import json, subprocess, sys, time
from pathlib import Path
from fsagent_tools import Workspace, toolset
from fsagent_tools.process import kept, launcher
root, level, command, slow_keeper, busy, timeout = sys.argv[1:]
Path("/proc/sys/kernel/pid_max").write_text("1500")
launcher.NAMESPACES = level == "namespaces"
kept.keeper.__file__ = slow_keeper
tool = toolset("workspace").bind(Workspace(root))["bash"]
first = tool.call({"command": "true"}).data["sandbox"]
load = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(int(busy))]
begun = time.monotonic()
out = tool.call({"command": command, "timeout": int(timeout)})
took = time.monotonic() - begun
def left():
    lines = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline")]
    return sum(b"7103" in line for line in lines) - 1  # this one has it, too
ended = time.monotonic()
while left() and time.monotonic() - ended < 60:
    time.sleep(0.05)
gone = time.monotonic() - ended
print(json.dumps([out.code, first, took, gone, left()]))
"""
FORMS = {
    "fork bomb": ": 7103; f() { f | f & }; f; sleep 600",
    "shed": "for i in $(seq 20); do (ulimit -S -n 99; setsid env -i setsid sleep 7103 &) ; done; "
    "sleep 600",
    "many": "for i in $(seq 500); do setsid sleep 7103 & done; kill -STOP $$; sleep 600",
    "deaf": "trap '' TERM INT HUP; while :; do sleep 7103; done",
}


@pytest.mark.slow
@pytest.mark.skipif(
    tuple(map(int, os.uname().release.split(".")[:2])) < (6, 14),
    reason="a PID namespace has no limit of its own here",
)
@pytest.mark.parametrize("level", ["namespaces", "landlock"])
@pytest.mark.parametrize("form", FORMS)
def test_what_runs_away_is_gone_in_time(tmp_path, form, level):
    if subprocess.run([*CONTAINED, "true"], capture_output=True).returncode:
        pytest.skip("no PID namespace may be made here")
    slow_keeper, root = tmp_path / "keeper.py", tmp_path / "ws"
    slow_keeper.write_text(SLOW_KEEPER)
    root.mkdir()
    words = [root, level, FORMS[form], slow_keeper, str(BUSY), str(TIMEOUT)]
    command = [*CONTAINED, sys.executable, "-c", HOST, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr[-2000:]
    code, sandbox, took, gone, left = json.loads(done.stdout)
    assert (code, left) == ("TIMEOUT", 0)
    assert sandbox.startswith("namespaces") == (level == "namespaces")
    if level == "namespaces":
        assert gone < 2
        assert took < TIMEOUT + 5
