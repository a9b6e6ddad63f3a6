"""Standard input and output as the wire of a server: one turn of a thread for each message."""

import os
import select
from collections.abc import AsyncIterator
from contextlib import suppress

from anyio import to_thread

_PIECE = 1 << 16


class Incoming:
    """The lines that the client sends. They end with the input, and when nobody reads `answers`:
    who closes only that end waits for nothing any more.
    """

    def __init__(self, descriptor: int, answers: int) -> None:
        self._from, self._answers, self._got = descriptor, answers, bytearray()
        self._events = select.poll()
        self._events.register(descriptor, select.POLLIN)
        self._events.register(answers, 0)  # errors and a closed other end are told all the same

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await to_thread.run_sync(self._line):
            yield line

    def _line(self) -> str:
        seen = 0
        while (end := self._got.find(b"\n", seen) + 1) == 0:
            seen = len(self._got)
            if self._answers in dict(self._events.poll()):
                return ""
            if not (piece := os.read(self._from, _PIECE)):
                end = seen
                break
            self._got += piece
        line = self._got[:end].decode(errors="replace")
        del self._got[:end]
        return line


class Outgoing:
    """What is written goes out at once when it is flushed; without a reader it is lost."""

    def __init__(self, descriptor: int) -> None:
        self._to, self._text = descriptor, ""

    async def write(self, text: str) -> None:
        self._text += text

    async def flush(self) -> None:
        text, self._text = self._text, ""
        await to_thread.run_sync(self._sent, text.encode())

    def _sent(self, data: bytes) -> None:
        left = memoryview(data)
        with suppress(BrokenPipeError):
            while left:
                left = left[os.write(self._to, left) :]
