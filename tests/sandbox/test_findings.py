"""What each level of confinement promises: one attack for each promise, at every level there is."""

import os
import resource
import shlex
import shutil
import socket
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.sandbox import landlock
from tests.conftest import LEVELS, PATIENCE, alive, eventually


@pytest.fixture
def shell(level, root):
    workspace = Workspace(root, policy=Policy(denied_paths=["*.key"]))
    tool = toolset("workspace").bind(workspace)["bash"]

    def run(command, seconds=PATIENCE):
        out = tool.call({"command": command, "timeout": seconds})
        if not out.data["sandbox"].startswith("none" if level == "bare" else level):
            pytest.skip(f"this system has no level {level}")
        return out

    yield run
    workspace.close()


def holds(level, weakest):
    """Whether the promise is kept at `level`, when `weakest` is the last level that keeps it."""
    return LEVELS.index(level) <= LEVELS.index(weakest)


def python(code, *arguments):
    return shlex.join(["python3", "-c", code, *map(str, arguments)])


@contextmanager
def bystander():
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def test_files_outside_stay_as_they_are(shell, level, tmp_path):
    file = tmp_path / "outside"
    file.write_text("before")
    shell(f"echo after > {file}; mv {file} stolen; ln {file} hard && echo after > hard")
    assert (file.exists() and file.read_text() == "before") == holds(level, "landlock")


def test_metadata_outside_stays_as_it_is(shell, level, tmp_path):
    file = tmp_path / "outside"
    file.touch(0o600)
    shell(f"chmod 666 {file}; touch -d 2001-01-01 {file}")
    assert (file.stat().st_mode & 0o777 == 0o600) == holds(level, "namespaces")


def test_limits_of_other_processes_stay_as_they_are(shell, level):
    with bystander() as pid:
        before = resource.prlimit(pid, resource.RLIMIT_CORE)
        code = "import resource as r, sys; r.prlimit(int(sys.argv[1]), r.RLIMIT_CORE, (0, 0))"
        shell(python(code, pid))
        after = resource.prlimit(pid, resource.RLIMIT_CORE)
    assert (before != (0, 0)) <= ((after == before) == holds(level, "seccomp"))


def test_other_processes_are_not_signalled(shell, level):
    with bystander() as pid:
        out = shell(f"kill -0 {pid} && echo reached")
    scoped = landlock.abi() >= 6
    assert ("reached" not in out.text) == holds(level, "landlock" if scoped else "namespaces")


def test_nobody_outside_is_reached_with_the_network_off(shell, level):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        out = shell(f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached")
    assert ("reached" not in out.text) == holds(level, "seccomp")


def test_a_denied_file_is_not_read(shell, level, root):
    (root / "deep").mkdir()
    (root / "deep/a.key").write_text("TOPSECRET")
    text = shell("cat deep/a.key").text
    assert ("TOPSECRET" not in text) == holds(level, "namespaces")


def test_a_repository_keeps_its_configuration_and_hooks(shell, root):
    subprocess.run(["git", "init", "-q", root], check=True)
    before = (root / ".git/config").read_bytes()
    out = shell("git config core.fsmonitor evil; mkdir .git/hooks; echo evil > .git/hooks/update")
    assert out.data["put_back"] == (".git/config: core.fsmonitor", ".git/hooks/update")
    assert (root / ".git/config").read_bytes() == before
    assert not (root / ".git/hooks/update").exists()


@pytest.mark.parametrize(
    "command",
    [
        "sleep 7301 & setsid sleep 7301 & sleep 7301",
        "(env -i setsid sleep 7301 &); trap '' TERM; sleep 7301",
        "(setsid sh -c 'sleep 7301; :' &); kill -STOP $$",
    ],
)
def test_nothing_survives_a_command_that_reached_its_time_limit(shell, level, command):
    if level == "bare":
        pytest.skip("what leaves its process group is not known there")
    out = shell(command, 1)
    assert (out.code, out.data["survivors"]) == ("TIMEOUT", ())
    assert eventually(lambda: not alive("sleep 7301"))


def test_nothing_survives_of_the_group_of_a_command(shell):
    out = shell("sleep 7302 & sleep 7302", 1)
    assert (out.code, out.data["survivors"]) == ("TIMEOUT", ())
    assert eventually(lambda: not alive("sleep 7302"))


def test_searches_leak_nothing_of_what_is_outside(level, root, tmp_path):
    """Searches are confined by Landlock, whatever is allowed to commands."""
    (tmp_path / "outside.txt").write_text("TOPSECRET")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "in.txt").write_text("TOPSECRET inside")
    grep = toolset("workspace").bind(Workspace(root))["grep"]
    found, stop = [], threading.Event()

    def swap():
        while not stop.is_set():
            os.replace(root / "link.txt", root / "other.txt")
            os.replace(root / "other.txt", root / "link.txt")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        found = [grep.call({"pattern": "TOPSECRET"}).data["matches"] for _ in range(10)]
    finally:
        stop.set()
        swapper.join()
    assert {match["file"] for matches in found for match in matches} == {"in.txt"}


ROOMY = """
import socket, threading
for family, protocol in ((16, 0), (16, 12), (17, 0), (38, 0), (40, 0)):
    try:
        socket.socket(family, socket.SOCK_DGRAM if family == 40 else socket.SOCK_RAW, protocol)
    except PermissionError:
        print("refused", family, protocol)
threading.Thread(target=print, args=("a thread",)).start()
"""


@pytest.mark.parametrize("network", [False, True])
def test_parts_of_the_kernel_that_are_for_administrators_are_closed(sh, network):
    for kind in ("--user", "--net", "--mount", "--pid --fork"):
        assert "not permitted" in sh(f"unshare {kind} true", network=network).text
    said = sh(python(ROOMY), network=network).text
    assert "a thread" in said
    for family in ("16 12", "17 0", "38 0", "40 0"):
        assert f"refused {family}" in said, family
    if network:
        assert "refused 16 0" not in said


@pytest.mark.skipif(not os.getuid(), reason="root is the machine's in a namespace, too")
@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_a_host_may_let_commands_make_namespaces(namespace_sh):
    boxed = "bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all"
    out = namespace_sh(f"{boxed} echo inside; {boxed} touch $PWD/../x", namespaces=True)
    assert out.text.startswith("inside\n")
    assert "Read-only file system" in out.text


def test_one_workspace_has_at_most_a_tenth_of_the_machines_processes(namespace_sh):
    there = int(Path("/proc/sys/kernel/pid_max").read_text())
    assert int(namespace_sh("ulimit -u").data["output"]) <= max(1024, there / 10)
