"""What a server says of its own work: whether it is busy, and why it could not load the project."""

import re
import time
from typing import Any

from fsagent_tools.lsp.servers import ServerSpec


class ServerStatus:
    """Made of a server's notifications; `trouble` is "" or why it does not know the project."""

    def __init__(self, spec: ServerSpec) -> None:
        self.trouble = ""
        self.died = False  # the process that checks for it
        self.news = 0  # works begun and refreshes asked for
        self.rested = 0.0  # when the last work ended
        self._died = re.compile(spec.died) if spec.died else None
        self._trouble = re.compile(spec.trouble) if spec.trouble else None
        self._busy = {"loading"} if spec.reports_loading else set[str]()  # tokens of work

    @property
    def busy(self) -> bool:
        return bool(self._busy)

    @property
    def loading(self) -> bool:
        """It has not read the project yet, by its own words."""
        return "loading" in self._busy

    def take(self, method: str, params: Any) -> None:
        """A notification. Raises as malformed ones let Python do."""
        if method == "experimental/serverStatus":  # rust-analyzer's
            self._work("loading", begins=not params["quiescent"])
            healthy = params.get("health") not in ("error", "warning")
            self.trouble = "" if healthy else _cause(str(params.get("message")))
        elif method in ("window/logMessage", "window/showMessage"):
            self._hear(str(params["message"]))
        elif method == "$/progress":
            value = params["value"]
            is_trouble = self._hear(f"{value.get('title', '')}: {value.get('message', '')}")
            if value.get("kind") in ("begin", "end") and not is_trouble:
                self._work(str(params["token"]), begins=value["kind"] == "begin")

    def _hear(self, message: str) -> bool:
        """Whether it tells of trouble."""
        self.died = self.died or bool(self._died and self._died.search(message))
        found = self._trouble.search(message) if self._trouble else None
        if found:
            self.trouble = _cause(found[found.lastindex or 0])
        return bool(found)

    def _work(self, token: str, *, begins: bool) -> None:
        if begins:
            self.news += 1
            self._busy.add(token)
        else:
            self._busy.discard(token)
            self.rested = time.monotonic()


def _cause(message: str) -> str:
    """The first and the last part of what the first line says (`a: b: error: c`)."""
    head, _, reasons = message.strip().partition("\n")[0].strip().removesuffix(".").partition(": ")
    last = reasons.rpartition("error: ")[2]
    return f"{head}: {last}" if last else head
