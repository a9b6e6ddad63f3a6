"""What a command can reach besides files: other processes, sockets, and what it leaves behind."""

import os
import resource
import shlex
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fsagent_tools.policy import Limits
from tests.conftest import PATIENCE, eventually, needs_curl

BWRAP = pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
ENGINES = ["auto", pytest.param("bwrap", marks=BWRAP)]
OTHERS = """
import os, resource, sys
pid = int(sys.argv[1])
for name, change in {
    "limit": lambda: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
    "user": lambda: os.setpriority(os.PRIO_USER, 0, 19),
    "processors": lambda: os.sched_setaffinity(pid, {0}),
    "scheduler": lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
    "signal": lambda: os.kill(pid, 0),
}.items():
    try:
        change()
    except OSError:
        continue
    print(name)
"""


def python(code, *arguments):
    return shlex.join(["python3", "-c", code, *map(str, arguments)])


@pytest.mark.parametrize("network", [False, True])
def test_no_other_process_is_changed(sh, network):
    def state(pid):
        limits = resource.prlimit(pid, resource.RLIMIT_CORE)
        return limits, os.getpriority(os.PRIO_PROCESS, pid), os.sched_getscheduler(pid)

    with subprocess.Popen(["sleep", "600"]) as other:
        before = state(other.pid), os.sched_getaffinity(other.pid)
        out = sh(python(OTHERS, other.pid), network=network)
        assert "limit" not in out.text.split()
        assert (state(other.pid), os.sched_getaffinity(other.pid)) == before
        other.kill()


def test_when_memory_runs_out_a_command_ends_before_its_host(sh):
    own = int(Path("/proc/self/oom_score_adj").read_text())
    out = sh("(echo -1000 >/proc/self/oom_score_adj) 2>/dev/null; cat /proc/self/oom_score_adj")
    assert int(out.data["output"]) == max(own, 500)


def test_its_own_limits_and_priority_are_its_own(sh):
    lower = os.nice(0) + 5
    assert sh("ulimit -n 50; nice -n 5 sh -c 'ulimit -n; nice'").text == f"50\n{lower}"


def test_metadata_outside_stays_as_it_is(namespace_sh, tmp_path):
    file = tmp_path / "outside.txt"
    file.write_text("x")
    before = file.stat()
    for attack in (
        "chmod 666",
        "chmod u+s",
        "touch -d 2001-01-01",
        "chown 1",
        "setfattr -n user.a",
    ):
        assert namespace_sh(f"{attack} {file}").data["exit_code"]
    after = file.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_uid) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_uid,
    )


def test_there_are_no_devices_but_harmless_ones(namespace_sh):
    names = namespace_sh("ls /dev").text.split()
    assert not [name for name in names if stat.S_ISBLK(Path("/dev", name).lstat().st_mode)]
    assert {"null", "shm", "urandom"} <= {*names}
    assert namespace_sh("echo x > /proc/sys/kernel/core_pattern").data["exit_code"]


@needs_curl
def test_a_server_of_one_command_answers_the_next_and_nobody_outside(namespace_sh, tmp_path):
    (tmp_path / "ws/hello.txt").write_text("hello from the job")
    with socket.socket() as held:  # out here nobody else answers at that port
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        serve = f"exec python3 -u -m http.server {port} --bind 127.0.0.1"
        namespace_sh(serve, hidden={"background": True})
        fetch = f"curl -s --retry 60 --retry-delay 1 --retry-connrefused localhost:{port}/hello.txt"
        assert namespace_sh(fetch).text == "hello from the job"
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), PATIENCE)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_server_outside_is_reached_by_a_private_network(namespace_sh, tmp_path, engine):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "daemon.sock"))
        local.listen()
        reach = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}"
        assert namespace_sh(reach, engine=engine).data["exit_code"]
        code = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        out = namespace_sh(python(code, tmp_path / "daemon.sock"), engine=engine)
        assert "refused" in out.text
        code = "import socket; print(socket.socket(40, 1))"  # to the host of a virtual machine
        assert namespace_sh(python(code), engine=engine).data["exit_code"]
        assert not namespace_sh("find /run -type s", engine=engine).data["output"]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the number of a call")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("network", [False, True])
def test_no_key_outlives_a_command(namespace_sh, engine, network):
    key = "ctypes.CDLL(None).syscall(248, b'user', b'fsagent', b'x', 1, -4)"
    out = namespace_sh(python(f"import ctypes; print({key})"), engine=engine, network=network)
    assert out.text == "-1"


ENDS_MEANWHILE = """
import os, socket, sys
from fsagent_tools.sandbox import mounts
root = sys.argv[1]
paths = [f"{root}/ends", f"{root}/stays"]
for server, path in zip([socket.socket(socket.AF_UNIX) for _ in paths], paths):
    server.bind(path)
    server.listen()
    os.dup(server.fileno())
hide = mounts.hide
def late(path):
    if path == paths[0]:
        os.unlink(path)
    hide(path)
mounts.hide = late
mounts.build([root])
mounts.hide_sockets(paths, [root])
print(socket.socket(socket.AF_UNIX).connect_ex(paths[1]) != 0, *os.listdir(root))
"""


