"""Commands that run away, on a host in a PID namespace of its own with at most 1,500 processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fsagent_tools

REPO = Path(fsagent_tools.__file__).parents[1]
AS_ROOT = ["--user", "--map-root-user"] if os.geteuid() else []
CONTAINED = ["unshare", *AS_ROOT, "--pid", "--fork", "--kill-child", "--mount-proc"]
HOST = """
import json, subprocess, sys, time
from pathlib import Path
from fsagent_tools import Workspace, toolset
from fsagent_tools.process import kept, launcher
from fsagent_tools.sandbox import landlock, seccomp
root, level, commands, slow_keeper, busy, timeout = sys.argv[1:]
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
def line_of(path):
    try:
        return path.read_bytes()
    except OSError:  # it has ended since it was listed
        return b""
def left():
    lines = map(line_of, Path("/proc").glob("[0-9]*/cmdline"))
    return sum(b"7103" in line for line in lines) - 1  # this one has it, too
def facts(command):
    begun = time.monotonic()
    out = tool.call({"command": command, "timeout": int(timeout)})
    ended = time.monotonic()
    looked, still = ended, left()
    at_once = still
    while still and looked - ended < 60:
        time.sleep(0.05)
        looked, still = time.monotonic(), left()
    gone = looked - ended  # a look takes seconds, too
    return {
        "code": out.code, "at once": at_once, "left": still,
        "told": bool(out.data["survivors"]), "took": ended - begun, "gone": gone,
    }
found = {form: facts(command) for form, command in json.loads(commands).items()}
print(json.dumps({"sandbox": sandbox, "found": found}))
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
FEW_PROCESSES = pytest.mark.skipif(
    tuple(map(int, os.uname().release.split(".")[:2])) < (6, 14),
    reason="a PID namespace has no limit of its own here",
)


def run_away(root, level, forms, timeout, keeper="", busy=0):
    """What became of commands of these forms, one after the other on one host: form -> facts."""
    if subprocess.run([*CONTAINED, "true"], capture_output=True).returncode:
        pytest.skip("no PID namespace may be made here")
    commands = json.dumps({form: FORMS[form] for form in forms})
    words = [root, level, commands, keeper, str(busy), str(timeout)]
    command = [*CONTAINED, sys.executable, "-c", HOST, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr[-2000:]
    told = json.loads(done.stdout)
    if not told["sandbox"].startswith(LEVELS[level]):
        pytest.skip(f"this system has no level {level}")
    return told["found"]


def assert_nothing_is_left(found, level):
    assert (found["code"], found["left"]) == ("TIMEOUT", 0)
    if level != "bare":  # there nobody waits for more than the command itself
        assert found["told"] or not found["at once"], "what is still there is told"
