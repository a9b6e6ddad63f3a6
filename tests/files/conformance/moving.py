"""Conformance of guarded files: making directories, moving, copying, removing."""

from fsagent_tools import errors
from tests.files.conformance.made_files import TREE, MadeFiles
from tests.files.conformance.probes import contents_of, put, refused


class Transfers(MadeFiles):
    """Making directories, moving, copying and removing."""

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

    def test_a_refused_transfer_leaves_everything_as_it_was(self) -> None:
        with self._files() as files:
            for verb in (files.move, files.copy):
                refused(errors.AlreadyExists, verb, "a.txt", "sub/b.txt")
                refused(errors.AlreadyExists, verb, "a.txt", "sub", True)
                refused(errors.NotADirectory, verb, "sub", "a.txt", True)
                refused(errors.InvalidArguments, verb, "sub", "sub/deep/in")
                refused(errors.InvalidArguments, verb, "a.txt", "a.txt", True)
                for beside in ("other", "sub"):
                    assert "none does not" in str(refused(errors.Missing, verb, "none", beside))
                refused(errors.Missing, verb, "a.txt", "no/where")
            refused(errors.Denied, files.move, ".", "sub/x")
            assert contents_of(files) == TREE

    def test_dots_in_a_name_are_a_name(self) -> None:
        with self._files() as files:
            for name in ("notes..", "...", "sub/x.."):
                put(files, name, b"text")
                assert contents_of(files)[name] == b"text"
                files.remove(name)

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
