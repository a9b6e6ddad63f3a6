"""Kills, full disks, failing system calls and hostile renames: old or new, whole, no litter."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from fsagent_tools import Policy, errors
from fsagent_tools.files import locks
from fsagent_tools.files.local import LocalFiles
from tests.conftest import PATIENCE, Traced, needs_strace, unmount

pytestmark = pytest.mark.full

OLD, NEW = b"o" * 300_000, b"n" * 300_000
CALLS = "openat,openat2,write,fchmod,fchown,fsync,renameat,renameat2,rename,unlinkat,\
mkdirat,flock,pread64,newfstatat,close,linkat,symlinkat,utimensat,fsetxattr"
# The fault is armed by opening a marker, so that only the operation itself is hit.
PROGRAM = """
import os, sys
from fsagent_tools.errors import ToolError
from fsagent_tools.policy import Policy
from fsagent_tools.files.local import LocalFiles
root, what = sys.argv[1:]
door = LocalFiles(root, Policy(), durable=True)
door.place(".")
import secrets, difflib, ctypes
from fsagent_tools.files.resolve import open_beneath
from fsagent_tools.files.atomic import _flagged_rename
open_beneath(), _flagged_rename()
def write():
    with door.lock("f") as target:
        target.write(b"n" * 300_000, expect=target.version)
run = {"write": write, "create": lambda: create(), "copy": lambda: door.copy("d", "e"),
       "move": lambda: door.move("d", "e"), "copy over": lambda: door.copy("d/1", "f", True)}[what]
def create():
    with door.lock("g") as target:
        target.write(b"n" * 300_000, expect=None)
os.write(1, b"READY\\n")
try:
    run()
except ToolError as error:
    print(error.code)
else:
    print("OK")
"""
TRACED = Traced(PROGRAM, CALLS)


def build(root):
    shutil.rmtree(root, ignore_errors=True)
    (root / "d").mkdir(parents=True)
    (root / "f").write_bytes(OLD)
    for name in "123":
        (root / "d" / name).write_bytes(OLD)
    locks._swept.clear()


def litter(root):
    return [n for _, dirs, files in os.walk(root) for n in dirs + files if n.startswith(".fsagent")]


def check(root, what, done):
    if what in ("write", "copy over"):
        new = OLD if what == "copy over" else NEW
        assert (root / "f").read_bytes() in ((new,) if done else (OLD, new))
    if what == "create":
        assert (root / "g").exists() or not done
        assert not (root / "g").exists() or (root / "g").read_bytes() == NEW
    if what in ("copy", "move"):
        whole = {"1": OLD, "2": OLD, "3": OLD}
        found = [at for at in ("d", "e") if (root / at).exists()]
        assert all({p.name: p.read_bytes() for p in (root / at).iterdir()} == whole for at in found)
        assert found == (["d", "e"] if done else ["d"]) or what == "move" or not done
        assert found


def steps(root, what, tmp_path):
    build(root)
    return TRACED.steps((root, what), tmp_path / "log", '"OK')


def kill_at(root, what, at):
    build(root)
    check(root, what, "OK" in TRACED.killed((root, what), at))
    assert len(litter(root)) <= 1, at
    door = LocalFiles(root, Policy())
    with door.lock("after") as target:
        target.write(b"x", expect=None)
    door.close()
    assert not litter(root), at


@needs_strace
@pytest.mark.parametrize("what", ["write", "copy"])
def test_kill_9_at_some_system_calls_leaves_old_or_new(tmp_path, what):
    found = steps(tmp_path / "ws", what, tmp_path)
    chosen = [at for at in found if at[0] in ("write", "renameat", "renameat2", "fsync")]
    assert len(chosen) >= 3
    for at in (chosen[0], chosen[len(chosen) // 2], chosen[-1]):
        kill_at(tmp_path / "ws", what, at)


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("what", ["write", "create", "copy", "copy over", "move"])
def test_kill_9_at_every_system_call_leaves_old_or_new(tmp_path, what):
    found = steps(tmp_path / "ws", what, tmp_path)
    assert len(found) > 10
    for at in found:
        kill_at(tmp_path / "ws", what, at)


@needs_strace
@pytest.mark.parametrize(
    ("call", "error", "code"),
    [("write", "EDQUOT", "FILE_WRITE_ERROR"), ("write", "ENOSPC", "FILE_WRITE_ERROR"),
     ("openat", "EMFILE", "FILE_WRITE_ERROR"), ("openat", "EROFS", "FILE_WRITE_ERROR"),
     ("fsync", "EIO", "FILE_WRITE_ERROR"), ("renameat", "EACCES", "PERMISSION_DENIED"),
     ("fchmod", "EPERM", "OK"), ("fchown", "EPERM", "OK"), ("flistxattr", "EOPNOTSUPP", "OK"),
     ("fsetxattr", "EPERM", "OK")],
)  # fmt: skip
def test_a_failing_system_call_is_a_clear_refusal_or_does_not_matter(tmp_path, call, error, code):
    root = tmp_path / "ws"
    if call == "fchown" and os.geteuid():
        pytest.skip("needs root to give a file away")
    numbers = [1]
    if call not in ("fchown", "flistxattr", "fsetxattr"):
        numbers = [number for name, number in steps(root, "write", tmp_path) if name == call]
    for number in numbers:
        build(root)
        os.setxattr(root / "f", "user.note", b"kept")
        if call == "fchown":
            os.chown(root / "f", 12345, 54321)
        _, said = TRACED.injected((root, "write"), (call, number), f"error={error}")
        assert said[-1] in (code, "OK") if call == "openat" else said[-1] == code
        # only the directory's own sync fails after the new content is in place
        placed = said[-1] == "OK" or (call in ("fsync", "openat") and number == numbers[-1])
        assert (root / "f").read_bytes() == (NEW if placed else OLD)
        assert not litter(root)


@pytest.fixture
def tiny(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield disk
    unmount(disk)


def test_a_full_disk_keeps_the_old_content_and_no_litter(tiny):
    (tiny / "f").write_bytes(OLD)
    (tiny / "d").mkdir()
    (tiny / "d" / "x").write_bytes(OLD)
    (tiny / "linked").write_bytes(b"short")
    os.link(tiny / "linked", tiny / "linked too")
    door = LocalFiles(tiny, Policy())
    for path in ("f", "new", "linked"):
        with door.lock(path) as target, pytest.raises(errors.WriteFailed, match="No space"):
            target.write(b"y" * 3_000_000, expect=target.version)
    door.copy("d", "copy1")
    with pytest.raises(errors.WriteFailed, match="No space"):
        door.copy("d", "copy2")
    door.close()
    assert sorted(p.name for p in tiny.glob("copy*")) == ["copy1"]
    assert (tiny / "f").read_bytes() == OLD
    assert (tiny / "linked").read_bytes() == b"short"
    assert not (tiny / "new").exists()
    assert not litter(tiny)


def test_a_bind_mounted_file_is_written_in_place(tmp_path):
    root = tmp_path / "ws"
    root.mkdir()
    (tmp_path / "elsewhere").write_bytes(OLD)
    (root / "m").touch()
    bound = subprocess.run(["mount", "--bind", tmp_path / "elsewhere", root / "m"],
                           capture_output=True, check=False)  # fmt: skip
    if bound.returncode:
        pytest.skip("needs the right to mount")
    door = LocalFiles(root, Policy())
    try:
        with door.lock("m") as target:
            target.write(NEW, expect=target.version)
        assert (tmp_path / "elsewhere").read_bytes() == NEW
        assert not litter(root)
    finally:
        door.close()
        unmount(root / "m")


SWAP = """
import ctypes, os, sys, time
a, b = (os.fsencode(p) for p in sys.argv[1:3])
rename = ctypes.CDLL(None).renameat2
print("READY", flush=True)
parent = os.getppid()
while os.getppid() == parent:
    rename(-100, a, -100, b, 2)
