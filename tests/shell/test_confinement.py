"""Attacks on the real kernel: what is outside stays as it was, what is inside works."""

import os
import resource
import shlex
import socket
import stat
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.errors import CommandFailed
from fsagent_tools.policy import Limits, ProcessPolicy
from fsagent_tools.shell.launch import start as start_program
from fsagent_tools.shell.profile import Launch, Profile
from tests.conftest import PATIENCE, needs_curl

pytestmark = pytest.mark.full

ATTACKS = [
    "echo x > $OUT/secret.txt",
    "echo x >> $OUT/secret.txt",
    ": > $OUT/new.txt",
    "truncate -s 0 $OUT/secret.txt",
    "rm $OUT/secret.txt",
    "rmdir $OUT/dir",
    "mkdir $OUT/new",
    "mkfifo $OUT/fifo",
    "ln -s /etc $OUT/link",
    "ln $OUT/secret.txt $OUT/hard",
    "ln $OUT/secret.txt hard && echo x > hard",
    "mv $OUT/secret.txt $OUT/moved",
    "mv $OUT/secret.txt stolen",
    "echo x > a && mv a $OUT/a",
    "ln -s $OUT link && echo x > link/planted && rm link/secret.txt",
    "ln -s $OUT/secret.txt to && echo x > to",
    "cd $OUT && echo x > relative.txt",
    "dd if=/dev/zero of=$OUT/secret.txt bs=1 count=1",
    "python3 -c \"import os; os.truncate('$OUT/secret.txt', 0)\"",
    "mknod disk b 254 0",
    "mount -t tmpfs none $OUT",
    "unshare -m mount --bind . $OUT",
    "unshare -Ur true",
    "chroot . true",
    "echo 3 > /proc/sys/vm/drop_caches",
    "echo h > /proc/sysrq-trigger",
]
WAYS = {
    "directly": "{}",
    "from a grandchild": "bash -c {q}; true",
    "from a session of its own": "setsid -w bash -c {q}; true",
}


@pytest.fixture
def outside(tmp_path):
    """A directory with a workspace as its neighbour; a test fails when anything in it changed."""
    place = tmp_path / "outside"
    (place / "dir").mkdir(parents=True)
    (place / "secret.txt").write_text("secret")
    before = snapshot(place)
    yield place
    assert snapshot(place) == before


def snapshot(place):
    return sorted(
        (str(path), path.read_bytes() if path.is_file() else None, path.lstat().st_nlink)
        for path in place.rglob("*")
    )


@contextmanager
def closing_by(end):
    try:
        yield
    finally:
        end()


def python(code, *arguments):
    return shlex.join(["python3", "-c", code, *map(str, arguments)])


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_nothing_outside_changes(sh, outside, way):
    for attack in ATTACKS:
        if sh.level == "landlock" and "/proc" in attack and os.geteuid():
            continue
        command = attack.replace("$OUT", str(outside))
        out = sh(way.format(command, q=shlex.quote(f"{{ {command}; }} && echo escaped")))
        assert "escaped" not in out.text, attack
        assert out.data["exit_code"] or way != "{}", attack


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write kernel settings at all")
def test_a_kernel_setting_stays_as_it_is_though_root_runs_the_command(sh):
    knob = Path("/proc/sys/kernel/core_pattern")
    before = knob.read_text()
    assert sh(f"echo '|/bin/false' > {knob}").data["exit_code"]
    assert knob.read_text() == before


def test_a_refusal_says_that_the_sandbox_may_be_the_reason(sh, outside):
    out = sh(f"echo x > {outside}/a")
    level = out.data["sandbox"].partition(":")[0]
    assert f"[{level}: the sandbox may have refused this: commands write only below" in out.text


def test_metadata_outside_stays_as_it_is(bwrap_sh, tmp_path):
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
        assert bwrap_sh(f"{attack} {file}").data["exit_code"]
    after = file.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_uid) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_uid,
    )


def test_there_are_no_devices_but_harmless_ones(bwrap_sh):
    names = bwrap_sh("ls /dev").text.split()
    here = (Path("/dev", name) for name in names if os.path.lexists(f"/dev/{name}"))
    assert not [path for path in here if stat.S_ISBLK(path.lstat().st_mode)]
    assert {"null", "shm", "urandom"} <= {*names}


OTHERS = """
import os, resource, sys
pid = int(sys.argv[1])
for name, change in {
    "limit": lambda: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)),
    "signal": lambda: os.kill(pid, 0),
    "memory": lambda: open(f"/proc/{pid}/mem", "rb"),
    "variables": lambda: open(f"/proc/{pid}/environ", "rb").read(1),
}.items():
    try:
        change()
    except OSError:
        continue
    print(name)
"""


