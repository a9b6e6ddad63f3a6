"""What a path leads to on this machine: an open directory, and names below it."""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from fsagent_tools import call
from fsagent_tools.files import refusals, tree
from fsagent_tools.files.keeping import EntrySlot
from fsagent_tools.files.locks import sweep
from fsagent_tools.files.open_file import (
    DIRECTORY,
    READ,
    LocalFile,
    LocalFolder,
    Signature,
    birth_ns,
    check_regular,
    kind_of,
)
from fsagent_tools.files.port import Handle, Making, Place, Status, Version, os_error
from fsagent_tools.files.replace import AtomicWrite, noted, rename_new, sync_directory, temporary
from fsagent_tools.runtime.descriptors import held

if TYPE_CHECKING:
    from fsagent_tools.files.disk import LocalStore


class LocalEntry(NamedTuple):
    """See `port.EntryFacts`."""

    status: os.stat_result

    @property
    def kind(self) -> str:
        return kind_of(self.status.st_mode)

    @property
    def size(self) -> int:
        return self.status.st_size

    @property
    def version(self) -> Signature:
        return Signature.of(self.status)


class LocalHandle(Handle):
    """See `port.Handle`; `fd` is of the directory at `above`."""

    place: Place

    def __init__(
        self,
        store: "LocalStore",
        fd: int,
        above: str,
        missing: Sequence[str],
        *,
        slash: bool = False,
    ) -> None:
        """Takes over `fd`."""
        self.store, self.fd, self.above, self.missing, self.slash = store, fd, above, missing, slash

    @property
    def name(self) -> str:
        return self.missing[0] if self.missing else "."

    @property
    def real(self) -> str:
        return "/".join((self.above.rstrip("/"), *self.missing)) or "/"

    @property
    def slot(self) -> EntrySlot:
        return EntrySlot(self.fd, self.name, self.place)

    def entry(self) -> LocalEntry:
        if len(self.missing) > 1:
            raise os_error(errno.ENOENT)
        return LocalEntry(os.stat(self.name, dir_fd=self.fd, follow_symlinks=False))

    def status(self, target_kind: Callable[[str], str | None]) -> Status:
        found, text, kind = self.entry().status, None, None
        if stat.S_ISLNK(found.st_mode):
            text, kind = os.readlink(self.name, dir_fd=self.fd), target_kind(self.real)
        return Status(
            self.place, kind_of(found.st_mode), found.st_size, stat.S_IMODE(found.st_mode),
            found.st_mtime_ns, found.st_ctime_ns, text, kind,
            birth_ns(self.fd, self.name),
        )  # fmt: skip

    def open(self) -> LocalFile:
        status = self.entry().status
        if self.slash and not stat.S_ISDIR(status.st_mode):
            raise os_error(errno.ENOTDIR)
        check_regular(status)  # opening a device may do something
        return LocalFile(os.open(self.name, READ | os.O_NOFOLLOW, dir_fd=self.fd))

    def folder(self) -> LocalFolder:
        self.entry()  # missing names are told as such
        return LocalFolder(self._inner(self.name))

    def beside(self) -> Sequence[str]:
        try:
            with held(self._inner(".")) as directory:
                return os.listdir(directory)
        except OSError:
            return []

    def members(self) -> Iterator[tuple[str, LocalEntry]]:
        return ((path, LocalEntry(status)) for path, status in tree.survey(self.fd, self.name))

    def make_parents(self, making: Making) -> None:
        if not call.current.get().dry:
            self._enter_new(self.missing[:-1], making)

    def mkdir(self, making: Making) -> None:
        self._enter_new(self.missing, making)

    def _enter_new(self, names: Sequence[str], making: Making) -> None:
        """Make directories one below the other and go into the last one."""
        for name in names:
            real = f"{self.above.rstrip('/')}/{name}"
            relative = self.store.relative(real) or real
            slot = EntrySlot(self.fd, name, Place(relative, real, relative, real))
            with suppress(FileExistsError), making(self):
                tree.make_directory(slot, self.store.recorder)
            inner = self._inner(name)
            os.close(self.fd)
            self.fd, self.above, self.missing = inner, f"{self.above}/{name}", self.missing[1:]

    def _inner(self, name: str) -> int:
        return os.open(name, DIRECTORY | os.O_NOFOLLOW, dir_fd=self.fd)

    def writable(self) -> bool:
        # root passes every permission check, yet a file nobody may write was locked on purpose
        status = self.entry().status
        if status.st_mode & 0o222 and os.access(self.name, os.W_OK, dir_fd=self.fd):
            return True
        if os.fstatvfs(self.fd).f_flag & os.ST_RDONLY:
            raise os_error(errno.EROFS)
        return False

    def put(self, data: bytes, expect: Version | None, seen: bytes | None) -> Signature:
        """Mode, owner, extended attributes and ACLs are kept."""
        old = self._replaced(expect) if expect else None
        was = old.fd if old else None
        recorder, durable = self.store.recorder, self.store.durable

        def ready() -> None:
            call.current.get().check()
            self._compare(expect, old, seen)

        try:
            sweep(self.fd)
            writing = AtomicWrite(self.slot, was, durable=durable, recorder=recorder)
            return Signature.of(writing.write(data, ready))
        finally:
            if old:
                old.close()

    def _replaced(self, expect: Version) -> LocalFile:
        try:
            old = LocalFile(os.open(self.name, READ | os.O_NOFOLLOW, dir_fd=self.fd))
        except FileNotFoundError:
            raise os_error(errno.EEXIST) from None
        if old.version != expect:
            old.close()
            raise os_error(errno.EEXIST)
        return old

    def _compare(self, expect: Version | None, old: LocalFile | None, seen: bytes | None) -> None:
        try:
            now: Version | None = self.entry().version
        except FileNotFoundError:
            now = None
        # stamps cannot tell a change that young
        if now == expect and old and seen is not None and old.version.racy():
            now = expect if old.pread(len(seen) + 1, 0) == seen else None
        if now != expect:
            raise os_error(errno.EEXIST)

    def move(self, new: "LocalHandle", *, overwrite: bool) -> None:
        try:
            self._rename(self.fd, self.name, new, overwrite=overwrite, moved=True)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._carry(new, overwrite=overwrite)
        self._sync(self.fd)
        self._sync(new.fd)

    def _carry(self, new: "LocalHandle", *, overwrite: bool) -> None:
        """Copy it whole and remove it; the copy goes again where nothing could be removed."""
        before = [path for path, _ in self.members()]
        back = partial(tree.remove_tree, new.fd, new.name)
        with temporary(new.fd, tree.remove_tree) as replaced:
            with suppress(FileNotFoundError):
                tree.Copier(lambda _: True, new.place.told).copy(
                    (new.fd, new.name), (new.fd, replaced)
                )
                back = partial(os.rename, replaced, new.name, src_dir_fd=new.fd, dst_dir_fd=new.fd)
            _, forget = self._copy(new, overwrite=overwrite, keeps=lambda _: True)
            try:
                self.remove()
            except OSError as error:
                if [path for path, _ in self.members()] != before:
                    raise refusals.half_moved(self.place.told, new.place.told, error) from None
                back()
                if forget:
                    forget()
                raise refusals.refusal(error, self.place.told, writing=True) from None

    def copy(
        self, new: "LocalHandle", *, overwrite: bool, keeps: Callable[[str], bool]
    ) -> list[str]:
        """With its metadata, under a temporary name, which is then renamed."""
        return self._copy(new, overwrite=overwrite, keeps=keeps)[0]

    def _copy(
        self, new: "LocalHandle", *, overwrite: bool, keeps: Callable[[str], bool]
    ) -> tuple[list[str], Callable[[], None] | None]:
        """And what to call when it was taken back."""
        sweep(new.fd)
        copier = tree.Copier(keeps, self.place.told, self.store.durable)
        with temporary(new.fd, tree.remove_tree) as temp:
            copier.copy((self.fd, self.name), (new.fd, temp))
            call.current.get().check()
            forget = self._rename(new.fd, temp, new, overwrite=overwrite, moved=False)
        self._sync(new.fd)
        return copier.skipped, forget

    def _rename(
        self, fd: int, name: str, new: "LocalHandle", *, overwrite: bool, moved: bool
    ) -> Callable[[], None] | None:
        """Give what has a name the new one; returns what to call when it was taken back."""
        forget = None
        if recorder := self.store.recorder:
            if os.fstat(fd).st_dev != os.fstat(new.fd).st_dev:
                raise os_error(errno.EXDEV)
            made, now = [*tree.survey(fd, name)], EntrySlot(fd, name, self.place)
            forget = recorder.places(new.slot, made, now, moved=moved)
        with noted(forget):
            _give_name(fd, name, new, overwrite=overwrite)
        return forget

    def remove(self) -> None:
        recorder = self.store.recorder
        if not recorder:
            tree.remove_tree(self.fd, self.name)
            return
        members = [*tree.survey(self.fd, self.name)]
        forget = recorder.removes(self.slot, members)
        noted = {path: Signature.of(status) for path, status in members}

        def take(fd: int, name: str, path: str, status: os.stat_result) -> None:
            is_file = not stat.S_ISDIR(status.st_mode)
            if is_file and noted.get(path) != Signature.of(status):  # others wrote it since
                recorder.removes(EntrySlot(fd, name, self.place.inside(path)), [("", status)])
            tree.unlink(fd, name, path, status)

        try:
            tree.remove_tree(self.fd, self.name, take)
        except OSError:
            if [path for path, _ in self.members()] == [*noted]:
                forget()
            raise

    def _sync(self, fd: int) -> None:
        if self.store.durable:
            sync_directory(fd)

    def close(self) -> None:
        os.close(self.fd)


def _give_name(fd: int, name: str, new: LocalHandle, *, overwrite: bool) -> None:
    if not overwrite:
        return rename_new(fd, name, new.fd, new.name)
    if _is_one_file((fd, name), (new.fd, new.name)):  # a rename would leave both
        os.unlink(new.name, dir_fd=new.fd)
    return os.rename(name, new.name, src_dir_fd=fd, dst_dir_fd=new.fd)


def _is_one_file(*names: tuple[int, str]) -> bool:
    """Whether both are names of one file, by hard links."""
    try:
        first, second = (os.stat(name, dir_fd=fd, follow_symlinks=False) for fd, name in names)
    except FileNotFoundError:
        return False
    return first.st_nlink > 1 and os.path.samestat(first, second)
