"""Conformance of guarded files: opening, windows, paths and listings."""

from fsagent_tools import errors
from tests.files.conformance.made_files import TREE, MadeFiles
from tests.files.conformance.probes import put, refused


class Reads(MadeFiles):
    """Opening, windows, paths and listings."""

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
