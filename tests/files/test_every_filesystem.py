"""What every tool relies on, whatever holds the files: this machine, memory or a host's store."""

import re
import threading
from contextlib import ExitStack, suppress
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest

from fsagent_tools import MemoryFiles, Policy, Workspace, call, errors, toolset
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.local import LocalFiles

TREE = {"a.txt": b"alpha\n", "sub/b.txt": b"beta\n", "sub/deep/c.txt": b"\xff\0gamma"}
PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "files.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
EXAMPLE = next(text for text in BLOCKS if "class Bucket(Store)" in text)
NAMES: dict[str, Any] = {}
exec(EXAMPLE.partition("\nbucket = ")[0], NAMES)
Bucket = NAMES["Bucket"]


@pytest.fixture(params=["openat2", "walk", "memory", "store of a host"])
def made(request, tmp_path):
    """`made(contents, policy)` gives files that hold exactly those."""

    def make(contents=TREE, policy=None):
        if request.param in ("openat2", "walk"):
            for path, data in contents.items():
                (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / path).write_bytes(data)
            files = LocalFiles(tmp_path, policy or Policy(), walk=request.param == "walk")
        else:
            store = MemoryFiles if request.param == "memory" else Bucket
            files = GuardedFiles(store(contents), policy or Policy())
        request.addfinalizer(files.close)
        return files

    return make


@pytest.fixture
def files(made):
    return made()


def put(files, path, data):
    with files.lock(path) as target:
        return target.write(data, expect=target.version)


def contents_of(files):
    def below(directory, prefix):
        for entry in directory.entries():
            if inner := directory.enter(entry.name):
                with inner:
                    yield from below(inner, f"{prefix}{entry.name}/")
            else:
                with directory.open(entry.name) as file:
                    yield prefix + entry.name, file.read()

    with files.directory(".") as top:
        return dict(below(top, ""))


def refused(kind, verb, *given):
    with pytest.raises(kind) as error:
        verb(*given)
    return error.value


# Reading


def test_a_file_is_read_whole_in_windows_and_from_where_one_stopped(files):
    with files.open("sub/b.txt") as file:
        assert (file.pread(2, 1), file.pread(100, 3), file.pread(5, 100)) == (b"et", b"a\n", b"")
        assert (file.read(2), file.read(), file.read()) == (b"be", b"ta\n", b"")
        assert (file.version.size, file.place.relative) == (5, "sub/b.txt")


def test_an_open_file_keeps_the_content_it_was_opened_with(files):
    with files.open("a.txt") as file:
        put(files, "a.txt", b"other and longer\n")
        assert file.pread(100, 0) == b"alpha\n"


def test_paths_are_relative_to_the_root_or_absolute(files):
    place = files.place("sub/../sub/./b.txt")
    assert place.relative == "sub/b.txt"
    assert files.place(place.absolute) == place
    assert (files.place(".").relative, files.place("sub/").relative) == (".", "sub")


@pytest.mark.parametrize("path", ["../a.txt", "sub/../../a.txt", "..", "sub/../.."])
def test_nothing_outside_the_root_is_reached(files, path):
    for verb in (files.open, files.stat, files.directory, files.make_directory):
        refused(errors.OutsideWorkspace, verb, path)
    refused(errors.OutsideWorkspace, put, files, path, b"x")
    refused(errors.OutsideWorkspace, files.copy, "a.txt", path)


@pytest.mark.parametrize(
    "path", ["", "  ", "a\0b", "\ud800", "x" * 5000, "x" * 300, "d/" * 2500], ids=ascii
)
def test_what_no_file_system_holds_is_no_path(files, path):
    refused(errors.InvalidPath, files.open, path)
    refused(errors.InvalidPath, put, files, path, b"x")


def test_a_refusal_says_what_is_there_instead(files):
    assert "sub/b.txt" in refused(errors.Missing, files.open, "sub/B.txt.").hint
    refused(errors.Missing, files.stat, "no/where")
    refused(errors.NotAFile, files.open, "sub")
    refused(errors.NotAFile, put, files, "sub", b"x")
    refused(errors.NotAFile, put, files, ".", b"x")
    refused(errors.NotADirectory, files.directory, "a.txt")
    refused(errors.NotADirectory, files.open, "a.txt/b")
    refused(errors.NotADirectory, files.place, "a.txt/")


