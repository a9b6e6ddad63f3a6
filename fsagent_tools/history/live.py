"""Entries as they are on disk now."""

import os
from collections.abc import Iterator
from contextlib import closing
from stat import S_ISLNK

from fsagent_tools.effects import Effect
from fsagent_tools.errors import Denied, ToolError
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.history.descent import Descent
from fsagent_tools.history.states import ABSENT, State


class Disk:
    """What is at a path now; contents by the policy's leave."""

    def __init__(self, files: LocalFiles) -> None:
        self._files = files
        self._root = os.path.realpath(files.local_root)

    def state(self, path: str) -> State:
        """Of the entry itself; what only a link on the way leads to is not there."""
        try:
            root, inner = self._files.store.split(os.path.join(self._root, path))
            with closing(Descent(root)) as down:
                status = down.status(inner)
                return State.of(status, down.link(inner) if S_ISLNK(status.st_mode) else "")
        except (OSError, ToolError):
            return ABSENT

    def inside(self, path: str) -> Iterator[str]:
        """Paths of all that is in a directory."""
        top = os.path.join(self._root, path)
        for above, folders, files in os.walk(top):
            for name in folders + files:
                yield path + os.path.join(above, name).removeprefix(top)

    def read(self, path: str) -> bytes:
        """The content of a file; empty where it cannot be read."""
        try:
            with self._files.open(path) as file:
                return file.read()
        except ToolError:
            return b""

    def closed(self, path: str, effect: Effect) -> str:
        """Why the policy closes what is called so, "" if it does not."""
        try:
            self._files.policy.check_path(path, os.path.join(self._root, path), effect)
        except Denied as error:
            return error.message.rstrip(".")
        return ""
