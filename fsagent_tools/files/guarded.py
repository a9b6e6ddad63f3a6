"""The guard around wherever files are: which paths are meant, whether they are allowed, and the
words for what is not.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

from fsagent_tools import call, errors
from fsagent_tools.effects import Effect
from fsagent_tools.files import errors as refusals
from fsagent_tools.files.base import (
    ENDLESS,
    TIMEOUT,
    Copied,
    Done,
    FileContent,
    FileEntry,
    Filesystem,
    Listed,
    Place,
    ResolvedPath,
    Status,
    Version,
)
from fsagent_tools.files.errors import refusal, shown
from fsagent_tools.files.locks import LockedFile as LockedFile
from fsagent_tools.files.memory import Store, StoreFilesystem
from fsagent_tools.policy import Policy
from fsagent_tools.policy.paths import run_by_others
from fsagent_tools.policy.protected import GIT

_PLAIN = re.compile(r"[\w./][\w./ -]{0,200}", re.ASCII).fullmatch  # any file system has such paths
_BARE, _SETTINGS = {"head", "objects", "refs"}, {"config", "config.worktree", "hooks"}
_Found = list[tuple[str, FileEntry]]  # of a tree, each with its path from the top


class ReadableFile(AbstractContextManager["ReadableFile"]):
    """A regular file that was opened and allowed; `version` is from before any byte was read.

    fd: its descriptor, -1 where the files are elsewhere.
    """

    __slots__ = ("_again", "_at", "_content", "_policy", "fd", "place", "version")

    def __init__(
        self,
        content: FileContent,
        place: Place,
        policy: Policy,
        again: "Callable[[], ReadableFile] | None" = None,
    ) -> None:
        """Takes over `content` and closes it when it is too large. again: opens its path anew."""
        self._again, self._content, self._policy, self._at = again, content, policy, 0
        self.place, self.version, self.fd = place, content.version, content.fd
        if policy.max_file_size is not None:
            try:
                policy.check_size(place.told, self.version.size)
            except BaseException:
                content.close()
                raise

    def read(self, limit: int | None = None) -> bytes:
        """All bytes from the current position, or at most `limit`; a growing file is cut off.

        A size of 0 says nothing (`/proc`), so then all there is. Raises `ReadFailed`, `TooLarge`.
        """
        largest = self._policy.max_file_size
        most = limit if limit is not None else largest + 1 if isinstance(largest, int) else ENDLESS
        rest = self.version.size - self._at if self.version.size else ENDLESS
        found = self.pread(min(rest, most), self._at)
        self._at += len(found)
        if limit is None:
            self._policy.check_size(self.place.told, len(found))
        return found

    def check_whole(self) -> None:
        """Raise `TooLarge` unless it may be read as a whole."""
        self._policy.check_whole(self.place.told, self.version.size)

    def pread(self, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset`; fewer only at the end of the file."""
        try:
            return self._content.pread(max(0, size), offset)
        except OSError as error:
            raise refusal(error, self.place.told) from None

    @contextmanager
    def unless_replaced(self, known: Version | None) -> "Iterator[ReadableFile]":
        """This file or, if it is of another version than the known one, what is at its path now."""
        if known in (None, self.version) or not self._again:
            yield self
            return
        with self._again() as now:
            yield now if now.place.relative == self.place.relative else self

    def close(self) -> None:
        self._content.close()

    def __exit__(self, *_: object) -> None:
        self.close()


class Directory(AbstractContextManager["Directory"]):
    """An open directory, for listing and for walking down.

    identity: equal for one directory, by whatever way it was reached. fd: as of `ReadableFile`.
    """

    __slots__ = ("_at", "_below", "_policy", "_store", "_top", "fd")

    def __init__(
        self, at: ResolvedPath, top: Place, policy: Policy, store: Filesystem, below: str = ""
    ) -> None:
        """Takes over `at`, an open directory at the path `below` beneath `top`."""
        self._store, self._at, self.fd = store, at, at.fd
        self._top, self._policy, self._below = top, policy, below

    @property
    def place(self) -> Place:
        return self._top.inside(self._below)

    @property
    def identity(self) -> object:
        return self._store.identity(self._at)

    def entries(self) -> list[Listed]:
        """What is in it, in any order; valid while it is open. Raises a `ToolError`."""
        try:
            return [*self._store.entries(self._at)]
        except OSError as error:
            raise refusal(error, self.place.told) from None

    def enter(self, name: str) -> "Directory | None":
        """The directory `name` in it; None for a link, a file or nothing. Raises a `ToolError`."""
        try:
            inner = self._store.enter(self._at, name)
        except OSError as error:
            raise refusal(error, self.place.inside(name).told) from None
        if inner is None:
            return None
        below = f"{self._below}/{name}" if self._below else name
        return Directory(inner, self._top, self._policy, self._store, below)

    def open(self, name: str) -> ReadableFile:
        """The regular file `name` in it, never through a link. Raises a `ToolError`."""
        place = self.place.inside(name)
        self._policy.check_path(place.relative, place.absolute, Effect.READ, told=place.told)
        try:
            inner = ResolvedPath(self._at.above, (name,), fd=self.fd)
            return ReadableFile(self._store.open(inner), place, self._policy)
        except OSError as error:
            raise refusal(error, place.told) from None

    def close(self) -> None:
        self._at.close()

    def __exit__(self, *_: object) -> None:
        self.close()