def test_no_other_process_is_changed_signalled_or_read(sh):
    with subprocess.Popen(["sleep", "600"]) as other, closing_by(other.kill):
        before = resource.prlimit(other.pid, resource.RLIMIT_CORE)
        for pid in (other.pid, os.getpid()):
            assert sh(python(OTHERS, pid)).text == "[exit code 0]"
        assert resource.prlimit(other.pid, resource.RLIMIT_CORE) == before


def test_no_secret_of_the_environment_is_seen(sh, monkeypatch):
    for name in ("API_TOKEN", "LD_PRELOAD_OF_OURS", "BASH_ENV_OF_OURS", "GIT_ASKPASS"):
        monkeypatch.setenv(name, "hush-hush")
    out = sh("env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; true")
    assert "hush-hush" not in out.text


def test_a_variable_that_loads_code_is_not_loaded_outside(sh, tmp_path):
    """bubblewrap and the supervisor start outside of what they make."""
    (tmp_path / "ws/evil.c").write_text(
        "#include <fcntl.h>\n#include <unistd.h>\n"
        "__attribute__((constructor)) static void f(void)"
        f'{{ close(open("{tmp_path}/loaded", O_CREAT | O_WRONLY, 0600)); }}\n'
    )
    if sh("cc -shared -fPIC -o evil.so evil.c").data["exit_code"]:
        pytest.skip("no compiler is installed")
    sh("true", hidden={"env": {"LD_PRELOAD": f"{tmp_path}/ws/evil.so"}})
    assert not (tmp_path / "loaded").exists()


SOCKETS = """
import socket
for family in (socket.AF_UNIX, socket.AF_PACKET, 38, 40):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            socket.socket(family, kind)
        except OSError:
            continue
        print("open", family, kind)
try:
    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)  # each end could send to any path
    print("open pair")
except OSError:
    print(socket.socketpair()[0].family.name)
"""


@pytest.mark.parametrize("network", [False, True])
def test_no_socket_is_made_by_which_a_server_outside_could_be_reached(sh, network):
    assert sh(python(SOCKETS), network=network).text == "AF_UNIX"


def test_no_server_outside_is_reached(sh, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        server.settimeout(0.2)
        local.bind(str(tmp_path / "ws/daemon.sock"))
        local.listen()
        local.settimeout(0.2)
        port = server.getsockname()[1]
        assert sh(f"exec 3<>/dev/tcp/127.0.0.1/{port}").data["exit_code"]
        assert sh(f"echo x >/dev/udp/127.0.0.1/{port}; exec 3<>/dev/tcp/127.0.0.1/{port}").data
        code = "import socket; socket.socket(socket.AF_UNIX).connect('daemon.sock')"
        assert sh(python(code)).data["exit_code"]
        for each in (server, local):
            with pytest.raises(TimeoutError):
                each.accept()


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of calls")
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("add_key", "248, b'user', b'fsagent', b'x', 1, -4"),
        ("bpf", "321, 0, None, 0"),
        ("perf_event_open", "298, None, 0, -1, -1, 0"),
        ("unshare", "272, 0x10000000"),
        ("clone", "56, 0x10000011, None, None, None, 0"),
        ("userfaultfd", "323, 0"),
        ("io_uring_setup", "425, 1, None"),
        ("open_by_handle_at", "304, -1, None, 0"),
    ],
)
def test_a_call_that_leads_out_is_refused(sh, name, call):
    code = f"import ctypes; l = ctypes.CDLL(None, use_errno=True); l.syscall({call}); "
    out = sh(python(f"{code}print(ctypes.get_errno())"))
    assert out.text in ("1", "38"), name  # EPERM, ENOSYS


def test_threads_pools_pairs_and_a_debugger_work(sh):
    code = """
import asyncio, socket, subprocess, threading
t = threading.Thread(target=print, args=("thread",)); t.start(); t.join()
a, b = socket.socketpair(); a.send(b"pair\\n"); print(b.recv(9).decode(), end="")
async def main():
    p = await asyncio.create_subprocess_exec("echo", "child", stdout=subprocess.PIPE)
    print((await p.communicate())[0].decode(), end="")
asyncio.run(main())
"""
    assert sh(python(code)).text == "thread\npair\nchild"


def test_a_pool_of_processes_works(bwrap_sh, tmp_path):
    (tmp_path / "ws/pool.py").write_text(
        "from multiprocessing import Pool\n"
        "if __name__ == '__main__':\n    print(sum(Pool(2).map(abs, [-1, -2])))\n"
    )
    assert bwrap_sh("python3 pool.py").text == "3"


@needs_curl
def test_a_server_in_a_command_answers_there_and_nobody_outside(bwrap_sh, tmp_path):
    (tmp_path / "ws/hello.txt").write_text("hello")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    fetch = f"curl -s --retry 60 --retry-delay 1 --retry-connrefused localhost:{port}/hello.txt"
    out = bwrap_sh(f"python3 -m http.server {port} --bind 127.0.0.1 2>/dev/null & {fetch}")
    assert out.text.startswith("hello")


