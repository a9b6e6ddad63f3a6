"""The guard around wherever files are: which paths are meant, whether they are allowed, and the
words for what is not.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Self

from fsagent_tools import call, errors
from fsagent_tools.effects import Effect
from fsagent_tools.files import errors as refusals
from fsagent_tools.files.base import (
    COMPARED,
    TIMEOUT,
    Copied,
    Done,
    FileEntry,
    Filesystem,
    Making,
    Place,
    ResolvedPath,
    Status,
    Version,
)
from fsagent_tools.files.errors import shown
from fsagent_tools.files.guarded_file import ENDLESS, SNIFFED, Directory, ReadableFile
from fsagent_tools.files.memory import Store, StoreFilesystem
from fsagent_tools.names import meant
from fsagent_tools.policy import Policy
from fsagent_tools.policy.paths import run_by_others
from fsagent_tools.policy.protected import GIT

_PLAIN = re.compile(r"[\w./][\w./ -]{0,200}", re.ASCII).fullmatch  # any file system has such paths
_BARE, _SETTINGS = {"head", "objects", "refs"}, {"config", "config.worktree", "hooks"}
_Found = list[tuple[str, FileEntry]]  # of a tree, each with its path from the top


class LockedFile:
    """An existing or future regular file under its lock; `version` is None where there is none."""

    def __init__(
        self, store: Filesystem, at: ResolvedPath, policy: Policy, making: Making = nullcontext
    ) -> None:
        """`at` stays the caller's. making: is around a write, and may refuse it.

        Raises a `ToolError`.
        """
        self.place, self._at, self._store = at.place, at, store
        self._policy, self._making = policy, making
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
            with closing(self._store.open(self._at)) as content:
                size = content.version.size
                self._policy.check_size(told, size)
                if check and size > SNIFFED:
                    check(content.pread(SNIFFED, 0), told, size)
                self._policy.check_whole(told, size)
                self._seen = content.pread(size or ENDLESS, 0)
        except FileNotFoundError:
            raise errors.Missing(f"{shown(told)} does not exist yet.") from None
        except OSError as error:
            raise refusals.refusal(error, told) from None
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
            with self._making(self._at):
                self.version = self._store.write(self._at, data, expect, self._seen)
        except FileExistsError:
            raise refusals.changed_meanwhile(told) from None
        except OSError as error:
            raise refusals.refusal(error, told, writing=True) from None
        self._seen = None
        return self.version

    def check_writable(self, size: int) -> None:
        """Raise unless a file of that size may be there, and one there lets itself be replaced."""
        self._policy.check_size(self.place.told, size)
        if self.version and not self._store.writable(self._at):
            hint = "Change its permissions first, or write another file."
            raise errors.Denied(f"{shown(self.place.told)} is write-protected.", hint=hint)

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
            entry = self._store.stat(self._at)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None
        if entry.kind != "file":
            raise refusals.not_a_file(self.place.told, entry.kind)
        return entry.version


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
            self.store.make_parents(at, self._making)
            with self.store.hold([at], path, timeout):
                self._check_repository(at)  # others may have made the rest of one
                yield LockedFile(self.store, at, self.policy, self._making)

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
            self.store.mkdir(at, self._making)
            return at.place, True

    def move(self, source: str, destination: str, overwrite: bool = False) -> Done:
        """Move to exactly `destination`; a link itself is moved. Across devices too.

        overwrite: replace an existing file, never a directory.
        """
        with self._ends("move", source, destination, overwrite=overwrite) as (old, new, members):
            with self._making(new):
                self.store.move(old, new, overwrite=overwrite)
            return Done(old.place, new.place, _files_of(members))

    def copy(self, source: str, destination: str, overwrite: bool = False) -> tuple[Done, Copied]:
        """Copy a file or tree with its metadata to exactly `destination`, which appears whole.

        Links in a tree are copied as links when they lead inside, else left out and reported.
        """
        with self._ends("copy", source, destination, overwrite=overwrite) as (old, new, members):
            links = [inner for inner, entry in members if entry.kind == "link"]
            skipped = [link for link in links if not self.kind_of(old.place.inside(link).absolute)]
            with self._making(new):
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
                raise _into_itself(source, destination)
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
                    _check_replaced(destination, replaced.kind, overwrite=overwrite)
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
                raise errors.InvalidPath(
                    f"{shown(path)} would be one file name: a backslash separates nothing here.",
                    hint=f"Use {shown(path.replace(chr(92), '/'))}.",
                )
            yield at
        except FileNotFoundError as error:
            raise (self._missing(path, at) if at else refusals.refusal(error, path)) from None
        except OSError as error:
            raise refusals.refusal(error, path, writing=effect not in (Effect.READ, None)) from None
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
    def _making(self, at: ResolvedPath) -> Iterator[None]:
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
            raise errors.Denied(
                f"{shown(path)} is or contains a workspace root, which stays where it is.",
                hint="Name an entry inside it.",
            )

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


def _into_itself(source: str, destination: str) -> errors.InvalidArguments:
    if source != destination and meant(destination, [source]) == source:
        return errors.InvalidArguments(
            f"{shown(destination)} is the name of {shown(source)}: the same letters, composed or"
            " spaced otherwise.",
            hint="To have them so, move it to another name first, and then to this one.",
        )
    message = f"{shown(destination)} is {shown(source)} or inside it."
    return errors.InvalidArguments(message, hint="Choose a destination elsewhere.")


def _check_replaced(path: str, kind: str, *, overwrite: bool) -> None:
    """Raise `AlreadyExists` unless an existing entry of this kind may be replaced."""
    if kind == "directory":
        message = f"{shown(path)} is a directory; directories are not replaced."
        raise errors.AlreadyExists(message, hint="Give the full path of the new entry.")
    if not overwrite:
        hint = "Choose another path. Or set `overwrite`=true to replace a file."
        raise errors.AlreadyExists(f"{shown(path)} already exists.", hint=hint)