def test_stat_tells_kinds_sizes_and_times(files):
    file, folder = files.stat("a.txt"), files.stat("sub")
    assert (file.kind, file.size, file.is_symlink) == ("file", 6, False)
    assert (folder.kind, folder.place.relative) == ("directory", "sub")
    with files.open("a.txt") as opened:
        assert opened.version.mtime_ns == file.mtime_ns > 0


def test_a_directory_lists_its_entries_and_leads_down(files):
    with files.directory("sub") as directory:
        entries = {entry.name: entry for entry in directory.entries()}
        file, folder = entries["b.txt"], entries["deep"]
        assert len(entries) == 2
        assert file.is_file(follow_symlinks=False)
        assert not file.is_dir(follow_symlinks=False)
        assert not file.is_symlink()
        assert file.stat(follow_symlinks=False).st_size == 5
        assert folder.is_dir(follow_symlinks=False)
        assert directory.enter("b.txt") is directory.enter("none") is None
        with directory.enter("deep") as inner, inner.open("c.txt") as content:
            assert content.read() == TREE["sub/deep/c.txt"]
            assert inner.place.relative == "sub/deep"
        refused(errors.Missing, directory.open, "none")
        with files.directory("sub/deep/..") as again:
            assert again.identity == directory.identity


# Writing


def test_a_file_is_replaced_only_if_it_still_is_what_was_read(files):
    with files.lock("a.txt") as target:
        first = target.version
        assert target.read() == b"alpha\n"
        second = target.write(b"new", expect=first)
        assert target.version == second != first
        for version in (first, None):
            with pytest.raises(errors.Conflict):
                target.write(b"late", expect=version)
        third = target.write(b"newer", expect=second)
    with files.open("a.txt") as file:
        assert (file.read(), file.version) == (b"newer", third)
    with files.lock("a.txt") as target:
        assert target.write(target.read(), expect=third) != third


def test_a_new_file_is_made_with_its_directories_when_asked_for(files):
    refused(errors.Missing, put, files, "new/dir/a.txt", b"x")
    refused(errors.NotADirectory, put, files, "a.txt/dir/b", b"x")
    with files.lock("new/dir/a.txt", create_dirs=True) as target:
        assert target.version is None
        refused(errors.Missing, target.read)
        target.write(b"x", expect=None)
    put(files, "plain.txt", b"")
    assert contents_of(files) == {**TREE, "new/dir/a.txt": b"x", "plain.txt": b""}


def test_of_many_writers_none_loses_an_acknowledged_write(made):
    files, trouble = made({"n": b"0"}), []

    def count():
        try:
            for _ in range(25):
                with files.lock("n") as target:
                    target.write(b"%d" % (int(target.read()) + 1), expect=target.version)
        except BaseException as error:
            trouble.append(error)
            raise

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (trouble, contents_of(files)) == ([], {"n": b"100"})


# Directories, moves, copies, removal


def test_a_directory_is_made_with_its_parents_once(files):
    place, made = files.make_directory("x/y/z")
    assert (place.relative, made) == ("x/y/z", True)
    assert files.stat("x/y/z").kind == "directory"
    assert files.make_directory("x/y/z")[1] is False
    refused(errors.AlreadyExists, files.make_directory, "a.txt")
    refused(errors.NotADirectory, files.make_directory, "a.txt/x")


def test_a_tree_moves_to_exactly_its_destination(files):
    done = files.move("sub", "moved")
    assert (done.source.relative, done.destination.relative) == ("sub", "moved")
    assert sorted(done.files) == ["b.txt", "deep/c.txt"]
    assert set(contents_of(files)) == {"a.txt", "moved/b.txt", "moved/deep/c.txt"}
    files.move("a.txt", "moved/b.txt", overwrite=True)
    assert contents_of(files)["moved/b.txt"] == b"alpha\n"


