"""What a command writes: one pipe or two, read as they come and kept in bounded memory."""

import codecs
import os
import re
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fsagent_tools.process.output import CHUNK, SHOWN_NUL, Output, Screen, share


class Spoken(NamedTuple):
    """both: all of it in the order in which it was read. output, stderr: the two streams, or all of
    it and nothing where they share a pipe. whole: path of a file that holds all of it, "" where
    nothing was left out.
    """

    output: str
    stderr: str
    both: str
    truncated: bool
    whole: str


class Streams:
    """Standard output and standard error. `output_so_far` may be called from any thread.

    limit: bytes kept of both together. folder: where a stream that is longer goes whole. emit: gets
    the text as it is read. separate: each has a pipe of its own; one pipe keeps their order.
    redact: regular expressions for what is neither shown nor kept; they see whole lines.
    """

    def __init__(
        self,
        limit: int,
        folder: str | None,
        emit: Callable[[str], None] | None,
        *,
        separate: bool = False,
        redact: tuple[str, ...] = (),
    ) -> None:
        self.emit = emit
        self.written = self.consumed = 0  # bytes so far, and how many of them were consumed
        self._limit = limit
        either = b"|".join(b"(?:%b)" % rule.encode() for rule in redact)
        self._redacted = re.compile(either) if redact else None
        self._lock = threading.Lock()
        self._both = Output(limit, folder)
        self._outputs = (Output(limit), Output(limit)) if separate else (self._both,)
        self._screens = [Screen() for _ in self._outputs]
        self._read_from: dict[int, tuple[Output, Screen, codecs.IncrementalDecoder]] = {}

    def begin(self, fds: Sequence[int]) -> None:
        """Read from these descriptors, in the order of the streams; they are closed here."""
        decoder = codecs.getincrementaldecoder("utf-8")
        for fd, output, screen in zip(fds, self._outputs, self._screens, strict=True):
            os.set_blocking(fd, False)
            self._read_from[fd] = output, screen, decoder("replace")

    @property
    def open(self) -> list[int]:
        """The descriptors that have not come to their end."""
        return [*self._read_from]

    def read(self, fd: int) -> bool:
        """Take what there is; whether the stream was at its end, and is closed."""
        output, screen, decoder = self._read_from[fd]
        try:
            chunk = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        lines = b""
        if chunk:
            with self._lock:
                lines = self._add(output, screen.add(chunk))
        else:
            del self._read_from[fd]
            os.close(fd)
        follow = chunk.replace(b"\0", SHOWN_NUL) if self._redacted is None else lines
        if self.emit is not None and (text := decoder.decode(follow, not chunk)):
            self.emit(text)
        return not chunk

    def close(self) -> None:
        """Nothing more is read."""
        while self._read_from:
            os.close(self._read_from.popitem()[0])
        with self._lock:
            self._tell_rest()
            self._both.close()

    def _add(self, output: Output, lines: bytes) -> bytes:
        if self._redacted is not None:
            lines = self._redacted.sub(b"[redacted]", lines)
        if lines:
            self.written += len(lines)
            output.add(lines)
            if output is not self._both:
                self._both.add(lines)
        return lines

    def _tell_rest(self) -> None:
        for output, screen in zip(self._outputs, self._screens, strict=True):
            self._add(output, screen.rest())

    def output_so_far(self, *, consume: bool) -> Spoken:
        """What is known now. consume: it is given once."""
        with self._lock:
            self._tell_rest()
            both, apart = self._both.text(self._limit), self._outputs
            limits = share(*apart, self._limit) if len(apart) > 1 else (self._limit,)
            pairs = list(zip(apart, limits, strict=True))
            truncated = any(output.total > limit for output, limit in pairs)
            whole = self._both.path if truncated else ""
            output, stderr = (*(output.text(limit) for output, limit in pairs), "")[:2]
            if consume:
                self.consumed = self.written
                for stream in (*apart, self._both):
                    stream.clear()
        return Spoken(output, stderr, both, truncated, whole)
