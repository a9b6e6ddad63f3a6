"""An open directory of the local file system: its entries, and the way down, never by a link."""

import errno
import os

from fsagent_tools.files import refusals
from fsagent_tools.files.open_file import READ, OpenFile, WithBlock
from fsagent_tools.files.port import Listed, Place
from fsagent_tools.policy import Policy

_BENEATH = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_NO_DIRECTORY = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # gone since it was listed, or a link


class LocalDirectory(WithBlock):
    """See `port.Directory`; `fd` is its descriptor."""

    __slots__ = ("_below", "_policy", "_top", "fd")

    def __init__(self, fd: int, top: Place, policy: Policy, below: str = "") -> None:
        """Takes over `fd`, opened at the path `below` beneath `top`."""
        self.fd, self._top, self._policy, self._below = fd, top, policy, below

    @property
    def place(self) -> Place:
        return self._top.inside(self._below)

    @property
    def identity(self) -> tuple[int, int]:
        status = os.fstat(self.fd)
        return status.st_dev, status.st_ino

    def entries(self) -> list[Listed]:
        try:
            with os.scandir(self.fd) as scan:
                return list(scan)
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None

    def enter(self, name: str) -> "LocalDirectory | None":
        try:
            fd = os.open(name, _BENEATH, dir_fd=self.fd)
        except OSError as error:
            if error.errno in _NO_DIRECTORY:
                return None
            raise refusals.refusal(error, name) from None
        below = f"{self._below}/{name}" if self._below else name
        return LocalDirectory(fd, self._top, self._policy, below)

    def open(self, name: str) -> OpenFile:
        place = self.place.inside(name)
        try:
            fd = os.open(name, READ | os.O_NOFOLLOW, dir_fd=self.fd)
        except OSError as error:
            raise refusals.refusal(error, place.told) from None
        return OpenFile(fd, place, self._policy)

    def close(self) -> None:
        os.close(self.fd)
