"""A line on standard error that says how far a long run is."""

import sys
import time


class Progress:
    """`step()` after each piece of work; redrawn twice a second, and only for people."""

    def __init__(self, what: str, whole: int) -> None:
        self.what, self.whole, self.done = what, whole, 0
        self.begun = self.drawn = time.monotonic()

    def step(self) -> None:
        self.done += 1
        now = time.monotonic()
        if now - self.drawn > 0.5 or self.done == self.whole:
            self.drawn = now
            left = (now - self.begun) / self.done * (self.whole - self.done)
            self.say(f"{self.what}: {self.done:,} of {self.whole:,}, {left:,.0f} s left")

    def say(self, text: str) -> None:
        if sys.stderr.isatty():
            end = "\n" if self.done == self.whole else ""
            print(f"\r\033[K{text}", end=end, file=sys.stderr, flush=True)
