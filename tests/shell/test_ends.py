"""Nothing outlives its command, its job or its host; what runs away is ended."""

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fsagent_tools import Workspace
from fsagent_tools.call import CallContext, current
from fsagent_tools.errors import Cancelled
from tests.conftest import PATIENCE, alive, eventually, no_new_descriptor

pytestmark = pytest.mark.full

TREES = [
    "sleep 7001",
    "sleep 7001 & sleep 7001",
    "setsid -w sleep 7001",
    "(env -i setsid sleep 7001 &) ; sleep 600",
    "setsid setsid nohup sleep 7001 >/dev/null 2>&1 & sleep 600",
    "(setsid bash -c 'sleep 7001; :' &) ; sleep 600",
    "trap '' TERM INT HUP; sleep 7001; sleep 7001",
    'python3 -c "import os,time; os.fork() or os.setsid() or os.fork() or '
    "os.execlp('sleep','sleep','7001'); time.sleep(600)\"",
]


@pytest.fixture(params=["confined", "off"])
def run(request, sh):
    """The same for commands without a sandbox, which have a supervisor, too."""
    process = {"sandbox": "off"} if request.param == "off" else {}
    if process and sh.level == "landlock":
        pytest.skip("the same at each level")
    return lambda command, timeout=PATIENCE: sh(command, timeout, **process)


@pytest.mark.parametrize("script", TREES)
def test_a_time_out_ends_the_whole_tree(run, script):
    assert run(script, 1).code == "TIMEOUT"
    assert not alive("sleep 7001")


@pytest.mark.parametrize(
    "script", ["sleep 7003 & ", "(setsid nohup sleep 7003 >/dev/null 2>&1 &) ; "]
)
def test_a_child_left_in_the_background_delays_nothing_and_is_ended(run, script):
    out = run(f"{script}echo hi")
    assert out.data["output"] == "hi\n"
    assert len(out.data["stopped"]) == 1
    assert not alive("sleep 7003")


def test_a_command_that_is_ended_has_a_moment_to_clean_up(run, tmp_path):
    run("trap 'echo over > over; exit' TERM; sleep 7004 & wait", 1)
    assert (tmp_path / "ws/over").read_text() == "over\n"


def test_a_process_of_somebody_else_is_never_touched(run):
    with subprocess.Popen(["sleep", "7005"], start_new_session=True) as other:
        run("sleep 600 & setsid sleep 600 & sleep 600", 1)
        ended = other.poll()
        other.kill()
    assert ended is None


def test_a_cancelled_call_ends_its_command(sh, tmp_path):
    sh("true")
    (workspace,) = sh.workspaces.values()
    call = CallContext()
    timer = threading.Timer(0.5, call.cancelled.set)
    timer.start()
    token = current.set(call)
    try:
        with pytest.raises(Cancelled):
            workspace.run("setsid sleep 7006 & sleep 7006", timeout=PATIENCE)
    finally:
        current.reset(token)
    assert not alive("sleep 7006")


HOST = """
import sys
from fsagent_tools import Workspace, toolset
from fsagent_tools.shell import bubblewrap
from fsagent_tools.policy import Policy, ProcessPolicy
root, level, seconds = sys.argv[1:]
if level != "bubblewrap":
    bubblewrap.find_bwrap = lambda outside=None: None
process = ProcessPolicy(sandbox="off" if level == "none" else "workspace-write")
tool = toolset("workspace").bind(Workspace(root, policy=Policy(process=process)))["bash"]
sleep = "sleep " + seconds
tool.call({"command": f"(env -i setsid {sleep} &); {sleep}", "background": True})
print(tool.call({"command": "echo ready"}).data["sandbox"], flush=True)
tool.call({"command": f"setsid {sleep} & {sleep}; echo late > late.txt"})
"""


@pytest.mark.parametrize("level", ["bubblewrap", "landlock", "none"])
def test_nothing_outlives_a_host_that_is_killed(tmp_path, level):
    seconds = f"72.{os.getpid()}{level.__len__()}"
    command = [sys.executable, "-c", HOST, tmp_path, level, seconds]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        if not host.stdout.readline().startswith(level):
            host.kill()
            pytest.skip(f"this system has no {level}")
        assert eventually(lambda: sleeping(seconds) >= 3)
        host.kill()
    assert eventually(lambda: not sleeping(seconds))
    assert not (tmp_path / "late.txt").exists()


