"""What runs away is ended whole, at every level; slow: in time, on a machine that has no time.

Each in a PID namespace of its own, with at most 1,500 processes. In the slow ones 100 keep the
machine busy, and the keeper's looks at /proc take long.
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
BUSY = 100
SLOW_KEEPER = f"""
import _socket, sys, time
sys.path.insert(0, {str(REPO)!r})
from fsagent_tools.sandbox import processes
state_of, descendants = processes.state_of, processes.descendants
processes.state_of = lambda pid: time.sleep(0.05) or state_of(pid)
processes.descendants = lambda pid: time.sleep(3) or descendants(pid)
from fsagent_tools.process.keeper import Tending
Tending(_socket.socket(fileno=int(sys.argv[1]))).run()
"""
HOST = """
import json, subprocess, sys, time
from pathlib import Path
from fsagent_tools import Workspace, toolset
from fsagent_tools.process import kept, launcher
from fsagent_tools.sandbox import landlock, seccomp
root, level, command, slow_keeper, busy, timeout = sys.argv[1:]
Path("/proc/sys/kernel/pid_max").write_text("1500")
launcher.NAMESPACES = level == "namespaces"
launcher._KEEPS &= level != "bare"
if level in ("none", "bare"):
    landlock.abi, seccomp.available = (lambda: 0), (lambda: False)
if slow_keeper:
    kept.keeper.__file__ = slow_keeper
tool = toolset("workspace").bind(Workspace(root))["bash"]
sandbox = tool.call({"command": "true"}).data["sandbox"]
load = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(int(busy))]
begun = time.monotonic()
out = tool.call({"command": command, "timeout": int(timeout)})
ended = time.monotonic()
def line_of(path):
    try:
        return path.read_bytes()
    except OSError:  # it has ended since it was listed
        return b""
def left():
    lines = map(line_of, Path("/proc").glob("[0-9]*/cmdline"))
    return sum(b"7103" in line for line in lines) - 1  # this one has it, too
looked, still = ended, left()
at_once = still
while still and looked - ended < 60:
    time.sleep(0.05)
    looked, still = time.monotonic(), left()
gone = looked - ended  # a look takes seconds, too
survivors = out.data["survivors"]
print(json.dumps({
    "code": out.code, "sandbox": sandbox, "at once": at_once, "left": still,
    "told": bool(survivors), "took": ended - begun, "gone": gone,
}))
"""
FORMS = {
    "fork bomb": ": 7103; f() { f | f & }; f; sleep 600",
    "shed": "for i in $(seq 20); do (ulimit -S -n 99; setsid env -i setsid sleep 7103 &) ; done; "
    "sleep 600",
    "many": "for i in $(seq 500); do setsid sleep 7103 & done; sleep 600",
    "stopped": "sleep 7103 & (setsid sleep 7103 &) ; kill -STOP $$; sleep 600",
    "deaf": "trap '' TERM INT HUP; while :; do sleep 7103; done",
}
STAYS = ("fork bomb", "deaf")  # in its process group, which is all that is known without a keeper
LEVELS = {"namespaces": "namespaces", "landlock": "landlock", "none": "none", "bare": "none"}
FEW = pytest.mark.skipif(
    tuple(map(int, os.uname().release.split(".")[:2])) < (6, 14),
    reason="a PID namespace has no limit of its own here",
)


def run_away(root, form, level, timeout, keeper="", busy=0):
    if subprocess.run([*CONTAINED, "true"], capture_output=True).returncode:
        pytest.skip("no PID namespace may be made here")
    words = [root, level, FORMS[form], keeper, str(busy), str(timeout)]
    command = [*CONTAINED, sys.executable, "-c", HOST, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr[-2000:]
    found = json.loads(done.stdout)
    if not found["sandbox"].startswith(LEVELS[level]):
        pytest.skip(f"this system has no level {level}")
    assert (found["code"], found["left"]) == ("TIMEOUT", 0)
    if level != "bare":  # there nobody waits for more than the command itself
        assert found["told"] or not found["at once"], "what is still there is told"
    return found


@FEW
@pytest.mark.parametrize(
    ("level", "form"),
    [(level, form) for level in LEVELS for form in FORMS if level != "bare" or form in STAYS],
)
def test_nothing_is_left_of_what_runs_away(tmp_path, form, level):
    run_away(tmp_path, form, level, timeout=1)


@FEW
@pytest.mark.slow
@pytest.mark.parametrize("level", ["namespaces", "landlock"])
@pytest.mark.parametrize("form", FORMS)
def test_what_runs_away_is_gone_in_time(tmp_path, form, level):
    slow_keeper, root, timeout = tmp_path / "keeper.py", tmp_path / "ws", 2
    slow_keeper.write_text(SLOW_KEEPER)
    root.mkdir()
    found = run_away(root, form, level, timeout, slow_keeper, BUSY)
    if level == "namespaces":
        assert found["gone"] < 2
        assert found["took"] < timeout + 5
