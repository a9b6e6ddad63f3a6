"""A file's content as a session holds it: small and verified, large and unverified, or huge."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Protocol

from fsagent_tools.encoding import (
    TELLING,
    Assumed,
    Decoded,
    binary,
    check_head,
    decode,
    guess_note,
    is_utf8,
    likely,
    looks_binary,
    mark_of,
    telling,
    with_strays,
)
from fsagent_tools.errors import ReadFailed, TooLarge
from fsagent_tools.files.base import SNIFFED, Version
from fsagent_tools.files.guarded import ReadableFile
from fsagent_tools.lines.index import LineIndex
from fsagent_tools.lines.remap import carry, carry_by_hash, carry_in_place, in_place
from fsagent_tools.lines.source import Fetch, Lines, split
from fsagent_tools.notebook import Notebook
from fsagent_tools.text import NOTEBOOK, newline_of

CHECKED = 1 << 20  # bytes up to which a file is decoded and hashed as a whole when it is read
HASHED = "blake2b:"  # how the identity of a text begins; where no instruction does SHA-256, faster
LOADED = 64 << 20  # bytes up to which a read keeps the whole file in memory


class Text(Protocol):
    """The content of a file at one moment.

    raw: the bytes of the file that are in memory. lines: give UTF-8, whatever the file holds.
    identity: differs between any two contents; a big file's may differ between equal ones, too.
    """

    @property
    def raw(self) -> bytes: ...
    @property
    def lines(self) -> Lines: ...
    @property
    def identity(self) -> str: ...
    def note(self) -> str: ...


@dataclass(frozen=True)
class Stamp:
    """What a text was read as: the file's version, the encoding asked for, and when.

    assumed: the encoding that a host or a project has for the file.
    """

    version: Version | None = None
    encoding: str | None = None
    assumed: Assumed = str
    checked_ns: int = field(default_factory=time.time_ns)


@dataclass(frozen=True)
class Whole:
    """A text decoded as a whole, as an edit needs it; `lines` are those of `decoded`."""

    raw: bytes
    decoded: Decoded
    lines: Lines
    version: str

    @classmethod
    def of(cls, raw: bytes, decoded: Decoded, version: str) -> "Whole":
        return cls(raw, decoded, Lines.of(decoded.utf8, newline_of(decoded.utf8)), version)

    def verified(self, _name: str, _assumed: Assumed) -> "Whole":
        return self

    def note(self) -> str:
        return self.decoded.note()

    @cached_property
    def identity(self) -> str:
        if len(self.raw) > CHECKED:
            return f"version:{self.version}"
        return f"{HASHED}{blake2b(self.raw, digest_size=32).hexdigest()}"

    def known_as(self, identity: str) -> None:
        """It is the text that had this `identity` before: a small one needs no hash then."""
        if len(self.raw) <= CHECKED and identity.startswith(HASHED):
            vars(self).setdefault("identity", identity)


@dataclass(frozen=True)
class Unverified:
    """A large text in memory that nobody decoded: windows of it are, when they are shown."""

    raw: bytes
    lines: Lines
    version: str

    @classmethod
    def of(cls, raw: bytes, version: str, assumed: Assumed) -> "Unverified":
        lines = Lines.of(raw, newline_of(raw))
        partly = _Partly(lambda _: raw, raw[:SNIFFED], assumed)
        return cls(raw, lines.through(lines.fetch, partly), version)

    def verified(self, name: str, assumed: Assumed) -> Whole:
        """Raises `BinaryFile`, `EncodingError`."""
        decoded = decoded_file(self.raw, name, None, assumed)
        if decoded.utf8 is not self.raw:
            return Whole.of(self.raw, decoded, self.version)
        return Whole(self.raw, decoded, self.lines.through(self.lines.fetch, None), self.version)

    @property
    def identity(self) -> str:
        return f"version:{self.version}"

    def note(self) -> str:
        return _note_of(self.lines)


@dataclass(frozen=True)
class Windowed:
    """A huge text on disk, read through the handle that is open now; `start`: after its mark."""

    lines: Lines
    start: int
    identity: str
    raw: bytes = b""

    def through(self, file: ReadableFile) -> "Windowed":
        """The same text by another handle."""
        fetch = _fetch(file, self.start)
        return replace(self, lines=self.lines.through(fetch, self.lines.to_utf8))

    def note(self) -> str:
        return _note_of(self.lines)


def whole_text(raw: bytes, name: str, stamp: Stamp, before: Text | None) -> Whole:
    """`raw` decoded; `before` if it holds the same. Raises `BinaryFile`, `EncodingError`."""
    if isinstance(before, Whole | Unverified) and before.raw == raw:
        return before.verified(name, stamp.assumed)
    decoded = decoded_file(raw, name, stamp.encoding, stamp.assumed)
    return Whole.of(raw, decoded, str(stamp.version))


def open_text(file: ReadableFile, stamp: Stamp, before: Text | None) -> Text:
    """The text of an open file; `before` if it holds the same, read as the same.

    Raises `BinaryFile`, `EncodingError`, `TooLarge`, `ReadFailed`.
    """
    if file.version.size > LOADED and not stamp.encoding:
        return _windowed(file, stamp.assumed)
    raw, name = whole_bytes(file), file.place.told
    if isinstance(before, Whole | Unverified) and before.raw == raw:
        return before
    head = raw[:SNIFFED]
    is_whole = stamp.encoding or len(raw) <= CHECKED or name.lower().endswith(NOTEBOOK)
    if is_whole or looks_binary(head) or mark_of(head):
        return whole_text(raw, name, stamp, None)
    return Unverified.of(raw, str(stamp.version), stamp.assumed)


def decoded_file(raw: bytes, name: str, encoding: str | None, assumed: Assumed) -> Decoded:
    """A notebook as its cells, any other text as it is. Raises like `decode`."""
    cells = Notebook.of(raw) if name.lower().endswith(NOTEBOOK) and not encoding else None
    return cells or decode(raw, name, encoding, assumed)


def whole_bytes(file: ReadableFile) -> bytes:
    """All of a file of text. Raises `BinaryFile` by its first bytes, and `TooLarge`."""
    if file.version.size > SNIFFED:
        check_head(file.pread(SNIFFED, 0), file.place.told, file.version.size)
    file.check_whole()
    return file.read()


def carried(index: LineIndex, before: Text | None, text: Text) -> LineIndex:
    """The index of `before`, or of a text that is gone, as it is for `text`."""
    lines = text.lines
    if index.empty:
        return LineIndex(lines.count)
    if isinstance(text, Windowed):
        return carry_in_place(index, lines)
    new = lines.raw(0, lines.count)
    if before is None or isinstance(before, Windowed):
        kept = in_place(index, lines)
        return index if kept else carry_by_hash(index, split(new, lines.newline))
    old = before.lines.raw(0, before.lines.count)
    if old == new:
        return index
    return carry(index, split(old, before.lines.newline), split(new, lines.newline))


def taken_away(before: Text | None, text: Text) -> set[bytes]:
    """Lines of the text before that are not in this one; only small texts are looked at."""
    every = [set[bytes](), set[bytes]()]
    for lines, one in zip(every, (before, text), strict=True):
        if not isinstance(one, Whole) or len(one.raw) > CHECKED:
            return set()
        lines.update(one.lines.between(0, one.lines.count))
    return every[0] - every[1]


def _windowed(file: ReadableFile, assumed: Assumed) -> Windowed:
    name, size = file.place.told, file.version.size
    head = file.pread(SNIFFED, 0)
    mark = mark_of(head)
    if mark and mark[1] != "utf-8":
        raise TooLarge(f"{name} is {mark[1]} and too large to convert.")
    if looks_binary(head):
        raise binary(name, size)
    start = len(mark[0]) if mark else 0
    fetch = _fetch(file, start)
    lines = Lines(fetch, size - start, newline_of(file.pread(CHECKED, 0)))
    partly = _Partly(_telling, head, assumed, "utf-8" if mark else "")
    return Windowed(lines.through(fetch, partly), start, f"version:{file.version}")


def _fetch(file: ReadableFile, base: int) -> Fetch:
    def fetch(start: int, stop: int) -> bytes:
        found = file.pread(stop - start, start + base)
        if len(found) < stop - start:
            raise ReadFailed(
                f"{file.place.told} became shorter while it was read.", hint="Read it again."
            )
        return found

    return fetch


@dataclass
class _Partly:
    """Makes UTF-8 of parts of a text nobody decodes; a line reads the same in each of them."""

    sample: Callable[[Lines], bytes]  # by which its encoding is told, once
    head: bytes
    assumed: Assumed
    encoding: str = ""
    guessed: bool = False

    def __call__(self, lines: Lines, raw: bytes) -> bytes:
        if b"\0" not in raw and is_utf8(raw):
            return raw
        if not self.encoding:
            self.encoding, evidence = likely(self.head, self.sample(lines) or raw, self.assumed)
            self.guessed = evidence == "guess"
        return b"".join(map(self._line, raw.splitlines(keepends=True)))

    def _line(self, raw: bytes) -> bytes:
        fits = b"\0" not in raw and is_utf8(raw)
        return raw if fits else with_strays(raw, self.encoding)


def _note_of(lines: Lines) -> str:
    """What a reader has to know of how parts of a large text were read."""
    partly = lines.to_utf8
    if isinstance(partly, _Partly) and partly.guessed:
        return guess_note(partly.encoding)
    return ""


def _telling(lines: Lines) -> bytes:
    """The first lines by which `detect` tells, but for those between two blocks."""
    found = b""
    for start in range(0, lines.size, CHECKED):
        block = lines.fetch(start, min(lines.size, start + CHECKED))
        if not block.isascii():
            first = block.find(lines.newline) + 1 if start else 0
            found += telling(block[first : block.rfind(lines.newline) + 1])
        if len(found) >= TELLING:
            break
    return found


def is_of(stored: Mapping[str, Any], stamp: Stamp, text: Text) -> bool:
    """Whether a stored index is of this very text."""
    version = stamp.version
    if version and stored["signature"] == str(version) and not version.racy(stored["checked_ns"]):
        return True
    identity = str(stored["content_hash"])
    return identity.startswith(HASHED) and identity == text.identity