def test_a_server_that_ends_while_it_is_hidden_costs_no_confinement(tmp_path):
    unshared = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*unshared, "true"], capture_output=True).returncode:
        pytest.skip("no mount namespace may be made here")
    command = [*unshared, sys.executable, "-c", ENDS_MEANWHILE, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "True stays\n", done.stderr


def test_multiprocessing_and_local_sockets_work(namespace_sh, tmp_path):
    (tmp_path / "ws/pool.py").write_text(
        "from multiprocessing import Manager, Pool\n"
        "if __name__ == '__main__':\n"
        "    with Pool(2) as pool, Manager() as manager:\n"
        "        shared = manager.list(pool.map(abs, [-1, -2]))\n"
        "        print(sum(shared))\n"
    )
    assert namespace_sh("python3 pool.py").text == "3"


@pytest.mark.usefixtures("home")
def test_git_works_but_for_what_runs_programs(namespace_sh, tmp_path):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(tmp_path / "ws")]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    for attack in (
        "git config core.fsmonitor evil",
        "echo evil > .git/hooks/pre-commit",
        "printf '[core]\\nfsmonitor = evil\\n' >> .git/config",
        "mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/post-checkout",
    ):
        namespace_sh(attack)
        assert "evil" not in (tmp_path / "ws/.git/config").read_text(), attack
        hooks = {path.name for path in (tmp_path / "ws/.git/hooks").glob("[!.]*")}
        assert not {name for name in hooks if not name.endswith(".sample")}, attack
    work = (
        "touch a && git add a && git -c user.name=a -c user.email=a@b.c commit -qm two && git log"
    )
    out = namespace_sh(f"{work} --oneline && git switch -qc branch && git stash list")
    assert (out.data["exit_code"], "two" in out.text) == (0, True), out.text


WEAKEN = """from fsagent_tools.sandbox import landlock, seccomp
launcher.NAMESPACES = sys.argv[2] == "namespaces"
if sys.argv[2] == "none":
    landlock.abi, seccomp.available = (lambda: 0), (lambda: False)"""
HOST = """
import sys, time
from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.process import launcher
WEAKEN
tool = toolset("workspace").bind(Workspace(sys.argv[1]))["bash"]
sleep = "sleep " + sys.argv[3]
tool.call({"command": f"(env -i setsid {sleep} &); {sleep}"}, background=True)
print(tool.call({"command": "echo ready"}).text, flush=True)
tool.call({"command": f"echo $PPID; {sleep}; echo late > late.txt"})
"""


UNREAD = """
import select, sys, time
from fsagent_tools.process import launcher
WEAKEN
profile = launcher.Profile(writable=(sys.argv[1],))
command = f"setsid sleep {sys.argv[3]} & exit"
launch = launcher.Launch(["/bin/bash", "-c", command], {}, sys.argv[1], profile=profile)
keep = launcher.Launcher()
child, _ = keep.start(launch, (0, 1, 2))
select.select([child], [], [])  # it has ended, and this host does not hear it
print("ready", flush=True)
time.sleep(600)
"""
SECONDS = f"71.{os.getpid()}"  # of the sleeps of this run of the tests


def sleeping(seconds):
    line = f"sleep\0{seconds}\0".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == line:
                found.append(path)
        except OSError:
            continue
    return found


@pytest.mark.parametrize(("script", "count"), [(HOST, 3), (UNREAD, 1)], ids=["all", "unread"])
@pytest.mark.parametrize("level", ["namespaces", "landlock", "none"])
def test_nothing_outlives_a_host_that_is_killed(tmp_path, level, script, count):
    seconds = "7" + SECONDS + str(count)
    code = script.replace("WEAKEN", WEAKEN)
    command = [sys.executable, "-c", code, tmp_path, level, seconds]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as host:
        assert host.stdout.readline() == b"ready\n"
        assert eventually(lambda: len(sleeping(seconds)) == count)
        host.kill()
    assert eventually(lambda: not sleeping(seconds))
    assert not (tmp_path / "late.txt").exists()


DAEMON = """
import os, resource, time
hard = resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]
read, write = os.pipe()
if os.fork():
    pid = int(os.read(read, 9))
    while not open(f'/proc/{pid}/cmdline').read().startswith('sleep'): time.sleep(0.01)
    os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.write(write, b'%d' % os.getpid())
resource.setrlimit(resource.RLIMIT_MSGQUEUE, (hard // 2, hard // 2))
for fd in range(3): os.close(fd)
os.execve('/bin/sleep', ['sleep', 'SECONDS'], {})
""".replace("SECONDS", SECONDS)


def test_a_daemon_that_sheds_every_mark_is_ended_with_its_command(sh):
    out = sh(python(DAEMON) + "; true")
    assert out.data["exit_code"] == 0
    assert [name.split()[0] for name in out.data["stopped"]] == ["sleep"]
    assert not sleeping(SECONDS)


@pytest.mark.skipif(
    tuple(map(int, os.uname().release.split(".")[:2])) < (6, 14),
    reason="a PID namespace has no limit of its own here",
)
def test_a_workspace_has_so_many_processes_and_no_more(namespace_sh):
    code = """
import os, signal
most = 0
try:
    while most < 1000:
        if not os.fork():
            signal.pause()
        most += 1
except BlockingIOError:
    print(most)
"""
    out = namespace_sh(python(code), limits=Limits(processes=400))
    assert 300 < int(out.data["output"]) < 400


@pytest.mark.skipif(os.geteuid() != 0, reason="only root works in what others own")
def test_root_works_in_a_project_of_another_user(sh, tmp_path):
    folder = tmp_path / "ws"
    (folder / "sub").mkdir()
    (folder / "sub/a.txt").write_text("before\n")
    for path in (folder, folder / "sub", folder / "sub/a.txt"):
        os.chmod(path, 0o700)
        os.chown(path, 1000, 1000)
    out = sh("cat sub/a.txt; echo after > sub/a.txt; touch sub/new; stat -c %u sub/a.txt")
    assert (out.text, out.data["exit_code"]) == ("before\n1000", 0)
    assert (folder / "sub/a.txt").read_text() == "after\n"
    assert (folder / "sub/new").stat().st_uid == 0
