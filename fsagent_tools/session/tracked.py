"""One file as a session knows it: its bytes, its lines with IDs, what was shown of them."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Any, Protocol, TypeVar

from fsagent_tools.errors import ReadFailed, TooLarge
from fsagent_tools.files.port import Version
from fsagent_tools.lines.carry import carry, carry_by_hash, carry_in_place, in_place
from fsagent_tools.lines.document import Seen
from fsagent_tools.lines.index import LineIndex
from fsagent_tools.lines.source import Fetch, Lines, Window, split
from fsagent_tools.text import (
    SNIFFED,
    TELLING,
    Decoded,
    binary,
    decode,
    detect,
    is_utf8,
    looks_binary,
    mark_of,
    newline_of,
    telling,
)

_T = TypeVar("_T")

CHECKED = 1 << 20  # bytes up to which a file is decoded and hashed as a whole when it is read
HASHED = "blake2b:"  # how the identity of a text begins; where no instruction does SHA-256, faster
LOADED = 64 << 20  # bytes up to which a read keeps the whole file in memory


class Readable(Protocol):
    """What a file is read from: `OpenFile` or `Target`."""

    def read(self) -> bytes: ...
    def pread(self, size: int, offset: int) -> bytes: ...


@dataclass
class Tracked:
    """State of one file; its owner holds `lock` while using it.

    raw: the file's bytes, None when it is too large. decoded: None while a big file is taken for
    UTF-8 without having been verified. encoding: the one that the caller asked for. shown: the
    content that the model saw last, or its identity. token: version of the stored index this one
    equals.
    """

    relative: str
    lock: threading.RLock = field(default_factory=threading.RLock)
    signature: Version | None = None
    checked_ns: int = 0
    raw: bytes | None = None
    decoded: Decoded | None = None
    encoding: str | None = None
    lines: Lines | None = None
    index: LineIndex | None = None
    seen: Seen = field(default_factory=Seen)
    token: object = None
    shown: bytes | str = ""
    _hashed: tuple[bytes | None, str] = (None, "")
    _made: tuple[object, Lines | None, LineIndex | None, Any] = (None, None, None, None)

    @property
    def modified(self) -> float:
        """When the file was last changed, in seconds since 1970."""
        return self.signature.mtime_ns / 1e9 if self.signature else 0.0

    @property
    def content_hash(self) -> str:
        return f"sha256:{sha256(self.raw or b'').hexdigest()}"

    @property
    def identity(self) -> str:
        """The content's hash; of a big file its signature, which costs nothing and is stricter."""
        if self.raw is None or len(self.raw) > CHECKED:
            return f"signature:{self.signature}"
        if self._hashed[0] is not self.raw:
            self._hashed = (self.raw, f"{HASHED}{blake2b(self.raw, digest_size=32).hexdigest()}")
        return self._hashed[1]

    def shown_now(self) -> bool:
        """Whether the model saw the content as it is now."""
        return self.shown is self.raw or self.shown in (self.raw, self.identity)

    def current(self, now: Version, encoding: str | None, *, whole: bool) -> bool:
        """Whether what is in memory is surely the file with signature `now`, read as asked for."""
        loaded = self.raw is not None or not whole
        same = self.lines is not None and self.signature == now and self.encoding == encoding
        return same and loaded and not now.racy(self.checked_ns)

    def drop(self) -> None:
        """Free the text, unless the file is in use; the index, with its line hashes, stays."""
        if self.lock.acquire(blocking=False):
            self.shown = self.identity if self.shown_now() else ""
            self._hashed = (None, "")
            self._made = (None, None, None, None)
            self.raw = self.decoded = self.lines = None
            self.lock.release()

    def load(self, file: Readable, now: Version, encoding: str | None, *, whole: bool) -> None:
        """Bring bytes, lines and index to the file's present content.

        whole: read and decode all of it, as editing needs. Raises `BinaryFile`, `EncodingError`,
        `TooLarge`, `ReadFailed`.
        """
        started = time.time_ns()
        old_raw, old_lines = self.raw, self.lines
        if whole or now.size <= LOADED:
            raw = file.read()
            if raw != old_raw or encoding != self.encoding:
                self._take(raw, encoding, verify=whole)
                self._carry(old_lines if old_raw is not None else None)
        else:
            self._open(file, now)
            self.index = self.settle(self.index) if self.index else None
        self.signature, self.checked_ns, self.encoding = now, started, encoding

    def once(self, key: object, make: Callable[[], _T]) -> _T:
        """What `make` gave for `key`, as long as neither text nor index is another since."""
        made_for, lines, index, made = self._made
        if lines is not self.lines or index is not self.index or made_for != key:
            made = make()
            self._made = (key, self.lines, self.index, made)
        result: _T = made
        return result

    def advance(self, raw: bytes, decoded: Decoded, lines: Lines, now: Version) -> None:
        """The file was just written: it holds `raw` and reads as `lines`."""
        if newline_of(decoded.utf8) != lines.newline:  # the last line feed went, or the first came
            fresh = _lines_of(decoded)
            self.index = carry(self.index, _all(lines), _all(fresh)) if self.index else None
            lines = fresh
        self.raw, self.decoded, self.lines = raw, decoded, lines
        self.signature, self.checked_ns = now, time.time_ns()

    def settle(self, index: LineIndex) -> LineIndex:
        """A stored index, whose text is gone, as it is for the lines there are now."""
        if self.raw is None:
            return carry_in_place(index, self._lines)
        if in_place(index, self._lines):
            return index
        return carry_by_hash(index, _all(self._lines))

    def rebind(self, file: Readable) -> None:
        """Read a file that is not in memory through the handle that is open now."""
        if self.raw is None and self.lines is not None:
            mark = len(self.decoded.bom) if self.decoded else 0
            self.lines.fetch = self._through(file, mark)

    def verify(self, encoding: str | None = None) -> None:
        """Decode the whole text unless that was done: before an edit, or when it is no UTF-8."""
        if self.decoded is None and self.raw is not None:
            self.decoded = decode(self.raw, self.relative, encoding)
            if self.decoded.utf8 is not self.raw:
                self.lines = _lines_of(self.decoded)

    def fitting(self, start: int, stop: int, most: int, each: int) -> Window:
        """`Lines.fitting`, in UTF-8."""
        return self._text(lambda: self._lines.fitting(start, stop, most, each))

    def window(self, start: int, stop: int) -> Window:
        """`Lines.window`, in UTF-8."""
        return self._text(lambda: self._lines.window(start, stop))

    def size(self, start: int, stop: int) -> int:
        """Bytes of lines `start` to `stop` in the file, with their endings."""
        return self._lines.offset(stop) - self._lines.offset(start)

    def _text(self, fetch: Callable[[], Window]) -> Window:
        """What `fetch` gives, decoded should a file in memory turn out to be no UTF-8."""
        window = fetch()
        if self.decoded is not None or self.raw is None or is_utf8(window.raw):
            return window
        self.verify()
        return fetch()

    @property
    def _lines(self) -> Lines:
        assert self.lines is not None
        return self.lines

    def _take(self, raw: bytes, encoding: str | None, *, verify: bool) -> None:
        head = raw[:SNIFFED]
        decoded = None
        if verify or len(raw) <= CHECKED or looks_binary(head) or mark_of(head):
            decoded = decode(raw, self.relative, encoding)
        self.raw, self.decoded = raw, decoded
        self.lines = _lines_of(decoded or Decoded(raw))

    def _open(self, file: Readable, now: Version) -> None:
        head = file.pread(SNIFFED, 0)
        mark = mark_of(head)
        if mark and mark[1] != "utf-8":
            raise TooLarge(f"{self.relative} is {mark[1]} and too large to convert.")
        if looks_binary(head):
            raise binary(self.relative, now.size)
        bom = mark[0] if mark else b""
        newline = newline_of(file.pread(CHECKED, 0))
        lines = Lines(self._through(file, len(bom)), now.size - len(bom), newline)
        lines.utf8 = _Partly(lines, "utf-8" if bom else "")
        self.raw, self.decoded = None, Decoded(b"", bom=bom) if bom else None
        self.lines = lines

    def _carry(self, old: Lines | None) -> None:
        if self.index is None:
            return
        lines = self._lines
        if old is not None and old.fetch(0, old.size) == lines.fetch(0, lines.size):
            return
        self.index = carry(self.index, _all(old), _all(lines)) if old else self.settle(self.index)

    def _through(self, file: Readable, base: int) -> Fetch:
        def fetch(start: int, stop: int) -> bytes:
            found = file.pread(stop - start, start + base)
            if len(found) < stop - start:
                raise ReadFailed(
                    f"{self.relative} became shorter while it was read.", hint="Read it again."
                )
            return found

        return fetch


