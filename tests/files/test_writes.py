import errno
import os
import stat
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from fsagent_tools import call, errors
from fsagent_tools.files import atomic, locks
from fsagent_tools.files.atomic import RECOVERY_PREFIX
from fsagent_tools.files.base import TEMP_PREFIX
from fsagent_tools.files.resolve import Signature
from tests.conftest import PATIENCE, no_new_descriptor, soon


def write(door, path, data):
    with door.lock(path) as target:
        return target.write(data, expect=target.version)


def test_short_writes_are_completed(door, root, monkeypatch):
    whole = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: whole(fd, data[:3]))
    write(door, "a.txt", b"0123456789abc")
    assert (root / "a.txt").read_bytes() == b"0123456789abc"


def test_a_write_leaves_no_descriptor_open(door):
    write(door, "a.txt", b"a")
    with no_new_descriptor():
        write(door, "a.txt", b"b")


def test_mode_owner_and_attributes_survive_a_write(door, root):
    file = root / "a.txt"
    file.chmod(0o751)
    if os.geteuid() == 0:
        os.chown(file, 12345, 54321)
    os.setxattr(file, "user.note", b"kept")
    write(door, "a.txt", b"new")
    status = file.stat()
    assert stat.S_IMODE(status.st_mode) == 0o751
    assert os.geteuid() or (status.st_uid, status.st_gid) == (12345, 54321)
    assert os.getxattr(file, "user.note") == b"kept"


