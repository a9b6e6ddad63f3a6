"""Standard input and output as the wire of a server: one turn of a thread for each message."""

import json
import os
import re
import select
from collections.abc import AsyncIterator
from contextlib import suppress

from anyio import Lock, to_thread

_PIECE = 1 << 16
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # half of a character, mostly with its other half
_INVALID = -32602  # of JSON-RPC: parameters


class Incoming:
    """The lines that the client sends. They end with the input, and when nobody reads `answers`:
    who closes only that end waits for nothing any more. replies: answers what the SDK cannot read.
    """

    def __init__(self, descriptor: int, answers: int, replies: "Outgoing") -> None:
        self._from, self._answers, self._got = descriptor, answers, bytearray()
        self._replies = replies
        self._events = select.poll()
        self._events.register(descriptor, select.POLLIN)
        self._events.register(answers, 0)  # errors and a closed other end are told all the same

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await to_thread.run_sync(self._line):
            if _SURROGATE.search(line) and (refusal := _refusal(line)):
                await self._replies.write(refusal)
                await self._replies.flush()
            else:
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
        self._to, self._text, self._turn = descriptor, "", Lock()

    async def write(self, text: str) -> None:
        self._text += text

    async def flush(self) -> None:
        async with self._turn:
            text, self._text = self._text, ""
            await to_thread.run_sync(self._sent, text.encode())

    def _sent(self, data: bytes) -> None:
        left = memoryview(data)
        with suppress(BrokenPipeError):
            while left:
                left = left[os.write(self._to, left) :]


def _refusal(line: str) -> str:
    """The answer to a request with a lone surrogate, "" for any other line."""
    with suppress(ValueError, RecursionError):
        message = json.loads(line)
        try:
            json.dumps(message, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            if isinstance(message, dict) and "method" in message and "id" in message:
                told = "The request has a lone surrogate, which is not a character."
                error = {"code": _INVALID, "message": f"{told} Nothing was done."}
                answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
                return json.dumps(answer) + "\n"
    return ""
