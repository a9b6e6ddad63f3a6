"""The files of this machine: `LocalFilesystem` acts on descriptors, `LocalFiles` guards it."""

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path

from fsagent_tools import call, errors
from fsagent_tools.files import atomic
from fsagent_tools.files import errors as refusals
from fsagent_tools.files.base import (
    TIMEOUT,
    EntrySlot,
    Making,
    Place,
    Recorder,
    Recording,
    ResolvedPath,
    Status,
    Version,
)
from fsagent_tools.files.errors import shown
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.locks import hold_all, locked, sweep
from fsagent_tools.files.resolve import (
    INNER,
    READ,
    LocalEntry,
    LocalFile,
    Roots,
    Signature,
    birth_ns,
    check_regular,
    kind_of,
    opened,
    os_error,
)
from fsagent_tools.policy import Policy

_NO_DIRECTORY = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # gone since it was listed, or a link


class LocalFilesystem(Roots):
    """See `base.Filesystem`: what was resolved holds a directory open, from the check to the act.

    durable, recording: see `LocalFiles`.
    """

    def __init__(
        self,
        given: str,
        allowed: Iterable[str],
        *,
        walks: bool,
        durable: bool,
        recording: Recording | None,
    ) -> None:
        super().__init__(given, allowed, walks=walks)
        self.durable, self.recording = durable, recording
        self._recorder: Recorder | None = None

    @property
    def recorder(self) -> Recorder | None:
        """What is told of changes; asked for when something first changes."""
        if self._recorder is None and self.recording:
            self._recorder = self.recording()
        return self._recorder

    def resolve(self, path: str, *, follow: bool, virtual: bool) -> ResolvedPath:
        return self.walk(self.own(path) if virtual else path, path, follow=follow)

    def hold(
        self, paths: Sequence[ResolvedPath], path: str, timeout: float
    ) -> AbstractContextManager[None]:
        return hold_all([(at.fd, "/".join(at.missing)) for at in paths], path, timeout)

    def hold_folder(self, at: ResolvedPath, path: str) -> AbstractContextManager[None]:
        return locked(at.fd, "", TIMEOUT, path)

    def stat(self, at: ResolvedPath) -> LocalEntry:
        if len(at.missing) > 1:
            raise os_error(errno.ENOENT)
        return LocalEntry(os.stat(at.name, dir_fd=at.fd, follow_symlinks=False))

    def describe(self, at: ResolvedPath, kind: Callable[[str], str | None]) -> Status:
        found, target, target_kind = self.stat(at).status, None, None
        if stat.S_ISLNK(found.st_mode):
            target, target_kind = os.readlink(at.name, dir_fd=at.fd), kind(at.real)
        times = found.st_mtime_ns, found.st_ctime_ns
        facts = at.place, kind_of(found.st_mode), found.st_size, stat.S_IMODE(found.st_mode)
        return Status(*facts, *times, target, target_kind, birth_ns(at.fd, at.name))

    def open(self, at: ResolvedPath) -> LocalFile:
        status = self.stat(at).status
        if at.slash and not stat.S_ISDIR(status.st_mode):
            raise os_error(errno.ENOTDIR)
        check_regular(status)  # opening a device may do something
        return LocalFile(os.open(at.name, READ | os.O_NOFOLLOW, dir_fd=at.fd))

    def folder(self, at: ResolvedPath) -> ResolvedPath:
        self.stat(at)  # missing names are told as such
        return ResolvedPath(at.real, (), fd=os.open(at.name, INNER, dir_fd=at.fd))

    def enter(self, at: ResolvedPath, name: str) -> ResolvedPath | None:
        try:
            return ResolvedPath("", (), fd=os.open(name, INNER, dir_fd=at.fd))
        except OSError as error:
            if error.errno in _NO_DIRECTORY:
                return None
            raise

    def entries(self, at: ResolvedPath) -> list[os.DirEntry[str]]:
        with os.scandir(at.fd) as scan:
            return [*scan]

    def identity(self, at: ResolvedPath) -> tuple[int, int]:
        status = os.fstat(at.fd)
        return status.st_dev, status.st_ino

    def siblings(self, at: ResolvedPath) -> Sequence[str]:
        try:
            with opened(at.fd, ".") as directory:
                return os.listdir(directory)
        except OSError:
            return []

    def members(self, at: ResolvedPath) -> Iterator[tuple[str, LocalEntry]]:
        return ((path, LocalEntry(status)) for path, status in atomic.survey(at.fd, at.name))

    def make_parents(self, at: ResolvedPath, making: Making) -> None:
        if not call.current.get().dry:
            self._enter_new(at, at.missing[:-1], making)

    def mkdir(self, at: ResolvedPath, making: Making) -> None:
        self._enter_new(at, at.missing, making)

    def _enter_new(self, at: ResolvedPath, names: Sequence[str], making: Making) -> None:
        """Make directories one below the other and go into the last one."""
        for name in names:
            real = f"{at.above.rstrip('/')}/{name}"
            relative = self.relative(real) or real
            slot = EntrySlot(at.fd, name, Place(relative, real, relative, real))
            with suppress(FileExistsError), making(at):
                atomic.make_directory(slot, self.recorder)
            inner = os.open(name, INNER, dir_fd=at.fd)
            os.close(at.fd)
            at.fd, at.above, at.missing = inner, real, at.missing[1:]

    def writable(self, at: ResolvedPath) -> bool:
        # root passes every permission check, yet a file nobody may write was locked on purpose
        status = self.stat(at).status
        if status.st_mode & 0o222 and os.access(at.name, os.W_OK, dir_fd=at.fd):
            return True
        if os.fstatvfs(at.fd).f_flag & os.ST_RDONLY:
            raise os_error(errno.EROFS)
        return False

    def write(
        self, at: ResolvedPath, data: bytes, expect: Version | None, seen: bytes | None
    ) -> Signature:
        """Mode, owner, extended attributes and ACLs are kept."""
        old = self._replaced(at, expect) if expect else None
        was, recorder = old.fd if old else None, self.recorder

        def ready() -> None:
            call.current.get().check()
            self._compare(at, expect, old, seen)

        try:
            sweep(at.fd)
            return Signature.of(
                atomic.AtomicWrite(at.slot, was, self.durable, recorder).write(data, ready)
            )
        finally:
            if old:
                old.close()

    def _replaced(self, at: ResolvedPath, expect: Version) -> LocalFile:
        try:
            old = LocalFile(os.open(at.name, READ | os.O_NOFOLLOW, dir_fd=at.fd))
        except FileNotFoundError:
            raise os_error(errno.EEXIST) from None
        if old.version != expect:
            old.close()
            raise os_error(errno.EEXIST)
        return old

    def _compare(
        self, at: ResolvedPath, expect: Version | None, old: LocalFile | None, seen: bytes | None
    ) -> None:
        try:
            now: Version | None = self.stat(at).version
        except FileNotFoundError:
            now = None
        # stamps cannot tell a change that young
        if now == expect and old and seen is not None and old.version.racy():
            now = expect if old.pread(len(seen) + 1, 0) == seen else None
        if now != expect:
            raise os_error(errno.EEXIST)

    def move(self, old: ResolvedPath, new: ResolvedPath, *, overwrite: bool) -> None:
        try:
            self._rename(old, old.name, new, overwrite=overwrite)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._move_across(old, new, overwrite=overwrite)
        if self.durable:
            atomic.sync_directory(old.fd)
            atomic.sync_directory(new.fd)

    def _move_across(self, old: ResolvedPath, new: ResolvedPath, *, overwrite: bool) -> None:
        """Copy it whole and remove it; the copy goes again where nothing could be removed."""
        before = [path for path, _ in self.members(old)]
        back = partial(atomic.remove_tree, new.fd, new.name)
        with atomic.temporary(new.fd, atomic.remove_tree) as replaced:
            with suppress(FileNotFoundError):
                atomic.Copier(new.place.told).copy((new.fd, new.name), (new.fd, replaced))
                back = partial(os.rename, replaced, new.name, src_dir_fd=new.fd, dst_dir_fd=new.fd)
            forget = self._copy(old, new, overwrite=overwrite, without=())
            try:
                self.remove(old)
            except OSError as error:
                source, reason = (
                    shown(old.place.told),
                    os.strerror(error.errno or errno.EIO),
                )
                if [path for path, _ in self.members(old)] != before:
                    raise errors.WriteFailed(
                        f"{shown(new.place.told)} is a whole copy of {source}, of which not all"
                        f" could be removed ({reason}).",
                        hint=f"Remove what is left of {source}.",
                    ) from None
                back()
                if forget:
                    forget()
                raise refusals.refusal(error, old.place.told, writing=True) from None

    def copy(
        self, old: ResolvedPath, new: ResolvedPath, *, overwrite: bool, without: Collection[str]
    ) -> None:
        """With its metadata, under a temporary name, which is then renamed."""
        self._copy(old, new, overwrite=overwrite, without=without)

    def _copy(
        self, old: ResolvedPath, new: ResolvedPath, *, overwrite: bool, without: Collection[str]
    ) -> Callable[[], None] | None:
        """Returns what to call when it was taken back."""
        sweep(new.fd)
        with atomic.temporary(new.fd, atomic.remove_tree) as temp:
            copier = atomic.Copier(old.place.told, without, self.durable)
            copier.copy((old.fd, old.name), (new.fd, temp))
            call.current.get().check()
            forget = self._rename(old, temp, new, overwrite=overwrite)
        if self.durable:
            atomic.sync_directory(new.fd)
        return forget

    def _rename(
        self, old: ResolvedPath, name: str, new: ResolvedPath, *, overwrite: bool
    ) -> Callable[[], None] | None:
        """Give `old`, or its copy that has another name beside `new`, the new name.

        Returns what to call when it was taken back.
        """
        moved, forget = name == old.name, None
        fd = old.fd if moved else new.fd
        if recorder := self.recorder:
            if os.fstat(fd).st_dev != os.fstat(new.fd).st_dev:
                raise os_error(errno.EXDEV)
            made, now = [*atomic.survey(fd, name)], EntrySlot(fd, name, old.place)
            forget = recorder.places(new.slot, made, now, moved=moved)
        with atomic.noted(forget):
            if not overwrite:
                atomic.rename_new(fd, name, new.fd, new.name)
                return forget
            if _is_one_file((fd, name), (new.fd, new.name)):  # a rename would leave both
                os.unlink(new.name, dir_fd=new.fd)
            os.rename(name, new.name, src_dir_fd=fd, dst_dir_fd=new.fd)
        return forget

    def remove(self, at: ResolvedPath) -> None:
        recorder = self.recorder
        if not recorder:
            atomic.remove_tree(at.fd, at.name)
            return
        members = [*atomic.survey(at.fd, at.name)]
        forget = recorder.removes(at.slot, members)
        noted = {path: Signature.of(status) for path, status in members}

        def take(fd: int, name: str, path: str, status: os.stat_result) -> None:
            is_file = not stat.S_ISDIR(status.st_mode)
            if is_file and noted.get(path) != Signature.of(status):  # others wrote it since
                recorder.removes(EntrySlot(fd, name, at.place.inside(path)), [("", status)])
            atomic.unlink(fd, name, path, status)

        try:
            atomic.remove_tree(at.fd, at.name, take)
        except OSError:
            if [path for path, _ in self.members(at)] == [*noted]:
                forget()
            raise


