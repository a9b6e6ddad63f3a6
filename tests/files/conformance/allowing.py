"""Conformance of guarded files: what the policy and a watcher are asked, and may prevent."""

from fsagent_tools import errors
from fsagent_tools.call import PendingChange, changed
from fsagent_tools.policy import Policy
from tests.files.conformance.made_files import TREE, MadeFiles
from tests.files.conformance.probes import announced, contents_of, put, refused


class Allows(MadeFiles):
    """What the policy and a watcher are asked, and what they may prevent."""

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

            with changed(watch=watch):
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