def test_a_copy_is_a_file_of_its_own(files):
    done, copied = files.copy("sub", "twin")
    assert sorted(done.files) == ["b.txt", "deep/c.txt"]
    assert (copied.files, copied.size, copied.skipped) == (2, 12, [])
    put(files, "twin/b.txt", b"changed")
    now = {**TREE, "twin/b.txt": b"changed", "twin/deep/c.txt": TREE["sub/deep/c.txt"]}
    assert contents_of(files) == now


def test_a_refused_transfer_leaves_everything_as_it_was(files):
    for verb in (files.move, files.copy):
        refused(errors.AlreadyExists, verb, "a.txt", "sub/b.txt")
        refused(errors.AlreadyExists, verb, "a.txt", "sub", True)
        refused(errors.NotADirectory, verb, "sub", "a.txt", True)
        refused(errors.InvalidArguments, verb, "sub", "sub/deep/in")
        refused(errors.InvalidArguments, verb, "a.txt", "a.txt", True)
        for near in ("other", "sub"):
            assert "none does not" in str(refused(errors.Missing, verb, "none", near))
        assert "no/where" in str(refused(errors.Missing, verb, "a.txt", "no/where"))
    refused(errors.Denied, files.move, ".", "sub/x")
    assert contents_of(files) == TREE


def test_dots_in_a_name_are_a_name(files):
    for name in ("notes..", "...", "sub/x.."):
        put(files, name, b"text")
        assert contents_of(files)[name] == b"text"
        files.remove(name)


def test_removing_takes_what_was_named(files):
    refused(errors.NotAFile, files.remove, "sub")
    refused(errors.Denied, files.remove, ".", True)
    refused(errors.Missing, files.remove, "none")
    refused(errors.NotADirectory, files.remove, "a.txt/")
    assert contents_of(files) == TREE
    assert files.remove("a.txt").files == ("",)
    assert sorted(files.remove("sub", True).files) == ["b.txt", "deep/c.txt"]
    assert contents_of(files) == {}


class Meanwhile:
    """Does something once, when a call that waits asks whether it was cancelled."""

    def __init__(self, do):
        self.do = do

    def is_set(self):
        do, self.do = self.do, None
        if do:
            do()
        return False


def test_a_directory_that_took_the_place_of_a_file_meanwhile_is_not_removed_with_it(files):
    held, other = ExitStack(), copy_context()  # of another call than the one that waits
    other.run(held.enter_context, files.lock("a.txt"))

    def replace():
        other.run(held.close)
        files.remove("a.txt")
        with files.lock("a.txt/b", create_dirs=True) as inner:
            inner.write(b"new", expect=None)

    try:
        with (
            call.changed(cancelled=Meanwhile(replace)),
            pytest.raises(errors.NotAFile, match="recursive"),
        ):
            files.remove("a.txt")
    finally:
        other.run(held.close)
    assert contents_of(files)["a.txt/b"] == b"new"


# The policy, and who is asked


def test_the_policy_is_asked_about_every_object(made):
    files = made(policy=Policy(denied_paths=("sub/deep",)))
    refused(errors.PathDenied, files.open, "sub/deep/c.txt")
    refused(errors.PathDenied, files.directory, "sub/deep")
    for verb in (files.move, files.copy):
        refused(errors.PathDenied, verb, "sub", "elsewhere")
    refused(errors.PathDenied, files.remove, "sub", True)
    refused(errors.PathDenied, files.copy, "a.txt", "sub/deep/c.txt", True)
    assert contents_of(files.under(Policy())) == TREE
    refused(errors.PathDenied, files.under(Policy(denied_paths=("a.txt",))).open, "a.txt")


def test_a_directory_on_the_way_to_what_is_allowed_is_listed(made):
    files = made(policy=Policy(allowed_paths=("sub/deep/**",)))
    for path in (".", "sub", "sub/deep"):
        files.directory(path).close()
    for path in ("a.txt", "sub/b.txt"):
        refused(errors.PathDenied, files.open, path)
    closed = files.under(Policy(allowed_paths=("sub/deep/**",), denied_paths=("sub",)))
    refused(errors.PathDenied, closed.directory, "sub/deep")