@dataclass
class _Partly:
    """Makes UTF-8 of parts of a file too large to decode; a line reads the same in each of them."""

    lines: Lines
    encoding: str = ""

    def __call__(self, raw: bytes) -> bytes:
        if is_utf8(raw):
            return raw
        self.encoding = self.encoding or detect(self._telling() or raw)
        return b"".join(map(self._line, raw.splitlines(keepends=True)))

    def _line(self, raw: bytes) -> bytes:
        for encoding in ("utf-8", self.encoding):
            with suppress(UnicodeError):
                return raw.decode(encoding).encode()
        return raw.decode(errors="replace").encode()

    def _telling(self) -> bytes:
        """The first lines of the file by which `detect` tells, but for those between two blocks."""
        newline, size = self.lines.newline, self.lines.size
        found = b""
        for start in range(0, size, CHECKED):
            block = self.lines.fetch(start, min(size, start + CHECKED))
            if not block.isascii():
                first = block.find(newline) + 1 if start else 0
                found += telling(block[first : block.rfind(newline) + 1])
            if len(found) >= TELLING:
                break
        return found


def _lines_of(decoded: Decoded) -> Lines:
    return Lines.of(decoded.utf8, newline_of(decoded.utf8))


def _all(lines: Lines) -> list[bytes]:
    return split(lines.fetch(0, lines.size), lines.newline)
