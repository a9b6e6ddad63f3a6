"""One deadline for a whole fetch: resolving, connecting, reading, converting."""

import time

from fsagent_tools.call import current
from fsagent_tools.errors import TimedOut

POLL = 0.05  # seconds between two looks at the deadline and the cancel flag
PROGRESS = 1.0  # seconds between two progress messages


class Deadline:
    """Starts when it is made; whoever waits calls `check`. `doing` says what the time goes into."""

    def __init__(self, seconds: float, doing: str) -> None:
        self.seconds = seconds
        self.doing = doing
        self._call = current.get()
        self._ends = time.monotonic() + seconds
        self._reported = time.monotonic()

    def left(self) -> float:
        """Seconds. Raises like `check`."""
        self.check()
        return max(0.01, self._ends - time.monotonic())

    def check(self) -> None:
        """Report progress when it is due. Raises `TimedOut` or `Cancelled`."""
        self._call.check()
        now = time.monotonic()
        if now >= self._ends:
            raise TimedOut(
                f"Not done within {self.seconds:g} s (timeout): {self.doing}.",
                hint="Try again later, use another source, or raise `timeout`.",
            )
        if self._call.emit and now - self._reported >= PROGRESS:
            self._reported = now
            self._call.say(f"{self.doing}\n")
