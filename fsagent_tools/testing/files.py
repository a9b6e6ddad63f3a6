"""What every implementation of the `Files` port has to do, as checks that any of them can run.

With pytest: `class TestMine(FilesConformance)` with a method `make`. Without: `Mine().run()`.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from fsagent_tools import errors
from fsagent_tools.call import PendingChange
from fsagent_tools.files.port import Files
from fsagent_tools.policy import Policy
from fsagent_tools.testing.probes import announced, contents_of, put, refused, watching

TREE = {"a.txt": b"alpha\n", "sub/b.txt": b"beta\n", "sub/deep/c.txt": b"\xff\0gamma"}
_WRITERS, _TURNS = 4, 25


class FilesConformance(ABC):
    """Checks that begin with `test_`; each asks `make` for files of its own."""

    @abstractmethod
    def make(self, contents: Mapping[str, bytes], policy: Policy) -> Files:
        """Files that hold exactly `contents` (path -> bytes), used by `policy`."""

    def run(self) -> list[str]:
        """Run all checks and return their names; the first that fails raises."""
        names = [name for name in dir(self) if name.startswith("test_")]
        for name in names:
            getattr(self, name)()
        return names

    def test_a_file_is_read_whole_in_windows_and_from_where_one_stopped(self) -> None:
        with self._files() as files, files.open("sub/b.txt") as file:
            assert file.pread(2, 1) == b"et"
            assert file.pread(100, 3) == b"a\n"
            assert file.pread(5, 100) == b""
            assert (file.read(2), file.read(), file.read()) == (b"be", b"ta\n", b"")
            assert file.version.size == 5
            assert file.place.relative == "sub/b.txt"

    def test_an_open_file_keeps_the_content_it_was_opened_with(self) -> None:
        with self._files() as files, files.open("a.txt") as file:
            put(files, "a.txt", b"other and longer\n")
            assert file.pread(100, 0) == b"alpha\n"

    def test_paths_are_relative_to_the_root_or_absolute(self) -> None:
        with self._files() as files:
            place = files.place("sub/../sub/./b.txt")
            assert place.relative == "sub/b.txt"
            assert files.place(place.absolute) == place
            assert files.place(".").relative == "."
            assert files.place("sub/").relative == "sub"

    def test_nothing_outside_the_root_is_reached(self) -> None:
        with self._files() as files:
            for path in ("../a.txt", "sub/../../a.txt", "..", "sub/../.."):
                for verb in (files.open, files.stat, files.directory, files.make_directory):
                    refused(errors.OutsideWorkspace, verb, path)
                refused(errors.OutsideWorkspace, put, files, path, b"x")
                refused(errors.OutsideWorkspace, files.copy, "a.txt", path)

    def test_what_no_file_system_holds_is_no_path(self) -> None:
        with self._files() as files:
            for path in ("", "  ", "a\0b", "\ud800", "x" * 5000, "x" * 300):
                refused(errors.InvalidPath, files.open, path)
                refused(errors.InvalidPath, put, files, path, b"x")

    def test_a_refusal_says_what_is_there_instead(self) -> None:
        with self._files() as files:
            missing = refused(errors.Missing, files.open, "sub/B.txt.")
            assert "sub/b.txt" in missing.hint
            refused(errors.Missing, files.stat, "no/where")
            refused(errors.NotAFile, files.open, "sub")
            refused(errors.NotAFile, put, files, "sub", b"x")
            refused(errors.NotAFile, put, files, ".", b"x")
            refused(errors.NotADirectory, files.directory, "a.txt")
            refused(errors.NotADirectory, files.open, "a.txt/b")
            refused(errors.NotADirectory, files.place, "a.txt/")

    def test_a_file_is_replaced_only_if_it_still_is_what_was_read(self) -> None:
        with self._files() as files:
            with files.lock("a.txt") as target:
                first = target.version
                assert target.read() == b"alpha\n"
                second = target.write(b"new", expect=first)
                assert second != first
                assert target.version == second
                refused(errors.Conflict, target.write, b"late", expect=first)
                refused(errors.Conflict, target.write, b"late", expect=None)
                third = target.write(b"newer", expect=second)
            with files.open("a.txt") as file:
                assert (file.read(), file.version) == (b"newer", third)

    def test_equal_content_written_again_has_another_version(self) -> None:
        with self._files() as files, files.lock("a.txt") as target:
            first = target.version
            assert first is not None
            assert target.write(target.read(), expect=first) != first

    def test_a_new_file_is_made_with_its_directories_when_asked_for(self) -> None:
        with self._files() as files:
            refused(errors.Missing, put, files, "new/dir/a.txt", b"x")
            refused(errors.NotADirectory, put, files, "a.txt/dir/b", b"x")
            with files.lock("new/dir/a.txt", create_dirs=True) as target:
                assert target.version is None
                refused(errors.Missing, target.read)
                target.write(b"x", expect=None)
            assert contents_of(files)["new/dir/a.txt"] == b"x"
            with files.lock("plain.txt") as target:
                target.write(b"", expect=None)
            assert files.stat("plain.txt").size == 0

    def test_of_many_writers_none_loses_an_acknowledged_write(self) -> None:
        with self._files({"n": b"0"}) as files:
            trouble: list[BaseException] = []

            def count() -> None:
                try:
                    for _ in range(_TURNS):
                        with files.lock("n") as target:
                            data = b"%d" % (int(target.read()) + 1)
                            target.write(data, expect=target.version)
                except BaseException as error:
                    trouble.append(error)
                    raise

            threads = [threading.Thread(target=count) for _ in range(_WRITERS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not trouble
            assert contents_of(files) == {"n": b"%d" % (_WRITERS * _TURNS)}

    def test_stat_tells_kinds_sizes_and_times(self) -> None:
        with self._files() as files:
            file, folder = files.stat("a.txt"), files.stat("sub")
            assert (file.kind, file.size, file.is_symlink) == ("file", 6, False)
            assert (folder.kind, folder.place.relative) == ("directory", "sub")
            assert file.mtime_ns > 0
            with files.open("a.txt") as opened:
                assert opened.version.mtime_ns == file.mtime_ns

    def test_a_directory_lists_its_entries_and_leads_down(self) -> None:
        with self._files() as files, files.directory("sub") as directory:
            entries = {entry.name: entry for entry in directory.entries()}
            assert set(entries) == {"b.txt", "deep"}
            assert entries["b.txt"].is_file(follow_symlinks=False)
            assert not entries["b.txt"].is_dir(follow_symlinks=False)
            assert not entries["b.txt"].is_symlink()
            assert entries["b.txt"].stat(follow_symlinks=False).st_size == 5
            assert entries["deep"].is_dir(follow_symlinks=False)
            assert directory.enter("b.txt") is None
            assert directory.enter("none") is None
            inner = directory.enter("deep")
            assert inner is not None
            with inner, inner.open("c.txt") as file:
                assert file.read() == TREE["sub/deep/c.txt"]
                assert inner.place.relative == "sub/deep"
            refused(errors.Missing, directory.open, "none")
            with files.directory("sub/deep/..") as again:
                assert again.identity == directory.identity

    def test_a_directory_is_made_with_its_parents_once(self) -> None:
        with self._files() as files:
            place, made = files.make_directory("x/y/z")
            assert (place.relative, made) == ("x/y/z", True)
            assert files.stat("x/y/z").kind == "directory"
            assert files.make_directory("x/y/z")[1] is False
            refused(errors.AlreadyExists, files.make_directory, "a.txt")
            refused(errors.NotADirectory, files.make_directory, "a.txt/x")

    def test_a_tree_moves_to_exactly_its_destination(self) -> None:
        with self._files() as files:
            done = files.move("sub", "moved")
            assert (done.source.relative, done.destination.relative) == ("sub", "moved")
            assert sorted(done.files) == ["b.txt", "deep/c.txt"]
            assert set(contents_of(files)) == {"a.txt", "moved/b.txt", "moved/deep/c.txt"}
            files.move("a.txt", "moved/b.txt", overwrite=True)
            assert contents_of(files)["moved/b.txt"] == b"alpha\n"

    def test_a_copy_is_a_file_of_its_own(self) -> None:
        with self._files() as files:
            done, copied = files.copy("sub", "twin")
            assert sorted(done.files) == ["b.txt", "deep/c.txt"]
            assert (copied.files, copied.size, copied.skipped) == (2, 12, [])
            put(files, "twin/b.txt", b"changed")
            assert contents_of(files)["sub/b.txt"] == b"beta\n"
            assert contents_of(files)["twin/deep/c.txt"] == TREE["sub/deep/c.txt"]

    def test_arefused_transfer_leaves_everything_as_it_was(self) -> None:
        with self._files() as files:
            for verb in (files.move, files.copy):
                refused(errors.AlreadyExists, verb, "a.txt", "sub/b.txt")
                refused(errors.AlreadyExists, verb, "a.txt", "sub", True)
                refused(errors.NotADirectory, verb, "sub", "a.txt", True)
                refused(errors.InvalidArguments, verb, "sub", "sub/deep/in")
                refused(errors.InvalidArguments, verb, "a.txt", "a.txt", True)
                refused(errors.Missing, verb, "none", "other")
                refused(errors.Missing, verb, "a.txt", "no/where")
            refused(errors.Denied, files.move, ".", "sub/x")
            assert contents_of(files) == TREE

    def test_removing_takes_what_was_named(self) -> None:
        with self._files() as files:
            refused(errors.NotAFile, files.remove, "sub")
            refused(errors.Denied, files.remove, ".", True)
            refused(errors.Missing, files.remove, "none")
            refused(errors.NotADirectory, files.remove, "a.txt/")
            assert contents_of(files) == TREE
            assert files.remove("a.txt").files == ("",)
            assert sorted(files.remove("sub", True).files) == ["b.txt", "deep/c.txt"]
            assert contents_of(files) == {}

    def test_the_policy_is_asked_about_every_object(self) -> None:
        closed = Policy(denied_paths=("sub/deep",))
        with self._files(policy=closed) as files:
            refused(errors.PathDenied, files.open, "sub/deep/c.txt")
            refused(errors.PathDenied, files.directory, "sub/deep")
            for verb in (files.move, files.copy):
                refused(errors.PathDenied, verb, "sub", "elsewhere")
            refused(errors.PathDenied, files.remove, "sub", True)
            free = files.under(Policy())
            assert contents_of(free) == TREE
            both = files.under(Policy(denied_paths=("a.txt",), max_file_size=1))
            refused(errors.PathDenied, both.open, "a.txt")
            free.close()

    def test_a_directory_on_the_way_to_what_is_allowed_is_listed(self) -> None:
        with self._files(policy=Policy(allowed_paths=("sub/deep/**",))) as files:
            for path in (".", "sub", "sub/deep"):
                files.directory(path).close()
            for path in ("a.txt", "sub/b.txt"):
                refused(errors.PathDenied, files.open, path)
            closed = files.under(Policy(allowed_paths=("sub/deep/**",), denied_paths=("sub",)))
            refused(errors.PathDenied, closed.directory, "sub/deep")
            closed.close()

    def test_a_readonly_policy_lets_nothing_change(self) -> None:
        with self._files(policy=Policy(readonly=True)) as files:
            refused(errors.ReadOnly, put, files, "a.txt", b"x")
            refused(errors.ReadOnly, files.make_directory, "x")
            refused(errors.ReadOnly, files.copy, "a.txt", "x")
            refused(errors.ReadOnly, files.move, "a.txt", "x")
            refused(errors.ReadOnly, files.remove, "a.txt")
            assert contents_of(files) == TREE

    def test_a_file_above_the_limit_is_neither_read_nor_written(self) -> None:
        with self._files(policy=Policy(max_file_size=5)) as files:
            refused(errors.TooLarge, files.open, "a.txt")
            refused(errors.TooLarge, put, files, "sub/b.txt", b"123456")
            refused(errors.TooLarge, files.copy, "a.txt", "x")
            assert contents_of(files.under(Policy())) == TREE

    def test_a_watcher_is_told_before_anything_happens_and_may_prevent_it(self) -> None:
        with self._files() as files:
            told: list[PendingChange] = []

            def watch(change: PendingChange) -> None:
                told.append(change)
                raise errors.ApprovalDenied("no")

            with watching(watch):
                for verb in (
                    lambda: put(files, "a.txt", b"new"),
                    lambda: files.make_directory("x"),
                    lambda: files.move("sub", "x"),
                    lambda: files.copy("sub", "x"),
                    lambda: files.remove("sub", True),
                ):
                    refused(errors.ApprovalDenied, verb)
            assert [change.verb for change in told] == ["write", "mkdir", "move", "copy", "remove"]
            assert (told[0].before, told[0].after) == (b"alpha\n", b"new")
            assert told[2].paths == ("sub", "x")
            assert set(told[4].members) == {"b.txt", "deep", "deep/c.txt"}
            assert contents_of(files) == TREE

    def test_an_announcement_is_the_same_until_something_changes(self) -> None:
        with self._files() as files:
            first, second = announced(files), announced(files)
            assert first == second
            put(files, "sub/b.txt", b"other")
            assert announced(files) != first

    @contextmanager
    def _files(
        self, contents: Mapping[str, bytes] | None = None, policy: Policy | None = None
    ) -> Iterator[Files]:
        files = self.make(TREE if contents is None else contents, policy or Policy())
        try:
            yield files
        finally:
            files.close()