"""


def race(tmp_path, walk, seconds, tries=0):
    root, out = tmp_path / "ws", tmp_path / "out"
    (root / "d").mkdir(parents=True)
    out.mkdir()
    (root / "d" / "f").write_text("public")
    (out / "f").write_text("SECRET")
    (root / "swap").symlink_to(out)
    swapper = subprocess.Popen([sys.executable, "-c", SWAP, root / "d", root / "swap"],
                               stdout=subprocess.PIPE)  # fmt: skip
    swapper.stdout.readline()
    door, end, seen = LocalFiles(root, Policy(), walk=walk), time.monotonic() + seconds, {}
    try:
        while (
            (now := time.monotonic()) < end
            or sum(seen.values()) < tries
            or (not telling(seen) and now < end + PATIENCE)
        ):
            for use in USES:
                try:
                    use(door, "d/f")
                    outcome = "ok"
                except errors.ToolError as error:
                    outcome = error.code
                seen[use.__name__, outcome] = seen.get((use.__name__, outcome), 0) + 1
            assert os.listdir(out) == ["f"]
            assert (out / "f").read_text() == "SECRET"
    finally:
        swapper.kill()
        swapper.wait()
        swapper.stdout.close()
        door.close()
    assert telling(seen), seen


def telling(seen):
    """Whether every use worked at least once, and was refused for more than one reason."""
    worked = {use for use, code in seen if code == "ok"}
    return len(worked) == len(USES) and {code for _, code in seen} > {
        "ok",
        "PATH_OUTSIDE_WORKSPACE",
    }


def read_one(door, path):
    with door.open(path) as file:
        assert file.read() == b"public"


def write_one(door, path):
    with door.lock(path) as target:
        target.write(b"public", expect=target.version)


def create_one(door, path):
    new = f"d/{time.monotonic_ns()}"
    with door.lock(new) as target:
        target.write(b"x", expect=None)


def make_one(door, path):
    door.make_directory(f"d/{time.monotonic_ns()}/x/y")


def copy_one(door, path):
    name = f"copy{time.monotonic_ns()}"
    door.copy(path, name)
    with door.open(name) as file:
        assert file.read() == b"public"
    door.remove(name)


def move_one(door, path):
    new = f"moved{time.monotonic_ns()}"
    with door.lock(new) as target:
        target.write(b"x", expect=None)
    try:
        door.move(new, f"d/{new}")
    except errors.ToolError:
        door.remove(new)
        raise


USES = (read_one, write_one, create_one, LocalFiles.stat, make_one, copy_one, move_one)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RENAME_EXCHANGE is Linux's")
def test_a_directory_swapped_for_a_link_for_a_second_never_leads_outside(tmp_path, walk):
    race(tmp_path, walk, 1.5)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RENAME_EXCHANGE is Linux's")
def test_a_directory_swapped_for_a_link_a_hundred_thousand_times_never_leads_outside(
    tmp_path, walk
):
    race(tmp_path, walk, 10, tries=100_000)