def test_a_readonly_policy_lets_nothing_change(made):
    files = made(policy=Policy(readonly=True))
    refused(errors.ReadOnly, put, files, "a.txt", b"x")
    refused(errors.ReadOnly, files.make_directory, "x")
    refused(errors.ReadOnly, files.copy, "a.txt", "x")
    refused(errors.ReadOnly, files.move, "a.txt", "x")
    refused(errors.ReadOnly, files.remove, "a.txt")
    assert contents_of(files) == TREE


def test_a_file_above_the_limit_is_neither_read_written_nor_copied(made):
    files = made(policy=Policy(max_file_size=5))
    refused(errors.TooLarge, files.open, "a.txt")
    refused(errors.TooLarge, put, files, "sub/b.txt", b"123456")
    refused(errors.TooLarge, files.copy, "a.txt", "x")
    refused(errors.TooLarge, files.copy, "sub", "x")
    assert contents_of(files.under(Policy())) == TREE


def test_a_watcher_is_told_before_anything_happens_and_may_prevent_it(files):
    told = []

    def watch(change):
        told.append(change)
        raise errors.ApprovalDenied("no")

    with call.changed(watch=watch):
        refused(errors.ApprovalDenied, put, files, "a.txt", b"new")
        refused(errors.ApprovalDenied, files.make_directory, "x")
        for verb in (files.move, files.copy):
            refused(errors.ApprovalDenied, verb, "sub", "x")
        refused(errors.ApprovalDenied, files.remove, "sub", True)
    assert [change.verb for change in told] == ["write", "mkdir", "move", "copy", "remove"]
    assert (told[0].before, told[0].after) == (b"alpha\n", b"new")
    assert told[2].paths == ("sub", "x")
    assert set(told[4].members) == {"b.txt", "deep", "deep/c.txt"}
    assert contents_of(files) == TREE


def test_an_announcement_is_the_same_until_something_changes(files):
    told = []

    def watch(change):
        told.append(change.state)
        raise errors.ApprovalDenied("no")

    def announced():
        with call.changed(watch=watch), suppress(errors.ApprovalDenied):
            files.remove("sub", True)
        return told[-1]

    assert announced() == announced()
    put(files, "sub/b.txt", b"other")
    assert told[0] != announced()


# A store of a host's own


def test_the_example_is_short():
    start, end = EXAMPLE.index("class Bucket"), EXAMPLE.index("\nbucket = ")
    assert len(EXAMPLE[start:end].strip().splitlines()) <= 60


CALLS = {
    "write": {"path": "new.txt", "content": "2"},
    "mkdir": {"path": "new"},
    "rm": {"path": "sub", "recursive": True},
    "mv": {"source": "sub", "destination": "y"},
    "cp": {"source": "sub", "destination": "y"},
}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"policy": Policy(readonly=True)}, "READONLY"),
        ({"policy": Policy(denied_paths=["**"])}, "PATH_DENIED"),
        ({"policy": Policy(write_denied=["new*", "sub/**", "y"])}, "PATH_DENIED"),
        ({"approve": lambda request: None}, "APPROVAL_DENIED"),
    ],
)
def test_tools_are_guarded_whatever_store_they_work_on(options, code):
    bucket = Bucket(TREE)
    before = dict(bucket.objects)
    tools = toolset("filesystem").bind(Workspace(files=bucket, **options))
    for name, arguments in CALLS.items():
        assert tools[name].call(arguments).code == code, name
    assert bucket.objects == before


class Forgetful(Bucket):
    """Writes over everything."""

    def put(self, path, data, expect):
        self.objects.pop(path, None)
        return super().put(path, data, None)


def test_a_store_that_forgets_to_compare_still_loses_no_change_that_came_before_the_write():
    store = Forgetful({"a.py": b"x = 1\n"})
    with Workspace(files=store).files.lock("a.py") as target:
        store.put("a.py", b"theirs\n", None)
        refused(errors.Conflict, lambda: target.write(b"mine\n", expect=target.version))
    assert store.objects["a.py"][0] == b"theirs\n"


def test_what_is_no_store_is_refused():
    with pytest.raises(errors.ConfigInvalid, match="Store"):
        Workspace(files={"a.py": "x"})
