"""Searches in a view that holds the searched directory only: nothing else is there to reach."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.policy import Limits
from fsagent_tools.process import alone, launcher
from fsagent_tools.process.launcher import Launcher
from fsagent_tools.sandbox.profile import Profile
from fsagent_tools.search import ripgrep
from tests.conftest import eventually

BASH = "/bin/bash"


@pytest.fixture(autouse=True)
def ready(root, monkeypatch):
    """The keeper for searches, which every search of this test then uses."""
    if Launcher().lacking(Profile((), only="/")):
        pytest.skip("no namespaces may be made here")
    monkeypatch.setattr(ripgrep, "_FEW", -1)
    monkeypatch.setattr(alone, "_kept", {})
    monkeypatch.setattr(alone, "_MOUNTS", os.devnull)  # others may mount something at any moment

    def is_ready():
        return started([BASH, "-c", ":"], root) is not None

    assert eventually(is_ready)


def started(argv, folder):
    status = os.stat(folder)
    found = alone.start_alone(argv, str(folder), (status.st_dev, status.st_ino))
    if found is None:
        return None
    with found:
        return found.stdout.read().decode(), found.stderr.read().decode(), found.wait()


def sh(script, folder):
    return started([BASH, "-c", script], folder)


def test_nothing_else_is_there(root, tmp_path):
    (tmp_path / "outside.txt").write_text("TOPSECRET")
    (root / "in.txt").write_text("inside")
    assert sh(f"echo $(<in.txt); echo $(<{root}/in.txt); echo *", root)[0] == (
        "inside\ninside\nin.txt\n"
    )
    assert sh(f"read x < {tmp_path}/outside.txt; echo $x; cd ..; echo *", root)[0] == "\nws\n"
    there = sh("echo /*", root)[0].split()
    assert {"/proc", "/sys", "/dev", "/home", "/root", "/run", "/var"}.isdisjoint(
        {*there} - {"/" + root.parts[1]}
    )


def test_no_link_leads_anywhere_not_even_inside(root, tmp_path):
    (tmp_path / "outside.txt").write_text("TOPSECRET")
    (root / "in.txt").write_text("inside")
    (root / "out").symlink_to(tmp_path / "outside.txt")
    (root / "near").symlink_to("in.txt")
    (root / "above").symlink_to("..")
    said = sh("for f in out near above/outside.txt; do read x < $f; echo $x; done", root)
    assert said[0] == "\n\n\n"


def test_nothing_is_written_and_nobody_is_reached(root):
    (root / "in.txt").write_text("inside")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        said = sh(
            "echo x > new; echo x > in.txt; echo x > /new; echo x > /tmp/new; "
            f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached; "
            f"kill -0 {os.getpid()} && echo reached; ulimit -u 10000000; :",
            root,
        )
    assert "reached" not in said[0]
    assert [path.name for path in root.iterdir()] == ["in.txt"]
    assert (root / "in.txt").read_text() == "inside"


def test_it_cannot_change_what_it_sees(root, tmp_path):
    """As the user that it is, with the rights that are left to it."""
    attempts = ("mount -t proc none .", "umount .", "chroot .", "unshare -m true", "mknod d b 1 1")
    programs = [path for name in attempts for path in [f"/usr/bin/{name.split()[0]}"]]
    readable = [path for path in (BASH, *programs, *alone.SHARED_OBJECTS) if os.path.exists(path)]
    profile = Profile((), readable=tuple(readable), only=str(root))
    script = "; ".join(f"/usr/bin/{attempt} && echo done" for attempt in attempts)
    launch = launcher.Launch(
        [BASH, "-c", script], {"PATH": "/usr/bin"}, str(root), profile=profile, limits=Limits()
    )
    with alone.Alone(Launcher(), launch) as found:
        assert (found.stdout.read(), found.stderr.read() != b"") == (b"", True)


def test_a_view_of_few_places_is_refused_without_namespaces(root, lacking):
    lacking("namespaces")
    launch = launcher.Launch([BASH, "-c", ":"], {}, str(root), profile=Profile((), only=str(root)))
    with pytest.raises(Exception, match="lacks namespaces"):
        Launcher().start(launch, (0, 1, 2))


def test_another_directory_in_the_place_of_the_searched_one_is_not_searched(root, tmp_path):
    status = os.stat(root)
    os.rename(root, tmp_path / "moved")
    root.mkdir()
    assert alone.start_alone([BASH], str(root), (status.st_dev, status.st_ino)) is None


def test_a_directory_that_no_view_has_is_searched_the_other_way():
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("there is no /dev/shm")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        (Path(folder) / "a.txt").write_text("need\n")
        assert [searched(folder)[1]["count"] for _ in range(2)] == [1, 1]


def test_one_search_begins_no_keeper(root):
    (root / "a.txt").write_text("need\n")
    code = (
        "import sys; from fsagent_tools.cli import main; main(sys.argv[1:]);"
        "from fsagent_tools.process import alone; print(alone._kept)"
    )
    command = [sys.executable, "-c", code, "grep", "need"]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60).stdout
    assert said.startswith("a.txt\n1 ")
    assert said.endswith("\n{}\n")


def test_a_search_that_is_ended_leaves_room_for_the_next(root):
    status = os.stat(root)
    place = status.st_dev, status.st_ino
    found = alone.start_alone([BASH, "-c", "while :; do echo x; done"], str(root), place)
    with found:
        found.stdout.read(10)
    kept = [*alone._kept.values()][-1]
    (keeper,) = [keeper for keeper in kept._launcher._keepers.values() if keeper._rooms]
    rooms = [*keeper._rooms]
    assert sh("echo next", root)[0] == "next\n"
    assert keeper._rooms == rooms


def searched(root, **arguments):
    workspace = Workspace(root, policy=Policy(denied_paths=["*.key"]))
    out = toolset("workspace").bind(workspace)["grep"].call({"pattern": "need", **arguments})
    workspace.close()
    return out.text, out.data


ARGUMENTS = [
    {},
    {"path": "sub"},
    {"include": "*.py"},
    {"include": "sub/*"},
    {"context": 1},
    {"max_results": 1},
    {"output_mode": "count"},
    {"output_mode": "files_with_matches"},
    {"pattern": "("},
    {"pattern": "absent"},
    {"path": "a.txt"},
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_answers_are_the_same_as_outside(root, monkeypatch, arguments):
    for name in ("a.txt", "b.py", "sub/c.py", "sub/deep/d.txt", ".hidden/e", "build/f", "g.key"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before\nneed\nafter\nneed more\n")
    (root / "link").symlink_to("sub")
    (root / "binary").write_bytes(b"\0need\0\n")
    inside = searched(root, **arguments)
    monkeypatch.setattr(ripgrep, "_FEW", sys.maxsize)
    assert inside == searched(root, **arguments)


def test_searches_really_run_there(root, monkeypatch):
    (root / "a.txt").write_text("need\n")
    monkeypatch.setattr(ripgrep, "start_reader", None)
    assert searched(root)[1]["count"] == 1


MOUNTED = """
import os, subprocess, sys, time
from fsagent_tools import Workspace, toolset
from fsagent_tools.process import alone
from fsagent_tools.search import ripgrep
root, ripgrep._FEW = sys.argv[1], -1
grep = toolset("workspace").bind(Workspace(root))["grep"]
def in_room():
    grep.call({"pattern": "need"})
    return any(kept.is_ready for kept in alone._kept.values())
