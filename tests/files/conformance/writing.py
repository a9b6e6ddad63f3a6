"""Conformance of guarded files: replacing, creating, many writers at once."""

import threading

from fsagent_tools import errors
from tests.files.conformance.made_files import MadeFiles
from tests.files.conformance.probes import contents_of, put, refused

_WRITERS, _TURNS = 4, 25


class Writes(MadeFiles):
    """Replacing, creating, and many writers."""

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