def _is_one_file(*names: tuple[int, str]) -> bool:
    """Whether both are names of one file, by hard links."""
    try:
        first, second = (os.stat(name, dir_fd=fd, follow_symlinks=False) for fd, name in names)
    except FileNotFoundError:
        return False
    return first.st_nlink > 1 and os.path.samestat(first, second)


class LocalFiles(GuardedFiles):
    """Files beneath a directory of this machine. Constructing one does no IO.

    walk: never use openat2, always the walk by hand (what other systems do).
    durable: sync written files and their directories before a write returns.
    recording: tells what keeps the old state of files, asked when something changes; default
    nothing.
    """

    local_root: Path
    store: LocalFilesystem

    def __init__(  # noqa: PLR0913
        self,
        root: str | Path,
        policy: Policy,
        *,
        durable: bool = False,
        walk: bool = False,
        virtual: bool = False,
        recording: Recording | None = None,
    ) -> None:
        store = LocalFilesystem(
            str(root), policy.opened, walks=walk, durable=durable, recording=recording
        )
        super().__init__(store, policy, virtual=virtual)
        self.local_root = Path(root)

    def under(self, policy: Policy, *, virtual: bool = False) -> "LocalFiles":
        """The same files, used by another policy and by such paths."""
        old = self.store
        options = {"durable": old.durable, "walk": old.walks, "virtual": virtual}
        files = LocalFiles(self.local_root, policy, recording=old.recording, **options)
        if policy.opened == self.policy.opened:
            files.store = old
        return files
