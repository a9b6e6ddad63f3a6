"""Attacks on the real kernel: what is outside stays as it was, what is inside works."""

import os
import shlex
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fsagent_tools.sandbox import landlock, seccomp, wrappers
from fsagent_tools.sandbox.profile import Profile
from tests.conftest import alive, eventually

if not landlock.abi():
    pytest.skip("this kernel has no Landlock", allow_module_level=True)
BWRAP = pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
ENGINES = ["auto", pytest.param("bwrap", marks=BWRAP)]


@pytest.fixture
def outside(tmp_path):
    """A directory beside the workspace; a test fails when anything in it has changed."""
    place = tmp_path / "outside"
    (place / "dir").mkdir(parents=True)
    (place / "secret.txt").write_text("secret")
    (place / "other.txt").write_text("other")
    before = snapshot(place)
    yield place
    assert snapshot(place) == before


def snapshot(place):
    return sorted(
        (str(path), path.read_bytes() if path.is_file() else None, path.lstat().st_nlink)
        for path in place.rglob("*")
    )


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
    "chroot . true",
    "echo 1 > /proc/$PPID/oom_score_adj",
]
WAYS = {
    "directly": "{}",
    "from a grandchild": "bash -c {q}; true",
    "from a session of its own": "setsid -w bash -c {q}; true",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_nothing_outside_changes(sh, outside, way):
    for attack in ATTACKS:
        command = attack.replace("$OUT", str(outside))
        out = sh(way.format(command, q=shlex.quote(f"{{ {command}; }} && echo escaped")))
        assert "escaped" not in out.text, attack
        assert out.data["exit_code"] or way != "{}", attack


@BWRAP
def test_nothing_outside_changes_under_bubblewrap(sh, outside):
    for attack in ATTACKS:
        if "chroot" not in attack and "oom" not in attack:
            out = sh(attack.replace("$OUT", str(outside)), engine="bwrap")
            assert out.data["sandbox"] == "bwrap"


def test_the_agent_cannot_be_signalled_or_traced(sh):
    for victim in (os.getpid(), os.getppid()):
        out = sh(f"kill -0 {victim}")
        if landlock.abi() >= 6:
            assert out.data["exit_code"] == 1
    read = f"open('/proc/{os.getpid()}/mem', 'rb')"
    assert sh(f'python3 -c "{read}"').data["exit_code"] == 1


def test_a_refusal_says_that_the_sandbox_may_be_the_reason(sh, outside):
    out = sh(f"echo x > {outside}/a")
    assert (
        f"[{out.data['sandbox']}: the sandbox may have refused this: commands write only below"
        in out.text
    )


SOCKETS = """
import socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            socket.socket(family, kind)
        except OSError:
            continue
        print("open", family, kind)
try:
    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)  # each end could send to any path
    print("open")
except OSError:
    pass
a, b = socket.socketpair()
a.send(b"pair")
print(b.recv(4).decode())
"""


@pytest.mark.skipif(not seccomp.available(), reason="no filter for this machine")
@pytest.mark.parametrize("way", ["python3 s.py", "setsid -w bash -c 'python3 s.py; :'"])
def test_where_nobody_can_be_told_of_calls_no_socket_opens_with_the_network_off(
    landlock_sh, tmp_path, way, lacking
):
    lacking("loopback")
    script = tmp_path / "ws/s.py"
    script.write_text(SOCKETS)
    out = landlock_sh(way)
    assert out.text == "pair"
    assert out.data["sandbox"] == f"landlock-v{landlock.abi()}+seccomp"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_server_is_reached_with_the_network_on_only(sh, engine):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reach = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached"
        assert sh(reach, network=True, engine=engine).text == "reached"
        out = sh(reach, engine=engine)
        assert out.data["exit_code"] == 1


@pytest.mark.skipif(landlock.abi() < 4, reason="Landlock has no TCP rules here")
def test_landlock_alone_closes_tcp(landlock_sh, lacking):
    lacking("seccomp")
    with socket.create_server(("127.0.0.1", 0)) as server:
        out = landlock_sh(f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}")
    assert (out.data["exit_code"], out.data["sandbox"]) == (1, f"landlock-v{landlock.abi()}")
    assert landlock_sh("true", require_sandbox=True).code == "COMMAND_FAILED"


@pytest.mark.parametrize("number", [0, 20, 0x40000000 | 41])
def test_other_system_call_abis_open_no_socket(sh, tmp_path, number):
    code = f"import ctypes; print(ctypes.CDLL(None).syscall({number or 425}, 2, 1, 0, 0))"
    (tmp_path / "ws/raw.py").write_text(code)
    if number != 20:
        assert sh("python3 raw.py").text == "-1"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "work",
    [
        "echo x > new.txt && mkdir -p a/b && mv new.txt a/b && ln -s a link && ln a/b/new.txt h",
        "echo x > link.txt; rm link.txt",
        'echo x > "$TMPDIR/file" && cat "$TMPDIR/file"',
        "cat <<< 'a here document'",
        "d=$(mktemp -d) && touch $d/file && rm -r $d",
        "echo x > /dev/null; head -c 3 /dev/urandom > random.bin",
        "echo out > /dev/stdout; echo err > /dev/stderr",
        "cat <(echo process) | tee copy.txt",
        "cat /etc/passwd > /dev/null",
    ],
)
def test_ordinary_work_inside_succeeds(sh, engine, work):
    out = sh(work, engine=engine)
    assert out.data["exit_code"] == 0, out.text


