"""What a file is while another takes its place: who may read it, and what is told of a failure."""

import errno
import os
import stat

import pytest

from fsagent_tools.call import CallContext, current
from fsagent_tools.errors import Cancelled
from fsagent_tools.files import replace
from fsagent_tools.files.keeping import EntrySlot
from fsagent_tools.files.port import Place
from fsagent_tools.files.replace import AtomicWrite, copy_metadata, sync_directory
from tests.conftest import no_new_descriptor


def mode_of(file):
    status = os.fstat(file) if isinstance(file, int) else file.stat()
    return stat.S_IMODE(status.st_mode)


@pytest.fixture
def before(monkeypatch):
    """`before(name)`: the modes of what the function of that name is about to fill."""

    def watched(name):
        whole, seen = getattr(replace, name), []

        def noted(source, target, *more):
            seen.append(mode_of(target))
            return whole(source, target, *more)

        monkeypatch.setattr(replace, name, noted)
        return seen

    return watched


def slot(fd, name):
    return EntrySlot(fd, name, Place(name, f"/{name}", name, f"/{name}"))


@pytest.fixture
def swap(root):
    """`swap(path, data, **options)` writes over a file in the root."""
    opened = [os.open(root, os.O_RDONLY | os.O_DIRECTORY)]

    def run(path, data, **options):
        opened.append(os.open(root / path, os.O_RDONLY))
        writing = AtomicWrite(slot(opened[0], path), opened[-1], durable=False, **options)
        return writing.write(data, lambda: None)

    yield run
    for fd in opened:
        os.close(fd)


def test_content_that_replaces_a_private_file_is_private_from_the_start(root, swap, before):
    modes = before("copy_metadata")
    (root / "a.txt").chmod(0o600)
    assert swap("a.txt", b"new").st_size == 3
    assert (modes, mode_of(root / "a.txt")) == ([0o600], 0o600)


def test_what_is_saved_of_a_file_with_two_names_is_private(root, swap, before):
    modes = before("pour")
    os.link(root / "a.txt", root / "other")
    swap("a.txt", b"new")
    assert modes == [0o600]
    assert (root / "other").read_bytes() == b"new"


def test_a_file_that_stays_with_who_writes_lends_no_rights(root, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EPERM, "not yours")

    monkeypatch.setattr(os, "fchown", refused)
    (root / "a.txt").chmod(0o6755)
    known = [*(root / "a.txt").stat()]
    known[stat.ST_UID] += 1
    with open(root / "a.txt") as old, open(root / "new", "w") as new:
        copy_metadata(old.fileno(), new.fileno(), os.stat_result(known))
    assert mode_of(root / "new") == 0o755


def test_a_directory_that_is_synced_leaves_no_descriptor(root):
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    with no_new_descriptor():
        sync_directory(fd)
    os.close(fd)


def test_a_write_that_fails_is_raised_and_forgotten_by_who_keeps(root, swap, monkeypatch):
    def refused(*_, **__):
        raise OSError(errno.EIO, "broken")

    class Keeping:
        def overwrites(self, *_, **__):
            return lambda: forgotten.append(True)

    forgotten, content = [], (root / "a.txt").read_bytes()
    monkeypatch.setattr(os, "rename", refused)
    with pytest.raises(OSError, match="broken"):
        swap("a.txt", b"new", recorder=Keeping())
    assert forgotten == [True]
    assert (root / "a.txt").read_bytes() == content


def test_a_new_file_takes_the_place_of_none_that_came_meanwhile(root):
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    writing = AtomicWrite(slot(fd, "new"), None, durable=False)
    with pytest.raises(FileExistsError):
        writing.write(b"ours", lambda: (root / "new").write_bytes(b"theirs"))
    os.close(fd)
    assert (root / "new").read_bytes() == b"theirs"


def test_a_copy_ends_with_its_call(root):
    token = current.set(CallContext())
    current.get().cancelled.set()
    try:
        with (
            open(root / "a.txt") as source,
            open(root / "copy", "w") as copy,
            pytest.raises(Cancelled),
        ):
            replace.pour(source.fileno(), copy.fileno())
    finally:
        current.reset(token)
    assert (root / "copy").read_bytes() == b""