def sleeping(seconds):
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += path.read_bytes() == f"sleep\0{seconds}\0".encode()
        except OSError:
            continue
    return found


AS_ROOT = ["--user", "--map-root-user"] if os.geteuid() else []
CONTAINED = ["unshare", *AS_ROOT, "--pid", "--fork", "--kill-child", "--mount-proc"]
INIT = ["sh", "-c", '"$@"; exit $?', "init"]  # collects what has no parent left, as an init does
RUNAWAYS = """
import json, sys, time
from pathlib import Path
from fsagent_tools import Workspace, toolset
from fsagent_tools.shell import bubblewrap
root, level, commands = sys.argv[1:]
Path("/proc/sys/kernel/pid_max").write_text("1500")
if level == "landlock":
    bubblewrap.find_bwrap = lambda outside=None: None
tool = toolset("workspace").bind(Workspace(root))["bash"]
def left():
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try: lines.append(path.read_bytes())
        except OSError: pass
    return sum(b"7103" in line for line in lines) - 2  # this one and its parent have it, too
found = {"level": tool.call({"command": "true"}).data["sandbox"]}
for form, command in json.loads(commands).items():
    out, until = tool.call({"command": command, "timeout": 1}), time.monotonic() + 60
    while left() and time.monotonic() < until: time.sleep(0.05)
    found[form] = out.code, left()
print(json.dumps(found))
"""
FORMS = {
    "fork bomb": ": 7103; f() { f | f & }; f; sleep 600",
    "shed": "for i in $(seq 20); do (ulimit -S -n 99; setsid env -i setsid sleep 7103 &) ; done; "
    "sleep 600",
    "many": "for i in $(seq 300); do setsid sleep 7103 & done; sleep 600",
    "stopped": "sleep 7103 & (setsid sleep 7103 &) ; kill -STOP $$; sleep 600",
    "deaf": "trap '' TERM INT HUP; while :; do sleep 7103; done",
}


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_what_runs_away_is_ended(tmp_path, level):
    if subprocess.run([*CONTAINED, "true"], capture_output=True).returncode:
        pytest.skip("no PID namespace may be made here")
    command = [
        *CONTAINED,
        *INIT,
        sys.executable,
        "-c",
        RUNAWAYS,
        tmp_path,
        level,
        json.dumps(FORMS),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr[-2000:]
    found = json.loads(done.stdout)
    if not found.pop("level").startswith(level):
        pytest.skip(f"this system has no {level}")
    assert found == {form: ["TIMEOUT", 0] for form in FORMS}


def test_many_commands_run_at_once(sh):
    sh("true")
    (workspace,) = sh.workspaces.values()
    with ThreadPoolExecutor(20) as threads:
        done = list(threads.map(lambda n: workspace.run(f"echo {n}; sleep 0.2"), range(20)))
    assert [each.output for each in done] == [f"{n}\n" for n in range(20)]


def test_a_flood_takes_no_memory(sh):
    def rss():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    sh("yes | head -c 1000000")
    before = rss()
    assert sh("yes | head -c 200000000").data["truncated"]
    assert rss() - before < 30 << 20


def test_no_descriptor_is_lost(sh):
    sh("true")
    with no_new_descriptor():
        for command in ("true", "exit 3", "sleep 9 & true", "kill -9 $$"):
            sh(command)
        sh("sleep 600", 1)


def test_a_program_that_cannot_start_is_told(sh, tmp_path):
    (tmp_path / "ws/gone").mkdir()
    out = sh("rmdir ../gone; pwd", hidden={"working_dir": "gone"})
    assert out.ok


def test_a_forked_host_starts_its_own_commands(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.run("true")
    read, write = os.pipe()
    if not (child := os.fork()):
        try:
            os.write(write, workspace.run("echo from the child").output.encode())
        finally:
            os._exit(0)
    os.close(write)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(read, 100) == b"from the child\n"
    assert workspace.run("echo still here").output == "still here\n"
    workspace.close()


def test_an_ended_signal_is_told_by_name(sh):
    out = sh("kill -SEGV $$")
    assert out.data["exit_code"] == 128 + signal.SIGSEGV
    assert "SIGSEGV" in out.text
