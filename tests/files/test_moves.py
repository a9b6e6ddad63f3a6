import errno
import os
import tempfile

import pytest

from fsagent_tools import Policy, errors
from fsagent_tools.files import atomic


def text(path):
    return path.read_text()


def test_a_file_moves_and_nothing_is_replaced_unasked(door, root):
    assert door.move("a.txt", "sub/c.txt").destination.relative == "sub/c.txt"
    assert text(root / "sub/c.txt") == "alpha\n"
    assert not (root / "a.txt").exists()
    with pytest.raises(errors.AlreadyExists, match="overwrite"):
        door.move("sub/c.txt", "sub/b.txt")
    door.move("sub/c.txt", "sub/b.txt", overwrite=True)
    assert text(root / "sub/b.txt") == "alpha\n"


def test_a_file_that_moves_over_another_name_of_itself_keeps_that_one(door, root):
    os.link(root / "a.txt", root / "sub/c.txt")
    door.move("a.txt", "sub/c.txt", overwrite=True)
    assert not (root / "a.txt").exists()
    assert text(root / "sub/c.txt") == "alpha\n"


def test_what_took_a_name_meanwhile_moves_over_another_name_of_the_old_file(
    door, root, monkeypatch
):
    os.link(root / "a.txt", root / "sub/c.txt")

    def looked(*statuses, look=os.path.samestat):
        (root / "new").write_text("beta\n")
        os.replace(root / "new", root / "a.txt")
        return look(*statuses)

    monkeypatch.setattr(os.path, "samestat", looked)
    door.move("a.txt", "sub/c.txt", overwrite=True)
    assert not (root / "a.txt").exists()
    assert text(root / "sub/c.txt") == "beta\n"


def test_a_directory_moves_but_never_into_itself_or_over_another(door, root):
    for target in ("sub/deep/x", "sub", "sub/x"):
        with pytest.raises(errors.InvalidArguments, match="inside"):
            door.move("sub", target)
        with pytest.raises(errors.InvalidArguments):
            door.copy("sub", target)
    (root / "full").mkdir()
    with pytest.raises(errors.AlreadyExists):
        door.move("sub", "full", overwrite=True)
    door.move("sub", "moved/")
    assert text(root / "moved/b.txt") == "beta\n"


def test_moving_or_removing_a_link_leaves_what_it_names(door, root):
    (root / "link").symlink_to("sub")
    (root / "leak").symlink_to("../out")
    door.move("link", "renamed")
    door.move("leak/", "leak2")
    assert os.readlink(root / "renamed") == "sub"
    door.remove("renamed/")
    door.remove("leak2", recursive=True)
    assert sorted(os.listdir(root)) == ["a.txt", "sub"]
    assert text(root / "sub/b.txt") == "beta\n"


def test_roots_stay_where_they_are(door, root):
    (root / "here").symlink_to(".")
    for path in (".", "sub/..", str(root), "./"):
        with pytest.raises(errors.Denied, match="root"):
            door.remove(path, recursive=True)
        with pytest.raises((errors.Denied, errors.InvalidArguments)):
            door.move(path, "x")
    door.remove("here/", recursive=True)
    assert text(root / "a.txt") == "alpha\n"


def test_a_directory_is_removed_only_recursively_and_links_in_it_are_not_followed(door, root):
    (root / "sub/leak").symlink_to("../../out")
    with pytest.raises(errors.NotAFile, match="`recursive`=true"):
        door.remove("sub")
    door.remove("sub", recursive=True)
    assert os.listdir(root) == ["a.txt"]
    with pytest.raises(errors.Missing, match=r"Did you mean a\.txt"):
        door.remove("a.tx")
    with pytest.raises(errors.NotADirectory):
        door.remove("a.txt/")


def test_a_copy_keeps_content_mode_times_attributes_and_inner_links(door, root):
    os.setxattr(root / "sub/b.txt", "user.note", b"kept")
    os.utime(root / "sub/b.txt", ns=(10**18, 10**18))
    (root / "sub/b.txt").chmod(0o640)
    (root / "sub/deep").chmod(0o750)
    (root / "sub/inner").symlink_to("b.txt")
    (root / "sub/leak").symlink_to("../../out/secret.txt")
    _, done = door.copy("sub", "copy")
    assert (done.files, done.size, done.skipped) == (1, 5, ["leak"])
    copied = root / "copy/b.txt"
    assert text(copied) == "beta\n"
    assert copied.stat().st_mtime_ns == 10**18
    assert copied.stat().st_mode & 0o777 == 0o640
    assert os.getxattr(copied, "user.note") == b"kept"
    assert (root / "copy/deep").stat().st_mode & 0o777 == 0o750
    assert os.readlink(root / "copy/inner") == "b.txt"
    assert not os.path.lexists(root / "copy/leak")