while not in_room():
    time.sleep(0.01)
before = grep.call({"pattern": "need"}).data["count"]
subprocess.run(["mount", "-t", "tmpfs", "none", root + "/sub"], check=True)
open(root + "/sub/new.txt", "w").write("need")
print(before, grep.call({"pattern": "need"}).data["count"])
while not in_room():
    time.sleep(0.01)
print(grep.call({"pattern": "need"}).data["count"])
"""


def test_what_is_mounted_later_is_searched_too(root):
    unshared = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*unshared, "true"], capture_output=True).returncode:
        pytest.skip("no mount namespace may be made here")
    (root / "sub").mkdir()
    (root / "a.txt").write_text("need\n")
    command = [*unshared, sys.executable, "-c", MOUNTED, root]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["1", "2", "2"], done.stderr[-2000:]


def test_what_is_mounted_while_two_searches_begin_is_seen_by_both(monkeypatch):
    class Poll:
        """The kernel tells each change once: another thread is told of it meanwhile."""

        def register(self, *_):
            pass

        def poll(self, _):
            kept._outdated = True
            return []

    monkeypatch.setattr(alone._Kept, "_begin", lambda kept: None)
    kept = alone._Kept()
    monkeypatch.setattr(alone.select, "poll", Poll)
    assert kept.is_outdated()
