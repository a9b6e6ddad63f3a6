"""What a command writes, in bounded memory: beginning and end, as a terminal shows them."""

import codecs
import os
import re
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO

CHUNK = 1 << 16
WHOLE_LINE = 2000  # bytes given up so that a cut falls between lines
MOST_KEPT = 64 << 20  # bytes of one stream that its file takes
ALL_KEPT = 256 << 20  # bytes of the files of a directory; the oldest go
_NAME = "output-"
_growing: set[str] = set()  # files that commands write to: they stay
_LONGEST_LINE = 1 << 13  # bytes in which a carriage return still overwrites
# Everything an ESC begins, and be it that ESC alone. A title, link or picture ends with its line at
# the latest, so that one without an end takes nothing but that line.
_CONTROL = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]?"  # colours, cursor: CSI
    rb"|\x1b[]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # titles, links and the like: OSC, DCS, APC
    rb"|\x1b[ -/]*[0-~]?"
    rb"|\x07"
)
_UNFINISHED = re.compile(
    rb"(\x1b\[)[0-?]*[ -/]*\Z|(\x1b[]PX^_])[^\x07\x1b\n]*(\x1b?)\Z|(\x1b)[ -/]*\Z"
)
SHOWN_NUL = rb"\x00"  # messages are kept in databases whose texts cannot hold the byte
_ERASED = re.compile(rb"[^\n\x08]\x08")


class Output:
    """The output of one command: its first and last bytes, and a count of the rest.

    What is left out is said in its place. `so_far` may be called from any thread.
    """

    def __init__(
        self,
        limit: int,
        folder: str | None = None,
        emit: Callable[[str], None] | None = None,
        redact: tuple[str, ...] = (),
    ) -> None:
        """Nothing was read yet.

        Args:
            limit: Bytes that are kept.
            folder: Where an output that is longer goes whole, into a file of its own.
            emit: Gets the text as it is read.
            redact: Regular expressions for what is neither shown nor kept; they see whole lines.
        """
        self.written = self.consumed = 0  # bytes so far, and how many of them were consumed
        self._limit, self._folder, self._emit = limit, folder, emit
        either = b"|".join(b"(?:%b)" % rule.encode() for rule in redact)
        self._redacted = re.compile(either) if redact else None
        self._lock, self._screen = threading.Lock(), Screen()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._file: IO[bytes] | None = None
        self._path = ""
        self._clear()

    def _clear(self) -> None:
        self._total, self._is_in_file = 0, False
        self._head, self._tail = bytearray(), bytearray()

    def read(self, fd: int) -> bool:
        """Take what there is; whether the stream was at its end, and is closed."""
        try:
            chunk = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        with self._lock:
            lines = self._add(self._screen.add(chunk)) if chunk else b""
        if not chunk:
            os.close(fd)
        follow = chunk.replace(b"\0", SHOWN_NUL) if self._redacted is None else lines
        if self._emit is not None and (text := self._decoder.decode(follow, not chunk)):
            self._emit(text)
        return not chunk

    def _add(self, lines: bytes) -> bytes:
        if self._redacted is not None:
            lines = self._redacted.sub(b"[redacted]", lines)
        if not (chunk := lines):
            return b""
        self.written += len(chunk)
        self._total += len(chunk)
        if self._folder and self._total > self._limit:
            self._keep(chunk)
        if room := max(0, self._limit // 2 - len(self._head)):
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        keep = self._limit - self._limit // 2
        if len(self._tail) > keep + CHUNK:
            del self._tail[:-keep]
        return lines

    def _keep(self, chunk: bytes) -> None:
        """Append to the file; nothing was left out before the first time."""
        if not self._is_in_file:
            chunk = bytes(self._head + self._tail) + chunk
        self._is_in_file = True
        try:
            if self._file is None:
                with suppress(FileNotFoundError):  # others make room, too
                    _make_room(str(self._folder))
                fd, self._path = tempfile.mkstemp(".txt", _NAME, self._folder)
                _growing.add(self._path)
                self._file = open(fd, "wb", buffering=0)  # noqa: SIM115  closed by `close`
            self._file.write(chunk[: max(0, MOST_KEPT - self._file.tell())])
        except OSError:  # a full disk costs the file, not the command
            self._folder, self._path = None, ""

    def close(self) -> None:
        """Nothing more is read."""
        with self._lock:
            self._add(self._screen.rest())
            if self._file is not None:
                self._file.close()
                _growing.discard(self._path)

    def so_far(self, *, consume: bool) -> tuple[str, bool, str]:
        """The text, whether some is left out, and the path of a file with all of it, or "".

        consume: It is given once.
        """
        with self._lock:
            self._add(self._screen.rest())
            text, truncated = self._text(), self._total > self._limit
            if consume:
                self.consumed = self.written
                self._clear()
        return text, truncated, self._path if truncated else ""

    def _text(self) -> str:
        if self._total <= self._limit:
            return (self._head + self._tail).decode(errors="replace")
        head, tail = self._head, self._tail[-(self._limit - self._limit // 2) :]
        if (end := head.rfind(b"\n") + 1) > len(head) - WHOLE_LINE:
            head = head[:end] or head
        if 0 <= (start := tail.find(b"\n") + 1) < min(WHOLE_LINE, len(tail)):
            tail = tail[start:]
        dropped = self._total - len(head) - len(tail)
        gap = f"\n[... {dropped:,} of {self._total:,} bytes left out ...]\n"
        return head.decode(errors="replace").rstrip("\n") + gap + tail.decode(errors="replace")


class Screen:
    """Turns what a program writes into whole lines without control sequences."""

    def __init__(self) -> None:
        self._line = b""  # the last one, which may still be overwritten
        self._begun = b""  # how a sequence begins whose end has not come

    def add(self, chunk: bytes) -> bytes:
        """The lines that `chunk` completes."""
        text = self._line + self._without_controls(self._begun + chunk).replace(b"\0", SHOWN_NUL)
        if b"\x08" in chunk:
            text = _ERASED.sub(b"", text)
        if b"\r" in text:
            text = b"\n".join(map(_painted, text.split(b"\n")))
        end = len(text) if len(text) - text.rfind(b"\n") > _LONGEST_LINE else text.rfind(b"\n") + 1
        self._line = text[end:]
        return text[:end]

    def rest(self) -> bytes:
        """The line that is not complete, once."""
        rest, self._line = self._line, b""
        return rest

    def _without_controls(self, text: bytes) -> bytes:
        self._begun = b""
        if b"\x1b" not in text and b"\x07" not in text:
            return text
        if unfinished := _UNFINISHED.search(text):
            self._begun = b"".join(filter(None, unfinished.groups()))
            text = text[: unfinished.start()]
        return _CONTROL.sub(b"", text)


def _painted(line: bytes) -> bytes:
    """What a progress bar left of its line."""
    end = len(line.rstrip(b"\r"))
    return line[line.rfind(b"\r", 0, end) + 1 :]


def _make_room(folder: str) -> None:
    """Remove the oldest files that nothing is added to, so that another one fits in."""
    with os.scandir(folder) as entries:
        ours = [e for e in entries if e.name.startswith(_NAME) and e.is_file(follow_symlinks=False)]
        kept = [(e.stat(follow_symlinks=False), e.path) for e in ours if e.path not in _growing]
    left = sum(status.st_size for status, _ in kept) - (ALL_KEPT - MOST_KEPT)
    for status, path in sorted(kept, key=lambda kept_file: kept_file[0].st_mtime_ns):
        if left <= 0:
            return
        os.unlink(path)
        left -= status.st_size
