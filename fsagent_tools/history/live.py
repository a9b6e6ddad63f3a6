"""Entries as they are on disk now."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fsagent_tools.effects import Effect
from fsagent_tools.errors import Denied, ToolError
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.history.states import ABSENT, State


class Disk:
    """What is at a path now; contents by the policy's leave."""

    def __init__(self, files: LocalFiles) -> None:
        self._files = files
        self._root = os.path.realpath(files.local_root)

    def state(self, path: str) -> State:
        """Of the entry itself."""
        whole = Path(self._root, path)
        try:
            status = whole.lstat()
            return State.of(status, str(whole.readlink()) if whole.is_symlink() else "")
        except OSError:
            return ABSENT

    def read(self, path: str) -> bytes:
        """The content of a file; empty where it cannot be read."""
        try:
            with self._files.open(path) as file:
                return file.read()
        except ToolError:
            return b""

    def live(self, path: str) -> tuple[State, Callable[[], bytes]]:
        return self.state(path), partial(self.read, path)

    def closed(self, path: str, effect: Effect) -> str:
        """Why the policy closes what is called so, "" if it does not."""
        try:
            self._files.policy.check_path(path, str(Path(self._root, path)), effect)
        except Denied as error:
            return error.message.rstrip(".")
        return ""