class GuardedFiles:
    """A file system beneath one root, used by one policy. Every verb raises a `ToolError`.

    Paths are relative to the root or absolute; nothing outside is reached, whatever links say.
    A refusal leaves everything as it was; every change is announced before it happens.
    Constructing one does no IO.

    local_root: the root as a directory of this machine, None if the files are elsewhere.
    virtual: an absolute path begins at the root, whose own and further roots' real paths are taken
    as such, too; places are told so.
    """

    local_root: Path | None = None
    store: Filesystem

    def __init__(self, store: Filesystem | Store, policy: Policy, *, virtual: bool = False) -> None:
        self.store = StoreFilesystem(store) if isinstance(store, Store) else store
        self.policy, self.virtual = policy, virtual

    def under(self, policy: Policy, *, virtual: bool = False) -> Self:
        """The same files, used by another policy and by such paths."""
        return type(self)(self.store, policy, virtual=virtual)

    def close(self) -> None:
        """Give up open handles; the files may be used again."""
        self.store.close()

    # What is there

    def place(self, path: str) -> Place:
        """Where an existing object really is, links resolved."""
        with self._at(path, Effect.READ) as at:
            self._entry(path, at)
            return at.place

    def kind_of(self, path: str) -> str | None:
        """Of what a path leads to and may be read; None for nothing."""
        try:
            with self._at(path, Effect.READ) as at:
                return self._entry(path, at).kind
        except errors.ToolError:
            return None

    def shows(self, place: Place) -> bool:
        """Whether a model may know of it."""
        try:
            self._allow(place, Effect.READ)
        except errors.Denied:
            return False
        return True

    def stat(self, path: str) -> Status:
        """Status of the entry itself, also of a link."""
        with self._at(path, Effect.READ, follow=False) as at:
            self._entry(path, at)
            return self.store.describe(at, self.kind_of)

    def open(self, path: str, effect: Effect = Effect.READ) -> ReadableFile:
        """Open a regular file for reading."""
        opened = self._opened(path, effect, folder=False)
        return ReadableFile(*opened, self.policy, partial(self.open, path, effect))

    def directory(self, path: str) -> Directory:
        """Open a directory for listing; it may be on the way to what is allowed."""
        return Directory(*self._opened(path, None, folder=True), self.policy, self.store)

    # Changes

    @contextmanager
    def lock(
        self, path: str, *, create_dirs: bool = False, timeout: float = TIMEOUT
    ) -> Iterator[LockedFile]:
        """Keep other writers off the file at `path`, existing or not, and write it.

        create_dirs: make missing parent directories. timeout: seconds to wait for other writers.
        """
        with call.one_step(), self._at(path, Effect.WRITE) as at:
            if at.slash or not at.missing:
                raise refusals.not_a_file(path, "directory")
            if len(at.missing) > 1 and not create_dirs:
                raise self._missing(path, at, new=True)
            self.store.make_parents(at, self.making)
            with self.store.hold([at], path, timeout):
                self._check_repository(at)  # others may have made the rest of one
                yield LockedFile(self.store, at, self.policy, self.making)

    def make_directory(self, path: str) -> tuple[Place, bool]:
        """Make a directory and its missing parents; False when it was there."""
        with call.one_step(), self._at(path, Effect.WRITE) as at:
            if entry := self._entry_at(at):
                if entry.kind == "directory":
                    return at.place, False
                message = f"{shown(path)} exists and is not a directory."
                raise errors.AlreadyExists(message, hint="Choose another path.")
            self._check_repository(at)
            _announce(call.PendingChange("mkdir", (at.place.told,)))
            self.store.mkdir(at, self.making)
            return at.place, True

    def move(self, source: str, destination: str, overwrite: bool = False) -> Done:
        """Move to exactly `destination`; a link itself is moved. Across devices too.

        overwrite: replace an existing file, never a directory.
        """
        with self._ends("move", source, destination, overwrite=overwrite) as (old, new, members):
            with self.making(new):
                self.store.move(old, new, overwrite=overwrite)
            return Done(old.place, new.place, _files_of(members))

    def copy(self, source: str, destination: str, overwrite: bool = False) -> tuple[Done, Copied]:
        """Copy a file or tree with its metadata to exactly `destination`, which appears whole.

        Links in a tree are copied as links when they lead inside, else left out and reported.
        """
        with self._ends("copy", source, destination, overwrite=overwrite) as (old, new, members):
            links = [inner for inner, entry in members if entry.kind == "link"]
            skipped = [link for link in links if not self.kind_of(old.place.inside(link).absolute)]
            with self.making(new):
                self.store.copy(old, new, overwrite=overwrite, without=skipped)
            files = _files_of(members)
            size = sum(entry.size for _, entry in members if entry.kind == "file")
            return Done(old.place, new.place, files), Copied(len(files), size, skipped)

    def remove(self, path: str, recursive: bool = False) -> Done:
        """Remove a file, a link itself or, when `recursive`, a directory; never the root."""
        with call.one_step(), self._at(_itself(path), Effect.DELETE, follow=False) as at:
            self._entry(path, at)
            self._check_no_root(path, at)
            with self.store.hold([at], path, TIMEOUT):
                entry = self._entry(path, at)  # another may have come while this one waited
                if entry.kind == "directory" and not recursive:
                    hint = "Set `recursive`=true to remove it and everything in it."
                    raise errors.NotAFile(f"{shown(path)} is a directory.", hint=hint)
                members = self._members(at, (at.place, Effect.DELETE))
                _announce(_change("remove", (at.place.told,), members, None))
                self.store.remove(at)
                return Done(at.place, at.place, _files_of(members))

    @contextmanager
    def _ends(
        self, verb: str, source: str, destination: str, *, overwrite: bool
    ) -> Iterator[tuple[ResolvedPath, ResolvedPath, _Found]]:
        """Both ends found, allowed for every member of the tree, held and announced."""
        copies = verb == "copy"
        path = source if copies else _itself(source)
        effect = Effect.READ if copies else Effect.DELETE
        with call.one_step(), ExitStack() as ends:
            old = ends.enter_context(self._at(path, effect, follow=copies))
            self._entry(source, old)  # before errors name the destination
            new = ends.enter_context(self._at(_itself(destination), Effect.WRITE, follow=False))
            if len(new.missing) > 1:
                raise refusals.no_directory_of(destination)
            self._check_no_root(source, old, moves=not copies)
            self._check_no_root(destination, new)
            if f"{new.real}/".startswith(f"{old.real}/"):
                raise refusals.into_itself(source, destination)
            with self.store.hold([old, new], source, TIMEOUT):
                self._check_repository(new)
                members = self._members(old, (old.place, effect), (new.place, Effect.WRITE))
                for inner, entry in members:
                    told = old.place.inside(inner).told
                    if entry.kind == "file":
                        self.policy.check_size(told, entry.size)
                    elif copies and entry.kind not in ("directory", "link"):
                        raise refusals.not_a_file(told, entry.kind)
                if replaced := self._entry_at(new):
                    if replaced.kind == "directory" or not overwrite:
                        raise refusals.not_replaced(destination, replaced.kind)
                    if members[0][1].kind == "directory":
                        raise refusals.not_a_directory(destination)
                _announce(_change(verb, (old.place.told, new.place.told), members, replaced))
                yield old, new, members

    # What every verb passes

    def _opened(self, path: str, effect: Effect | None, *, folder: bool) -> tuple[Any, Place]:
        """An open file or directory that the policy allows, and its place."""
        if not _PLAIN(path):
            refusals.check_spelling(path)
        opened = self.store.open_directly(path, folder=folder, virtual=self.virtual)
        if opened is None:
            with self._at(path, effect) as at:
                return self.store.folder(at) if folder else self.store.open(at), at.place
        try:
            place = self._place(path, opened[1])
            self._allow(place, effect)
        except BaseException:
            opened[0].close()
            raise
        return opened[0], place

    @contextmanager
    def _at(
        self, path: str, effect: Effect | None, *, follow: bool = True
    ) -> Iterator[ResolvedPath]:
        """What a path leads to, allowed for `effect`, None for a listing.

        Errors of the system inside the block become refusals that name `path`.
        """
        at: ResolvedPath | None = None
        try:
            at = self._resolve(path, follow=follow)
            at.place = self._place(path, at.real)
            self._allow(at.place, effect)
            # a new name that has a directory before a backslash: Windows has paths so
            below, backslash, _ = path.partition("\\") if effect is Effect.WRITE else ("", "", "")
            if backslash and self.kind_of(below) == "directory" and not self._entry_at(at):
                raise refusals.backslash_in_name(path)
            yield at
        except FileNotFoundError as error:
            raise (self._missing(path, at) if at else refusal(error, path)) from None
        except OSError as error:
            raise refusal(error, path, writing=effect not in (Effect.READ, None)) from None
        finally:
            if at is not None:
                at.close()

    def _resolve(self, path: str, *, follow: bool) -> ResolvedPath:
        if not _PLAIN(path):
            refusals.check_spelling(path)
        try:
            return self.store.resolve(path, follow=follow, virtual=self.virtual)
        except errors.OutsideWorkspace:
            inside = path.lstrip("/") or "."
            if path.startswith("/") and self.kind_of(inside):  # for some models "/" is the root
                raise refusals.outside(path, inside) from None
            raise

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

    @contextmanager
    def making(self, at: ResolvedPath) -> Iterator[None]:
        """What is made inside completes no bare repository with what others make meanwhile."""
        if not self._check_repository(at):
            yield
            return
        with self.store.hold_folder(at, at.place.told):
            self._check_repository(at)
            yield

    def _check_repository(self, at: ResolvedPath) -> bool:
        """Refuse what git would run of a directory that it takes for a bare repository.

        Whether it may be a part of one.
        """
        folder, name = at.above.rpartition("/")[2].lower(), at.name.lower()
        if folder == "hooks":
            with closing(self._resolve(at.above, follow=False)) as above:
                names = {folder, *map(str.lower, self.store.siblings(above))}
        elif name in _BARE | _SETTINGS:
            names = {name, *map(str.lower, self.store.siblings(at))}
        else:
            return False
        if names >= _BARE and names & _SETTINGS and {*GIT} & {*self.policy.write_denied}:
            raise run_by_others(at.place.told)
        return True

    def _entry(self, path: str, at: ResolvedPath) -> FileEntry:
        """What is there, as `path` calls it."""
        entry = self.store.stat(at)
        if (at.slash or path.endswith("/")) and entry.kind not in ("directory", "link"):
            raise refusals.not_a_directory(path)
        return entry

    def _entry_at(self, at: ResolvedPath) -> FileEntry | None:
        try:
            return self.store.stat(at)
        except FileNotFoundError:
            return None

    def _missing(self, path: str, at: ResolvedPath, *, new: bool = False) -> errors.ToolError:
        """new: something was to be made there."""
        return refusals.missing(self, path, at, self._place(path, at.above), new=new)

    def _check_no_root(self, path: str, at: ResolvedPath, *, moves: bool = True) -> None:
        if not at.missing or (moves and self.store.holds_root(at.real)):
            raise refusals.is_root(path)

    def _members(self, at: ResolvedPath, *wanted: tuple[Place, Effect]) -> _Found:
        members = [*self.store.members(at)]
        for inner, _ in members:
            for place, effect in wanted:
                self._allow(place.inside(inner), effect)
        return members


def _itself(path: str) -> str:
    """Without the slash that would lead through a link at the end."""
    return path.rstrip("/") or path


def _announce(change: call.PendingChange) -> None:
    """Tell the call's watcher, who may prevent it."""
    if watch := call.current.get().watch:
        watch(change)


def _change(
    verb: str, paths: tuple[str, ...], members: _Found, replaced: FileEntry | None
) -> call.PendingChange:
    names = tuple(inner for inner, _ in members[1:])
    state = tuple((inner, entry.version) for inner, entry in members), replaced and replaced.version
    replaces = replaced is not None
    return call.PendingChange(verb, paths, members=names, replaces=replaces, state=state)


def _files_of(members: _Found) -> tuple[str, ...]:
    return tuple(inner for inner, entry in members if entry.kind == "file")
