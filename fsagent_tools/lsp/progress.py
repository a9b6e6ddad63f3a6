"""What a server says of its own work: whether it is at work, has read the project, or cannot."""

import time
from typing import Any, Literal

from fsagent_tools.lsp.documents import short_cause

FAILED = "Error loading workspace"  # gopls's title of what it shows as work till it is mended
_READING, _CHANGES = object(), object()  # beside the server's own tokens


class Progress:
    """`loads` is how it says that it has read the project (see `Spec`)."""

    def __init__(self, loads: Literal["", "status"]) -> None:
        self.trouble = ""  # why it has not read the project
        self.news = 0  # works begun and refreshes asked for
        self.rested = 0.0  # when it last ended one
        self._busy: set[object] = {_READING} if loads else set()  # tokens of work in progress
        self._failed = ""  # the token of the trouble

    @property
    def busy(self) -> bool:
        return bool(self._busy)

    @property
    def reading(self) -> bool:
        """It has not yet read the project."""
        return _READING in self._busy

    @property
    def expected(self) -> bool:
        """It has been told of changes on disk, and has begun no work since."""
        return _CHANGES in self._busy

    def expect(self, *, work: bool) -> None:
        """That it begins soon on changes it was told of, or no longer."""
        (self._busy.add if work else self._busy.discard)(_CHANGES)

    def status(self, params: Any) -> None:
        """Of `experimental/serverStatus`."""
        self._work(_READING, begins=not params["quiescent"])
        healthy = params.get("health") not in ("error", "warning")
        self.trouble = "" if healthy else short_cause(str(params.get("message")))

    def step(self, params: Any) -> None:
        """Of `$/progress`."""
        token, value = str(params["token"]), params["value"]
        kind = value.get("kind")
        if value.get("title") == FAILED:
            self._failed = token
        if token == self._failed:
            self.trouble = "" if kind == "end" else str(value.get("message"))
        elif kind in ("begin", "end"):
            self._work(token, begins=kind == "begin")

    def _work(self, token: object, *, begins: bool) -> None:
        if begins:
            self.news += 1
            self._busy.add(token)
            self._busy.discard(_CHANGES)
        else:
            self._busy -= {token}
            self.rested = time.monotonic()
