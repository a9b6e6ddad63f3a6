"""The guard around wherever files are: which paths are meant, whether they are allowed, and the
words for what is not.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Self

from fsagent_tools import call, errors
from fsagent_tools.effects import Effect
from fsagent_tools.files import refusals
from fsagent_tools.files.guarded_file import ENDLESS, SNIFFED, Directory, ReadableFile
from fsagent_tools.files.nearby import not_there
from fsagent_tools.files.port import (
    COMPARED,
    TIMEOUT,
    EntryFacts,
    FileSource,
    Handle,
    Making,
    Place,
    Status,
    Version,
)
from fsagent_tools.policy import Policy
from fsagent_tools.policy.paths import run_by_others
from fsagent_tools.policy.protected import GIT

_PLAIN = re.compile(r"[\w./][\w./ -]{0,200}", re.ASCII).fullmatch  # any file system has such paths
_BARE, _SETTINGS = {"head", "objects", "refs"}, {"config", "config.worktree", "hooks"}


class LockedFile:
    """An existing or future regular file under its lock; `version` is None where there is none."""

    def __init__(self, found: Handle, policy: Policy, making: Making = nullcontext) -> None:
        """`found` stays the caller's. making: is around a write, and may refuse it.

        Raises a `ToolError`.
        """
        self.place, self._found, self._policy, self._making = found.place, found, policy, making
        self._seen: bytes | None = None
        self.version = self._current()
        if self.version:
            policy.check_size(self.place.told, self.version.size)

    def read(self, check: Callable[[bytes, str, int], None] | None = None) -> bytes:
        """The whole content under the lock. Raises `Missing`, `ReadFailed`, `TooLarge`.

        check: may refuse the file by its first bytes, name and size, before all are read.
        """
        told = self.place.told
        try:
            with closing(self._found.open()) as content:
                size = content.version.size
                self._policy.check_size(told, size)
                if check and size > SNIFFED:
                    check(content.pread(SNIFFED, 0), told, size)
                self._policy.check_whole(told, size)
                self._seen = content.pread(size or ENDLESS, 0)
        except FileNotFoundError:
            name = refusals.shown(self.place.told)
            raise errors.Missing(f"{name} does not exist yet.") from None
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None
        return self._seen

    def write(self, data: bytes, *, expect: Version | None) -> Version:
        """Replace the whole content if it still is `expect`, None for no file.

        Compared right before the content becomes visible. `call.current` may hold a watcher: it is
        told of the change before anything happens. Raises `Conflict`, `Denied`, `TooLarge`,
        `WriteFailed`, `Cancelled`; the old content is then whole.
        """
        told = self.place.told
        try:
            self._require(expect)
            self.check_writable(len(data))
            if watch := call.current.get().watch:
                watch(self._pending(data, expect))
                self._require(expect)  # whoever was asked took his time
            call.current.get().check()
            with self._making(self._found):
                self.version = self._found.put(data, expect, self._seen)
        except FileExistsError:
            raise refusals.changed_meanwhile(told) from None
        except OSError as error:
            raise refusals.refusal(error, told, writing=True) from None
        self._seen = None
        return self.version

    def check_writable(self, size: int) -> None:
        """Raise unless a file of that size may be there, and one there lets itself be replaced."""
        self._policy.check_size(self.place.told, size)
        if self.version and not self._found.writable():
            raise refusals.write_protected(self.place.told)

    def _pending(self, data: bytes, now: Version | None) -> call.PendingChange:
        paths = (self.place.told,)
        if now is None or now.size <= COMPARED:
            before = self.read() if now else None
            return call.PendingChange("write", paths, before, data)
        return call.PendingChange("write", paths, None, data, replaces=True, state=str(now))

    def _require(self, expect: Version | None) -> None:
        try:
            now = self._current()
        except errors.NotAFile:
            raise refusals.changed_meanwhile(self.place.told) from None
        if now != expect:
            raise refusals.changed_meanwhile(self.place.told)

    def _current(self) -> Version | None:
        try:
            entry = self._found.entry()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None
        if entry.kind != "file":
            raise refusals.not_a_file(self.place.told, entry.kind)
        return entry.version


class FileGuard:
    """A file system beneath one root, used by one policy. Every verb raises a `ToolError`.

    Paths are relative to the root or absolute; nothing outside is reached, whatever links say.
    A refusal leaves everything as it was. Constructing one does no IO.

    local_root: the root as a directory of this machine, None if the files are elsewhere.
    virtual: an absolute path begins at the root, whose own and further roots' real paths are taken
    as such, too; places are told so.
    """

    local_root: Path | None = None

    def __init__(self, store: FileSource, policy: Policy, *, virtual: bool = False) -> None:
        self.store, self.policy, self.virtual = store, policy, virtual

    def under(self, policy: Policy, *, virtual: bool = False) -> Self:
        """The same files, used by another policy and by such paths."""
        return type(self)(self.store, policy, virtual=virtual)

    def place(self, path: str) -> Place:
        """Where an existing object really is, links resolved."""
        with self._at(path, Effect.READ) as found:
            self._entry(path, found)
            return found.place

    def stat(self, path: str) -> Status:
        """Status of the entry itself, also of a link."""
        with self._at(path, Effect.READ, follow=False) as found:
            self._entry(path, found)
            return found.status(self._kind_of)

    def open(self, path: str, effect: Effect = Effect.READ) -> ReadableFile:
        """Open a regular file for reading."""
        opened = self._opened(path, effect, folder=False)
        return ReadableFile(*opened, self.policy, partial(self.open, path, effect))

    def directory(self, path: str) -> Directory:
        """Open a directory for listing; it may be on the way to what is allowed."""
        return Directory(*self._opened(path, None, folder=True), self.policy)

    @contextmanager
    def lock(
        self, path: str, *, create_dirs: bool = False, timeout: float = TIMEOUT
    ) -> Iterator[LockedFile]:
        """Keep other writers off the file at `path`, existing or not, and write it.

        create_dirs: make missing parent directories. timeout: seconds to wait for other writers.
        """
        with call.one_step(), self._at(path, Effect.WRITE) as found:
            if found.slash or not found.missing:
                raise refusals.not_a_file(path, "directory")
            if len(found.missing) > 1 and not create_dirs:
                raise self._missing(path, found, made=True)
            found.make_parents(self._making)
            with self.store.hold([found], path, timeout):
                self._check_repository(found)  # others may have made the rest of one
                yield LockedFile(found, self.policy, self._making)

    def close(self) -> None:
        """Give up open handles; the files may be used again."""
        self.store.close()

    def _opened(self, path: str, effect: Effect | None, *, folder: bool) -> tuple[Any, Place]:
        """An open file or directory that the policy allows, and its place."""
        if not _PLAIN(path):
            refusals.check_spelling(path)
        opened = self.store.at_once(path, folder=folder, virtual=self.virtual)
        if opened is None:
            with self._at(path, effect) as found:
                return found.folder() if folder else found.open(), found.place
        try:
            place = self._place(path, opened[1])
            self._allow(place, effect)
        except BaseException:
            opened[0].close()
            raise
        return opened[0], place

    @contextmanager
    def _at(self, path: str, effect: Effect | None, *, follow: bool = True) -> Iterator[Handle]:
        """What a path leads to, allowed for `effect`, None for a listing.

        Errors of the system inside the block become refusals that name `path`.
        """
        found: Handle | None = None
        try:
            found = self._find(path, follow=follow)
            found.place = self._place(path, found.real)
            self._allow(found.place, effect)
            if effect is Effect.WRITE and "\\" in path:
                self._check_separators(path, found)
            yield found
        except FileNotFoundError as error:
            if found is None:
                raise refusals.refusal(error, path) from None
            raise self._missing(path, found) from None
        except OSError as error:
            writing = effect not in (Effect.READ, None)
            raise refusals.refusal(error, path, writing=writing) from None
        finally:
            if found is not None:
                found.close()

    @contextmanager
    def _making(self, found: Handle) -> Iterator[None]:
        """What is made inside completes no bare repository with what others make meanwhile."""
        if not self._check_repository(found):
            yield
            return
        with self.store.hold_folder(found, found.place.told, TIMEOUT):
            self._check_repository(found)
            yield

    def _check_repository(self, found: Handle) -> bool:
        """Refuse what git would run of a directory that it takes for a bare repository.

        Whether it may be a part of one.
        """
        folder = found.above.rpartition("/")[2].lower()
        name = found.missing[0].lower() if found.missing else ""
        if folder == "hooks":
            with closing(self._find(found.above, follow=False)) as above:
                names = {folder, *map(str.lower, above.beside())}
        elif name in _BARE | _SETTINGS:
            names = {name, *map(str.lower, found.beside())}
        else:
            return False
        if names >= _BARE and names & _SETTINGS and {*GIT} & {*self.policy.write_denied}:
            raise run_by_others(found.place.told)
        return True

    def _find(self, path: str, *, follow: bool) -> Handle:
        if not _PLAIN(path):
            refusals.check_spelling(path)
        try:
            return self.store.find(path, follow=follow, virtual=self.virtual)
        except errors.OutsideWorkspace:
            inside = path.lstrip("/") or "."
            if path.startswith("/") and self._kind_of(inside):  # for some models "/" is the root
                raise refusals.outside(path, inside) from None
            raise

    def _check_separators(self, path: str, found: Handle) -> None:
        """Refuse a new name that has a directory before a backslash: Windows has paths so."""
        if self._kind_of(path.partition("\\")[0]) != "directory":
            return
        try:
            found.entry()
        except FileNotFoundError:
            raise refusals.needs_slashes(path) from None

    def is_there(self, path: str) -> bool:
        """Whether a path leads to what may be read."""
        return self._kind_of(path) is not None

    def _kind_of(self, path: str) -> str | None:
        """Of what a path leads to and may be read; None for nothing."""
        try:
            with self._at(path, Effect.READ) as found:
                return self._entry(path, found).kind
        except errors.ToolError:
            return None

    def _place(self, path: str, real: str) -> Place:
        if (relative := self.store.relative(real)) is None:
            raise refusals.outside(path)
        if not self.virtual or relative.startswith("/"):
            return Place(relative, real, relative, real)
        told = "/" if relative == "." else f"/{relative}"
        return Place(relative, real, told, told)

    def _allow(self, place: Place, effect: Effect | None) -> None:
        if effect is None:
            self.policy.check_listing(place.relative, place.absolute, told=place.told)
        else:
            self.policy.check_path(place.relative, place.absolute, effect, told=place.told)

    def _entry(self, path: str, found: Handle) -> EntryFacts:
        """What is there, as `path` calls it."""
        entry = found.entry()
        if (found.slash or path.endswith("/")) and entry.kind not in ("directory", "link"):
            raise refusals.not_a_directory(path)
        return entry

    def _missing(self, path: str, found: Handle, *, made: bool = False) -> errors.ToolError:
        """made: something was to be made there."""
        return not_there(self, path, found, self._place(path, found.above), made=made)

    def shows(self, place: Place) -> bool:
        """Whether a model may know of it."""
        try:
            self._allow(place, Effect.READ)
        except errors.Denied:
            return False
        return True