@needs_curl
def test_a_server_in_a_job_answers_the_next_commands_and_nobody_outside(bwrap_sh, tmp_path):
    (tmp_path / "ws/hello.txt").write_text("hello from the job")
    with socket.socket() as held:  # out here nobody else answers at that port
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        serve = f"exec python3 -u -m http.server {port} --bind 127.0.0.1"
        bwrap_sh(serve, hidden={"background": True})
        fetch = f"curl -s --retry 60 --retry-delay 1 --retry-connrefused localhost:{port}/hello.txt"
        for _ in range(2):
            assert bwrap_sh(fetch).text == "hello from the job"
            assert bwrap_sh("id -u").text == str(os.getuid())
        bwrap_sh("sleep 600", hidden={"background": True})
        (workspace,) = bwrap_sh.workspaces.values()
        assert bwrap_sh(fetch).ok
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), PATIENCE)
        workspace.services.jobs.get("1").kill()
        assert bwrap_sh(fetch.replace("--retry 60", "--retry 0")).data["exit_code"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root works in what others own")
def test_root_works_in_a_project_of_another_user(sh, tmp_path):
    folder = tmp_path / "ws"
    (folder / "sub").mkdir()
    (folder / "sub/a.txt").write_text("before\n")
    for path in (folder, folder / "sub", folder / "sub/a.txt"):
        os.chmod(path, 0o700)
        os.chown(path, 1000, 1000)
    if sh.level == "landlock":
        pytest.skip("there root has no capabilities")
    out = sh("cat sub/a.txt; echo after > sub/a.txt; touch sub/new; stat -c %u sub/a.txt")
    assert (out.text, out.data["exit_code"]) == ("before\n1000", 0)
    for attack in (
        "mknod disk b 7 0",
        "mount --bind . sub",
        "chown 5 /etc/hostname",
        "chmod 600 /etc",
    ):
        assert sh(attack).data["exit_code"], attack


def test_denied_paths_are_hidden_and_the_result_says_so(bwrap_sh, tmp_path):
    (tmp_path / "ws/.env").write_text("TOKEN=hush\n")
    (tmp_path / "ws/keys").mkdir()
    (tmp_path / "ws/keys/k").write_text("hush")
    policy = {"denied_paths": [".env", "keys/"]}
    out = bwrap_sh("cat .env", policy=policy)
    assert "hush" not in out.text
    assert "[denied_paths closes .env to commands; ask the user]" in out.text
    for command in ("cat keys/k", "mv .env e; cat e", "mv keys k; cat k/k", "ln -s .env l; cat l"):
        assert "hush" not in bwrap_sh(command, policy=policy).text, command
    assert (tmp_path / "ws/.env").read_text() == "TOKEN=hush\n"


def test_without_bubblewrap_denied_paths_refuse_commands_unless_the_host_accepts_it(landlock_sh):
    policy = {"denied_paths": [".env"]}
    landlock_sh("echo TOKEN > .env")
    out = landlock_sh("cat .env", policy=policy)
    assert out.code == "COMMAND_FAILED"
    assert "bubblewrap" in out.text
    assert 'require_sandbox="landlock"' in out.text
    assert landlock_sh("cat .env", policy=policy, require_sandbox="landlock").text == "TOKEN"


def test_what_the_host_closes_for_writing_is_read_only(bwrap_sh, tmp_path):
    (tmp_path / "ws/gen").mkdir()
    (tmp_path / "ws/gen/a").write_text("a")
    for command in ("echo x > gen/a", "rm gen/a", "mv gen g", "echo x > gen/b"):
        assert bwrap_sh(command, policy={"write_denied": ["gen/"]}).data["exit_code"], command
    assert (tmp_path / "ws/gen/a").read_text() == "a"


def test_only_what_the_policy_names_is_read(sh, outside, tmp_path):
    (tmp_path / "ws/in.txt").write_text("in")
    out = sh(f"cat in.txt; cat {outside}/secret.txt", readable=["/srv"])
    assert out.text.startswith("in")
    assert "secret\n" not in out.text
    assert out.data["exit_code"]


def test_a_read_only_policy_writes_only_to_the_temporary_directory(sh, tmp_path):
    out = sh("echo x > a; touch $TMPDIR/b && echo made", sandbox="read-only")
    assert out.text.endswith("made")
    assert not (tmp_path / "ws/a").exists()


def test_what_is_closed_in_a_read_only_workspace_opens_nothing_beside_it(bwrap_sh, tmp_path):
    (tmp_path / "ws/sub").mkdir()
    (tmp_path / "ws/sub/key").write_text("key")
    (tmp_path / "ws/sub/other").write_text("other")
    for closed in ({"denied_paths": ["sub/key"]}, {"write_denied": ["sub/key"]}):
        for command in ("echo x > sub/new", "echo x > sub/other", "mv sub moved"):
            out = bwrap_sh(command, policy={**closed, "readonly": True})
            assert out.data["exit_code"], (closed, command)
    assert {p.name for p in (tmp_path / "ws").rglob("*")} == {"sub", "key", "other"}
    assert (tmp_path / "ws/sub/other").read_text() == "other"


def test_a_read_only_workspace_beneath_tmp_is_read_where_it_lies(tmp_path_factory):
    root = tmp_path_factory.mktemp("ws")
    (root / "a.txt").write_text("one")
    (root / "key.txt").write_text("two")
    workspace = Workspace(root, policy=Policy(readonly=True, denied_paths=["key.txt"]))
    with closing(workspace):
        assert workspace.run("cat a.txt").output == "one"
        assert workspace.run("cat key.txt").exit_code
        assert workspace.run("echo x > b").exit_code
    assert {p.name for p in root.iterdir()} == {"a.txt", "key.txt"}


def test_a_directory_that_became_a_link_is_not_opened_for_writing(bwrap_sh, outside, tmp_path):
    """bubblewrap follows links: of what one command replaces, the next would get another."""
    assert bwrap_sh("true").ok
    root = tmp_path / "ws"
    (root / "link").symlink_to("../outside")
    streams = (os.open(os.devnull, os.O_RDWR),) * 3
    profile = Profile((str(root),), pinned=(str(root / "link"),))
    command = ["/bin/sh", "-c", f"echo x > {outside}/new; sleep 600"]
    with closing(start_program(Launch(["/bin/sleep", "600"], {}, "/", profile), streams)):
        pass
    other = start_program(Launch(["/bin/sleep", "600"], {}, "/", Profile((str(root),))), streams)
    with closing(other), pytest.raises(CommandFailed, match="moved what it needs"):
        start_program(Launch(command, {}, "/", profile), streams)
    os.close(streams[0])


def test_limits_hold_and_are_named(sh):
    limits = Limits(file_size="1MB", open_files=64, cpu_seconds=100)
    out = sh("ulimit -n; ulimit -t; head -c 2000000 /dev/zero > big", limits=limits)
    assert out.text.startswith("64\n100")
    assert "files have at most 1,048,576 bytes" in out.text
    memory = sh(python("x = 'x' * 10**9; print('got it')"), limits=Limits(memory="500MB"))
    assert "got it" not in memory.text


def test_the_temporary_directory_is_private_and_the_same_for_files_tools(bwrap_sh, tmp_path):
    out = bwrap_sh("touch /tmp/a; ls $TMPDIR; ls /run | wc -l; test -w /dev/shm && echo shared")
    assert out.text.splitlines()[0] == "a"
    assert out.text.endswith("0\nshared")
    assert not os.path.exists("/tmp/a")


def test_an_environment_on_path_is_seen_whole_though_it_lies_in_the_temporary_directory(
    bwrap_sh, tmp_path_factory, monkeypatch
):
    place = tmp_path_factory.mktemp("venv") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    monkeypatch.setenv("PATH", f"{place}/bin:{os.environ['PATH']}")
    assert bwrap_sh("python -c 'import sys; print(sys.prefix)'").text == str(place.resolve())


@pytest.mark.parametrize("level", ["bubblewrap", "landlock", "seccomp", "none"])
def test_the_description_and_the_result_say_what_holds(tmp_path, lacking, level):
    order = ["bubblewrap", "landlock", "seccomp"]
    lacking(*order[: [*order, "none"].index(level)])
    with_level = toolset("workspace").bind(Workspace(tmp_path))["bash"]
    said = with_level.call({"command": "true"}).data["sandbox"]
    if not said.startswith(level):
        pytest.skip(f"this system has no {level}")
    words = {"bubblewrap": "No network but localhost.", "landlock": "not even localhost"}
    assert words.get(level, "") in with_level.description
    assert ("put back afterwards" in with_level.description) == (level in ("landlock", "seccomp"))
    strict = Policy(process=ProcessPolicy(require_sandbox=True))
    out = toolset("workspace").bind(Workspace(tmp_path, policy=strict))["bash"]
    if level in ("bubblewrap", "landlock"):
        assert out.call({"command": "true", "timeout": PATIENCE}).ok


def test_pip_says_that_the_network_is_off(sh):
    if sh("python3 -m pip --version").data["exit_code"]:
        pytest.skip("pip is not installed")
    out = sh("PIP_RETRIES=1 python3 -m pip install --no-cache-dir fsagent-nothing")
    assert "[network is off here; ask the user]" in out.text
    assert sh("printenv PIP_RETRIES").text == "[exit code 1]"
