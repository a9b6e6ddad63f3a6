"""What servers say of a text that is being written: asked beside the write, which hardly waits."""

import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING

from fsagent_tools.errors import ToolError
from fsagent_tools.problems import Problem
from fsagent_tools.runtime.shadows import Thread

if TYPE_CHECKING:
    from fsagent_tools.lsp.checked import Checked

LINT_TIMEOUT = 0.4  # seconds a write waits for servers
LINT_START = 30.0  # seconds the server may take behind the back of that write


def asked_beside(
    check: "Callable[[str, float], Checked]", turn: Lock
) -> Callable[[str], list[Problem] | None]:
    """A function from text to problems, None where no server for the file is installed or none
    answers in `LINT_TIMEOUT` seconds from now, all calls together.

    check: given a text and seconds. A question that no write waits for any more goes on, so that a
    server that is still starting is there for the next one. turn: held while one is under way,
    of each file one: else all those that came too late would stand before every new one.
    """
    until = time.monotonic() + LINT_TIMEOUT

    def problems(text: str) -> list[Problem] | None:
        told: SimpleQueue[Checked | None] = SimpleQueue()

        def work() -> None:
            checked = None
            try:
                with suppress(ToolError):
                    checked = check(text, LINT_START)
            finally:
                turn.release()
                told.put(checked)

        if not turn.acquire(timeout=max(until - time.monotonic(), 0)):
            return None
        try:
            Thread(target=work, name="lsp-lint", daemon=True).start()
        except RuntimeError:  # the system gives no further thread
            turn.release()
            return None
        try:
            checked = told.get(timeout=max(until - time.monotonic(), 0))
        except Empty:
            return None
        if checked is None or not checked.told:
            return None
        undecided = checked.those("silent", "old", "unfinished", "failed")
        if undecided or (checked.unchecked and not checked.problems):
            return None
        return checked.problems

    return problems