@pytest.mark.usefixtures("home")
def test_git_works_inside(sh):
    identity = "-c user.name=a -c user.email=a@b.c"
    out = sh(f"git init -q . && touch a && git add a && git {identity} commit -qm one && git log")
    assert (out.data["exit_code"], "one" in out.text) == (0, True), out.text


def test_pytest_works_inside(sh, tmp_path):
    (tmp_path / "ws/test_it.py").write_text("def test_it(tmp_path): (tmp_path / 'a').touch()\n")
    out = sh(f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q test_it.py")
    assert "1 passed" in out.text


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_npm_works_inside(sh):
    out = sh("npm --version && node -e \"require('fs').writeFileSync('a.txt', 'x')\"")
    assert out.data["exit_code"] == 0, out.text


@pytest.mark.parametrize("engine", ENGINES)
def test_a_read_only_sandbox_writes_to_the_temporary_directory_only(sh, tmp_path, engine):
    out = sh('echo x > "$TMPDIR/a" && echo y; echo z > b', sandbox="read-only", engine=engine)
    assert out.data["output"].startswith("y\n"), (out.text, out.data)
    assert list((tmp_path / "ws").iterdir()) == []


def test_a_further_writable_place_is_open(sh, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "file").touch()
    places = (str(tmp_path / "cache"), str(tmp_path / "file"), str(tmp_path / "missing"))
    out = sh("echo x > ../cache/a && echo x > ../file; echo x > ../missing", writable=places)
    assert [(tmp_path / name).exists() for name in ("cache/a", "missing")] == [True, False]
    assert (tmp_path / "file").read_text() == "x\n"
    assert out.data["exit_code"] == 1


@BWRAP
def test_bubblewrap_keeps_git_hooks_and_config(sh, tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path / "ws"], check=True)
    before = (tmp_path / "ws/.git/config").read_text()
    sh("echo x >> .git/config; echo x > .git/hooks/pre-commit", engine="bwrap")
    assert (tmp_path / "ws/.git/config").read_text() == before
    assert not (tmp_path / "ws/.git/hooks/pre-commit").exists()


@BWRAP
def test_no_process_hides_from_bubblewrap(sh):
    out = sh("(ulimit -q 0; env -i setsid sleep 9001 &) ; sleep 600", 1, engine="bwrap")
    assert out.code == "TIMEOUT"
    assert eventually(lambda: not alive("sleep 9001"))


@BWRAP
def test_a_variable_loads_nothing_into_bubblewrap_itself(sh, outside):
    written = {"LD_DEBUG": "statistics", "LD_DEBUG_OUTPUT": str(outside / "loaded")}
    before = {*outside.iterdir()}
    out = sh("echo $LD_DEBUG $TMPDIR", engine="bwrap", hidden={"env": written})
    assert "statistics /" in out.text
    assert {*outside.iterdir()} == before


@BWRAP
def test_a_bubblewrap_that_a_command_has_made_is_passed_over(sh, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}/ws/bin:{os.environ['PATH']}")
    fake = f"#!/bin/sh\ntouch {tmp_path}/ran\n"
    sh(f"mkdir bin; printf '{fake}' > bin/bwrap; chmod +x bin/bwrap")
    assert sh("echo confined", engine="bwrap").text == "confined"
    assert not (tmp_path / "ran").exists()


def test_an_engine_that_is_not_installed_runs_nothing(sh, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    out = sh("touch ran", engine="bwrap")
    assert (out.code, "bwrap" in out.text) == ("COMMAND_FAILED", True)


def test_the_agent_itself_stays_unconfined(sh, tmp_path):
    sh("true")
    (tmp_path / "free.txt").write_text("x")
    socket.socket().close()
    seen = []
    thread = threading.Thread(
        target=lambda: seen.append(Path("/proc/thread-self/status").read_text())
    )
    thread.start()
    thread.join()
    assert "NoNewPrivs:\t0" in seen[0]


def test_the_macos_profile_denies_writes_then_opens_the_workspace():
    profile = Profile(('/ws "x"',), read_only=("/ws/.git/config",), hidden=("/ws/.env",))
    words = wrappers.sandbox_exec(profile)
    assert words[:2] == ("/usr/bin/sandbox-exec", "-p")
    parts = (
        "(deny file-write*)",
        '\\"x\\"',
        ".git",
        '(deny file-read* (subpath "/ws/.env',
        "network",
    )
    order = [words[2].index(part) for part in parts]
    assert order == sorted(order)


@pytest.mark.parametrize(
    "command",
    [
        "kill -9 $PPID; (setsid sleep 97.1 &); sleep 97.1",
        "(setsid sleep 97.1 &); kill -STOP $PPID; sleep 97.1",
    ],
)
def test_a_command_that_reaches_who_started_it_is_ended_with_it(sh, command):
    sh(command, timeout=2)
    assert eventually(lambda: not alive("sleep 97.1"))
    assert sh("echo fine").text == "fine"
