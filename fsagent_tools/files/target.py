"""A file under its lock: read it, then replace it, unless somebody else did."""

import errno
import os
import stat
from collections.abc import Callable
from functools import partial

from fsagent_tools import call, errors
from fsagent_tools.files import refusals
from fsagent_tools.files.keeping import EntrySlot, Recorder, Recording
from fsagent_tools.files.locks import sweep
from fsagent_tools.files.open_file import READ, OpenFile, Signature, wait_for_room
from fsagent_tools.files.port import COMPARED, Version
from fsagent_tools.files.replace import AtomicWrite
from fsagent_tools.policy import Policy


class Target:
    """An existing or future regular file; valid while the lock that gave it is held.

    place: of the file itself, links resolved. version: None when there is no file yet.
    """

    def __init__(
        self, slot: EntrySlot, policy: Policy, *, durable: bool, recorded: Recording
    ) -> None:
        """The slot's open directory stays the caller's. Raises a `ToolError`."""
        self.place, self._slot, self._recorded = slot.place, slot, recorded
        self._fd, self._name, self._policy, self._durable = slot.fd, slot.name, policy, durable
        self._seen: bytes | None = None
        self._file: OpenFile | None = self._open()
        self.version = self._file.version if self._file else None

    def _open(self) -> OpenFile | None:
        try:
            fd = os.open(self._name, READ | os.O_NOFOLLOW, dir_fd=self._fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refusals.refusal(error, self.place.told, writing=True) from None
        return OpenFile(fd, self.place, self._policy)

    def check_seen(self, size: int) -> None:
        """Raise `NotRead` when the policy wants a file of this size to be read before an edit."""
        self._policy.check_seen(self.place.told, size)

    def read(self) -> bytes:
        """The whole content under the lock. Raises `Missing`, `ReadFailed`."""
        if self._current() is None:
            raise errors.Missing(f"{refusals.shown(self.place.told)} does not exist yet.")
        self._seen = self._content()
        return self._seen

    def write(self, data: bytes, *, expect: Version | None) -> Signature:
        """Replace the content atomically by `data` and return its version.

        expect: what the new content was made from; None when there was no file. Compared with the
        disk right before the rename. Mode, owner, extended attributes and ACLs are kept. Raises
        `Conflict`, `Denied`, `TooLarge`, `WriteFailed`, `Cancelled`; the old content is then whole.
        """
        self._policy.check_size(self.place.told, len(data))
        file = self._current()
        old = file.fd if file else None
        self._compare_stamps(expect)
        if file:
            self._require_writable(file.status.st_mode)
        if watch := call.current.get().watch:
            watch(self._pending(data))
        try:
            sweep(self._fd)
            wait_for_room(len(data))
            recorder = self._recorded()
            keep = partial(self._keep, recorder) if recorder else None
            replacement = AtomicWrite(self._fd, self._name, old, durable=self._durable, keep=keep)

            def ready() -> None:
                self._compare(expect)
                if recorder and old is not None and (status := os.fstat(old)).st_nlink > 1:
                    recorder.releases(status)

            status = replacement.write(data, ready)
        except FileExistsError:
            raise refusals.changed_meanwhile(self.place.told) from None
        except OSError as error:
            raise refusals.refusal(error, self.place.told, writing=True) from None
        if self._file is not None:
            self._file.release()
            self._file = None
        self.version, self._seen = Signature.of(status), None
        return self.version

    def _keep(
        self, recorder: Recorder, new: int, data: bytes, in_place: bool
    ) -> Callable[[], None]:
        old = self._file.fd if self._file else None
        return recorder.overwrites(self._slot, old, new, data, in_place=in_place)

    def _pending(self, data: bytes) -> call.PendingChange:
        paths = (self.place.told,)
        if self._file is None or self._file.version.size <= COMPARED:
            before = self._content() if self._file else None
            return call.PendingChange("write", paths, before, data)
        state = self._file.version
        return call.PendingChange("write", paths, None, data, replaces=True, state=state)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _require_writable(self, mode: int) -> None:
        # root passes every permission check, yet a file nobody may write was locked on purpose
        if mode & 0o222 and os.access(self._name, os.W_OK, dir_fd=self._fd):
            return
        if os.fstatvfs(self._fd).f_flag & os.ST_RDONLY:
            raise refusals.refusal(OSError(errno.EROFS, ""), self.place.told, writing=True)
        raise errors.Denied(
            f"{refusals.shown(self.place.told)} is write-protected.",
            hint="Change its permissions first, or write another file.",
        )

    def _compare(self, expect: Version | None) -> None:
        call.current.get().check()
        self._compare_stamps(expect)
        if expect and expect.racy() and self._rewritten():
            raise refusals.changed_meanwhile(self.place.told)

    def _compare_stamps(self, expect: Version | None) -> None:
        try:
            status = os.stat(self._name, dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            now = None
        else:
            now = Signature.of(status) if stat.S_ISREG(status.st_mode) else None
            if now is None:
                raise refusals.changed_meanwhile(self.place.told)
        if now != expect:
            raise refusals.changed_meanwhile(self.place.told)

    def _rewritten(self) -> bool:
        """Stamps cannot tell a change this young: compare the bytes that were read."""
        return self._file is not None and self._seen is not None and self._seen != self._content()

    def _current(self) -> OpenFile | None:
        """The file as it is now; a write closed the one it replaced."""
        if self._file is None and self.version is not None:
            self._file = self._open()
        return self._file

    def _content(self) -> bytes:
        assert self._file is not None
        os.lseek(self._file.fd, 0, os.SEEK_SET)
        return self._file.read()