def test_a_copy_of_a_link_is_its_content_and_never_from_outside(door, root):
    (root / "link").symlink_to("a.txt")
    (root / "leak").symlink_to("../out/secret.txt")
    door.copy("link", "c.txt")
    assert text(root / "c.txt") == "alpha\n"
    assert not (root / "c.txt").is_symlink()
    with pytest.raises(errors.OutsideWorkspace):
        door.copy("leak", "d.txt")
    with pytest.raises(errors.AlreadyExists):
        door.copy("a.txt", "c.txt")
    door.copy("sub/b.txt", "link", overwrite=True)
    assert text(root / "a.txt") == "alpha\n"
    assert text(root / "link") == "beta\n"


def test_a_tree_with_a_pipe_in_it_is_not_half_copied(door, root):
    os.mkfifo(root / "sub/zz")
    with pytest.raises(errors.NotAFile, match="sub/zz"):
        door.copy("sub", "copy")
    assert not (root / "copy").exists()


def test_a_tree_too_deep_for_open_descriptors_is_refused_whole(door, root):
    here = root / "d"
    for _ in range(250):
        here.mkdir()
        here = here / "d"
    with pytest.raises(errors.InvalidPath, match="directories deep"):
        door.remove("d", recursive=True)
    with pytest.raises(errors.InvalidPath):
        door.copy("d", "e")


def test_across_devices_a_move_copies_whole_and_then_removes(opens, root, monkeypatch):
    (root / "sub/leak").symlink_to("../../out/secret.txt")
    door, real, calls = opens(), atomic.rename_new, []

    def rename(old_fd, old, new_fd, new):
        calls.append(old)
        if len(calls) == 1:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return real(old_fd, old, new_fd, new)

    monkeypatch.setattr("fsagent_tools.files.atomic.rename_new", rename)
    door.move("sub", "other")
    assert text(root / "other/b.txt") == "beta\n"
    assert os.readlink(root / "other/leak") == "../../out/secret.txt"
    assert not (root / "sub").exists()


def test_between_real_devices_a_tree_moves_with_its_times(opens, root, tmp_path_factory):
    memory = "/dev/shm"
    if not os.access(memory, os.W_OK) or os.stat(memory).st_dev == root.stat().st_dev:
        pytest.skip("no second file system here")
    with tempfile.TemporaryDirectory(dir=memory) as more:
        door = opens(Policy(allowed_paths=(f"{root}/*", f"{more}", f"{more}/*")))
        os.utime(root / "sub/b.txt", ns=(10**18, 10**18))
        door.move("sub", f"{more}/sub")
        assert os.stat(f"{more}/sub/b.txt").st_mtime_ns == 10**18
        assert not (root / "sub").exists()
        door.remove(f"{more}/sub", recursive=True)
        assert os.listdir(more) == []


@pytest.fixture
def fd(root):
    opened = os.open(root, os.O_RDONLY)
    yield opened
    os.close(opened)


@pytest.fixture
def helpless(monkeypatch):
    """The kernel knows no flags of a rename."""
    monkeypatch.setattr(atomic, "_flagged_rename", lambda: None)


def test_a_rename_without_kernel_help_still_never_replaces(root, fd, helpless):
    (root / "b.txt").write_text("b")
    with pytest.raises(FileExistsError):
        atomic.rename_new(fd, "a.txt", fd, "b.txt")
    with pytest.raises(FileExistsError):
        atomic.rename_new(fd, "sub", fd, "b.txt")
    atomic.rename_new(fd, "a.txt", fd, "c.txt")
    atomic.rename_new(fd, "sub", fd, "dir")
    assert sorted(os.listdir(root)) == ["b.txt", "c.txt", "dir"]


def test_nothing_is_swapped_with_a_directory(root, fd):
    (root / "temporary").write_text("new")
    with pytest.raises(OSError, match="directory"):
        atomic.swap_in(fd, "temporary", "sub")
    assert (root / "sub").is_dir()


@pytest.mark.parametrize("helped", [True, False])
def test_a_swapped_in_file_replaces_or_creates(root, fd, helped, request):
    if not helped:
        request.getfixturevalue("helpless")
    for name in ("a.txt", "new.txt"):
        (root / "temporary").write_text("new")
        atomic.swap_in(fd, "temporary", name)
        assert (root / name).read_text() == "new"