def test_a_new_file_gets_the_mode_that_the_umask_says(door, root):
    old = os.umask(0o027)
    try:
        write(door, "new.txt", b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((root / "new.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize("names", [1, 2])
def test_content_of_a_private_file_is_private_wherever_it_is_meanwhile(
    door, root, monkeypatch, names
):
    """The temporary file, and what is saved of a file with two names."""
    whole, modes = os.write, []

    def watched(fd, data):
        modes.append(stat.S_IMODE(os.fstat(fd).st_mode))
        return whole(fd, data)

    monkeypatch.setattr(os, "write", watched)
    (root / "a.txt").chmod(0o600)
    if names == 2:
        os.link(root / "a.txt", root / "other")
    write(door, "a.txt", b"new")
    assert modes == [0o600] * (1 if names == 1 else 3)


def test_a_file_that_stays_with_who_writes_lends_no_rights(door, root, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EPERM, "not yours")

    if os.geteuid():
        pytest.skip("needs root to give a file away")
    os.chown(root / "a.txt", 12345, 54321)
    (root / "a.txt").chmod(0o6755)
    monkeypatch.setattr(os, "fchown", refused)
    write(door, "a.txt", b"new")
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o755


class Keeper:
    """A recorder of writes."""

    def __init__(self, told=lambda: None):
        self.told, self.forgotten = told, 0

    def overwrites(self, *_, **__):
        self.told()
        return self.forget

    def forget(self):
        self.forgotten += 1


def test_a_write_that_fails_is_raised_and_forgotten_by_who_keeps(opens, root, monkeypatch):
    def refused(*_, **__):
        raise OSError(errno.EIO, "broken")

    keeper = Keeper()
    monkeypatch.setattr(os, "rename", refused)
    with pytest.raises(errors.WriteFailed, match="old content is unchanged"):
        write(opens(recording=lambda: keeper), "a.txt", b"new")
    assert keeper.forgotten == 1
    assert (root / "a.txt").read_text() == "alpha\n"


def test_a_new_file_takes_the_place_of_none_that_came_meanwhile(opens, root):
    keeper = Keeper(lambda: (root / "new").write_bytes(b"theirs"))
    with pytest.raises(errors.Conflict):
        write(opens(recording=lambda: keeper), "new", b"ours")
    assert (root / "new").read_bytes() == b"theirs"


def test_a_copy_ends_with_its_call(door, root, monkeypatch):
    running, whole = call.CallContext(), os.pread

    def read(*args):
        running.cancelled.set()
        return whole(*args)

    (root / "a.txt").write_bytes(b"x" * 3_000_000)
    monkeypatch.setattr(os, "pread", read)
    with call.changed(cancelled=running.cancelled), pytest.raises(errors.Cancelled):
        door.copy("a.txt", "copy")
    assert not (root / "copy").exists()


def test_hard_links_stay_one_file(door, root):
    os.link(root / "a.txt", root / "other.txt")
    write(door, "a.txt", b"shorter" * 3)
    write(door, "a.txt", b"s")
    assert (root / "other.txt").read_bytes() == b"s"
    assert os.path.samefile(root / "a.txt", root / "other.txt")


@pytest.mark.parametrize("name", ["ftruncate", "write"])
def test_a_failed_write_in_place_puts_the_old_content_back(door, root, monkeypatch, name):
    os.link(root / "a.txt", root / "other.txt")
    real, calls = getattr(os, name), []

    def fail(*args):
        calls.append(args)
        # the first two writes are the temporary file and the recovery copy
        if len(calls) == (1 if name == "ftruncate" else 3):
            raise OSError(28, "No space left on device")
        return real(*args)

    monkeypatch.setattr(os, name, fail)
    with pytest.raises(errors.WriteFailed, match="No space"):
        write(door, "a.txt", b"much longer than before")
    assert (root / "other.txt").read_text() == "alpha\n"


def test_what_cannot_be_put_back_is_left_beside_the_file(door, root, monkeypatch):
    os.link(root / "a.txt", root / "other.txt")

    def fail(*args):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "ftruncate", fail)
    with pytest.raises(errors.WriteFailed):
        write(door, "a.txt", b"x")
    (kept,) = root.glob(f"{RECOVERY_PREFIX}*")
    assert kept.read_text() == "alpha\n"
    kept.unlink()


@pytest.fixture
def busy(monkeypatch):
    """Every rename is refused, as in a mount; a list of what is done before."""
    before = []

    def rename(*args, **kwargs):
        for work in before:
            work()
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(os, "rename", rename)
    return before


def test_a_rename_refused_by_a_mount_falls_back_to_writing_in_place(door, root, busy):
    inode = (root / "a.txt").stat().st_ino
    write(door, "a.txt", b"new")
    assert (root / "a.txt").read_bytes() == b"new"
    assert (root / "a.txt").stat().st_ino == inode


def test_writing_in_place_never_hits_a_file_swapped_in_meanwhile(door, root, busy):
    (root / "theirs").write_text("theirs")
    busy.append(lambda: (root / "theirs").replace(root / "a.txt"))
    with pytest.raises(errors.Conflict):
        write(door, "a.txt", b"mine")
    assert (root / "a.txt").read_text() == "theirs"


def test_a_write_protected_file_is_refused_even_for_root(door, root):
    (root / "a.txt").chmod(0o444)
    with pytest.raises(errors.Denied, match="write-protected"):
        write(door, "a.txt", b"x")


def test_a_file_system_for_reading_only_is_told_from_a_protected_file(door, root, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    monkeypatch.setattr(os, "fstatvfs", lambda fd: SimpleNamespace(f_flag=os.ST_RDONLY))
    with pytest.raises(errors.WriteFailed, match="Read-only file system"):
        write(door, "a.txt", b"x")


def test_an_immutable_file_is_refused(door, root):
    done = subprocess.run(["chattr", "+i", root / "a.txt"], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("chattr +i does not work here")
    try:
        with pytest.raises(errors.Denied):
            write(door, "a.txt", b"x")
    finally:
        subprocess.run(["chattr", "-i", root / "a.txt"], check=True)


def test_a_file_that_changed_since_is_not_overwritten(door, root):
    with door.lock("a.txt") as target:
        (root / "a.txt").write_text("theirs, longer")
        with pytest.raises(errors.Conflict, match="Read it again"):
            target.write(b"mine", expect=target.version)
    assert (root / "a.txt").read_text() == "theirs, longer"


def test_a_change_within_one_clock_tick_is_seen_by_its_bytes(door, root):
    (root / "a.txt").write_text("fresh\n")
    with door.lock("a.txt") as target:
        target.read()
        times = (root / "a.txt").stat()
        with open(root / "a.txt", "r+b") as file:
            file.write(b"FRESH\n")
        os.utime(root / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
        now = Signature.of((root / "a.txt").stat())
        with pytest.raises(errors.Conflict):
            target.write(b"mine", expect=now)
    assert (root / "a.txt").read_text() == "FRESH\n"


def test_a_file_that_appeared_or_vanished_meanwhile_is_a_conflict(door, root):
    with door.lock("new.txt") as target:
        (root / "new.txt").write_text("theirs")
        with pytest.raises(errors.Conflict):
            target.write(b"mine", expect=None)
    with door.lock("new.txt") as target:
        (root / "new.txt").unlink()
        with pytest.raises(errors.Conflict):
            target.write(b"mine", expect=target.version)


def test_a_file_swapped_for_a_link_under_the_lock_is_a_conflict(door, root):
    with door.lock("a.txt") as target:
        (root / "a.txt").unlink()
        (root / "a.txt").symlink_to(root.parent / "out" / "secret.txt")
        with pytest.raises(errors.Conflict):
            target.write(b"mine", expect=target.version)


def test_a_cancelled_call_leaves_the_old_content(door, root):
    running = call.CallContext()
    token = call.current.set(running)
    try:
        with door.lock("a.txt") as target:
            running.cancelled.set()
            with pytest.raises(errors.Cancelled):
                target.write(b"x", expect=target.version)
    finally:
        call.current.reset(token)
    assert (root / "a.txt").read_text() == "alpha\n"


def lock_new(door, path="new/deep/a.txt"):
    return door.lock(path, create_dirs=True)


def test_who_waited_for_a_file_in_a_new_directory_sees_what_was_written(door, root):
    seen, began = [], threading.Event()

    def second():
        began.set()
        with lock_new(door) as target:
            seen.append(target.read())
            target.write(b"second", expect=target.version)

    with lock_new(door) as target:
        waiting = threading.Thread(target=second)
        waiting.start()
        began.wait()
        target.write(b"first", expect=None)
    waiting.join()
    assert seen == [b"first"]
    assert (root / "new/deep/a.txt").read_bytes() == b"second"


def test_two_new_files_of_a_new_directory_can_be_written_at_once(door, root):
    with lock_new(door) as one, lock_new(door, "new/b.txt") as other:
        one.write(b"1", expect=None)
        other.write(b"2", expect=None)
    assert (root / "new/deep/a.txt").read_bytes() + (root / "new/b.txt").read_bytes() == b"12"


@pytest.fixture
def order(monkeypatch):
    """Which of these calls of the system were made, one after the other."""
    called = []
    for name in ("fsync", "rename", "ftruncate"):
        real = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *a, n=name, r=real, **k: (called.append(n), r(*a, **k))[1]
        )
    return called


def test_durable_syncs_the_file_before_the_rename_and_the_directory_after(opens, order):
    write(opens(durable=True), "a.txt", b"x")
    assert order == ["fsync", "rename", "fsync"]


def test_durable_syncs_what_is_saved_before_a_file_of_two_names_is_written(opens, root, order):
    os.link(root / "a.txt", root / "other")
    write(door := opens(durable=True), "a.txt", b"x")
    assert order == ["fsync", "fsync", "ftruncate", "fsync"]
    with no_new_descriptor():
        write(door, "a.txt", b"y")


@pytest.mark.parametrize("names", [1, 2])
def test_what_others_write_during_a_durable_write_is_not_taken_for_its_own(
    opens, root, monkeypatch, names
):
    if names == 2:
        os.link(root / "a.txt", root / "other")
    real = os.fsync

    def disturbed(fd):
        real(fd)
        if (root / "a.txt").read_bytes() == b"ours":
            time.sleep(0.02)  # a clock tick of the file system, so that the stamps differ
            (root / "a.txt").write_bytes(b"theirs")

    monkeypatch.setattr(os, "fsync", disturbed)
    door = opens(durable=True)
    version = write(door, "a.txt", b"ours")
    with door.open("a.txt") as file:
        assert file.read() == b"theirs"
        assert file.version != version


def test_durable_holds_in_every_directory(opens, root):
    door = opens(durable=True)
    write(door, "sub/deep/a.txt", b"x")
    door.move("sub/deep/a.txt", "sub/b2.txt")
    door.copy("sub/b2.txt", "sub/deep/b2.txt")
    assert (root / "sub" / "b2.txt").read_bytes() == (root / "sub/deep/b2.txt").read_bytes() == b"x"


def test_temps_of_dead_processes_are_swept_and_live_ones_stay(door, root):
    ended = 2**22 + 1  # a number that no process of this machine can have
    (root / f"{TEMP_PREFIX}{ended}-dead").write_text("x")
    (root / f"{TEMP_PREFIX}{ended}-tree").mkdir()
    (root / f"{TEMP_PREFIX}{ended}-tree" / "f").write_text("x")
    (root / f"{TEMP_PREFIX}{os.getpid()}-of-a-process-with-this-number-before").write_text("x")
    (root / f"{TEMP_PREFIX}odd").write_text("x")
    (root / f"{TEMP_PREFIX}{2**70}-no-number-of-a-process").write_text("x")
    alive = root / f"{TEMP_PREFIX}{os.getppid()}-alive"
    alive.write_text("x")
    folder = os.open(root, os.O_RDONLY)
    with atomic.temporary(folder) as name:
        mine = root / name
        mine.write_text("x")
        locks._swept.clear()
        write(door, "a.txt", b"x")
        assert sorted(root.glob(f"{TEMP_PREFIX}*")) == sorted([alive, mine])
    os.close(folder)
    assert not mine.exists()
    alive.unlink()


def test_a_temp_of_another_users_process_is_not_dead():
    here = os.getresuid()
    if os.geteuid() == 0:
        os.setresuid(65534, 65534, 0)
    try:
        dead = atomic.dead_temps([f"{TEMP_PREFIX}1-alive", f"{TEMP_PREFIX}{2**22 + 1}-dead"])
    finally:
        os.setresuid(*here)
    assert dead == [f"{TEMP_PREFIX}{2**22 + 1}-dead"]


def test_a_signature_is_racy_while_its_stamps_are_young():
    now = 1_700_000_000_123_456_789
    old = Signature(now - 10**9, now - 10**9, 1, 1, 1)
    assert not old.racy(now)
    assert old._replace(ctime_ns=now - 1000).racy(now)
    assert old._replace(mtime_ns=now + 10**12).racy(now)
    assert old._replace(mtime_ns=now // 10**9 * 10**9).racy(now)


def test_a_second_writer_waits_and_then_gives_up_with_a_clear_error(door):
    with (
        soon(),
        door.lock("a.txt"),
        pytest.raises(errors.TimedOut, match="locked by another"),
        door.lock("a.txt", timeout=0.2),
    ):
        pass


def test_waiting_for_a_lock_can_be_cancelled(door):
    running, seen = call.CallContext(), []

    def wait():
        call.current.set(running)
        try:
            with door.lock("a.txt"):
                seen.append("locked")
        except errors.Cancelled:
            seen.append("cancelled")

    with door.lock("a.txt"):
        thread = threading.Thread(target=wait)
        thread.start()
        running.cancelled.set()
        thread.join(PATIENCE)
    assert seen == ["cancelled"]


def test_two_files_of_a_directory_can_be_held_at_once(door):
    with door.lock("a.txt"), door.lock("c.txt"), door.lock("sub/b.txt"):
        pass


def test_a_link_and_its_target_are_one_lock(door, root):
    (root / "link").symlink_to("a.txt")
    with door.lock("link"), pytest.raises(errors.TimedOut), door.lock("a.txt", timeout=0.1):
        pass


COUNT = """
import sys
from fsagent_tools.policy import Policy
from fsagent_tools.files.local import LocalFiles
door = LocalFiles(sys.argv[1], Policy(), walk=sys.argv[3] == "True")
for _ in range(int(sys.argv[2])):
    with door.lock("count") as target:
        target.write(b"%d" % (int(target.read()) + 1), expect=target.version)
"""


def test_no_update_of_two_processes_is_lost(root, walk):
    (root / "count").write_text("0")
    runs = [
        subprocess.Popen([sys.executable, "-c", COUNT, root, "150", str(walk)]) for _ in range(2)
    ]
    assert [run.wait(10 * PATIENCE) for run in runs] == [0, 0]
    assert (root / "count").read_text() == "300"


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_think_it_holds_the_parents_lock(door):
    with door.lock("a.txt"):
        pid = os.fork()
        if not pid:
            try:
                with door.lock("a.txt", timeout=0.1):
                    os._exit(1)
            except errors.TimedOut:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    with door.lock("a.txt", timeout=0.1):
        pass
