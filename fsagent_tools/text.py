"""Bytes to text and back, exactly: encoding, byte-order mark, line endings, clipping."""

import codecs
import re
from collections.abc import Sequence
from contextlib import suppress

from fsagent_tools.errors import BinaryFile, EncodingError
from fsagent_tools.records import dataclass

BOMS = (  # longest first: the UTF-32 mark begins with the UTF-16 one
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
MAGIC = (b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF")
NOTEBOOK = ".ipynb"  # the name of a text that is read as cells
SNIFFED = 8192  # bytes of a file's head that decide whether it is text
MAX_LINE_CHARS = 2000  # of one line shown; the limit of the file-operations reference
TELLING = 64 * 1024  # bytes of lines outside ASCII by which an encoding is detected
_CHUNK = 1 << 16  # bytes whose characters, four bytes wide, stay in a processor's cache
WESTERN = "cp1252"
LEGACY = {  # what the detector names, as the superset of it that the web uses
    "iso-8859-1": WESTERN,
    "iso-8859-15": "iso8859-15",
    "iso-8859-2": "iso8859-2",
    "iso-8859-5": "iso8859-5",
    "iso-8859-7": "iso8859-7",
    "iso-8859-8": "iso8859-8",
    "iso-8859-9": "cp1254",
    **{f"windows-{page}": f"cp{page}" for page in range(1250, 1259)},
    "ibm866": "cp866",
    "koi8-r": "koi8-r",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "euc-jp": "euc-jp",
    "iso-2022-jp": "iso2022-jp",
    "gb18030": "gb18030",
    "big5": "cp950",
    "euc-kr": "cp949",
    "uhc": "cp949",
}
SURE = 0.6  # of 1: the detector's confidence that is believed in a text of few words
HIGH = re.compile(rb"[\x80-\xff]+")
EAST_ASIAN = (  # lead bytes of the common characters, punctuation and full-width forms included
    ("cp949", frozenset({0xA1, *range(0xB0, 0xC9)})),
    ("euc-jp", frozenset({0xA1, 0xA4, 0xA5, *range(0xB0, 0xD0)})),
    ("gb18030", frozenset({0xA1, 0xA3, *range(0xB0, 0xD8)})),
)


@dataclass(frozen=True)
class Decoded:
    """A file's text as UTF-8 bytes without its mark, and what is needed to write it back.

    `utf8` is the file itself (mark removed) when it is UTF-8, so offsets in it are file offsets.
    `exact` is False when encoding it again would not give the same bytes: read, never edit.
    """

    utf8: bytes
    encoding: str = "utf-8"
    bom: bytes = b""
    exact: bool = True

    def encode(self, utf8: bytes) -> bytes:
        """`utf8` in the file's own encoding, without the mark. Raises `EncodingError`."""
        if self.encoding == "utf-8":
            return utf8
        try:
            return utf8.decode().encode(self.encoding)
        except UnicodeEncodeError as error:
            bad = error.object[error.start]
            raise EncodingError(
                f"The file is {self.encoding}, which cannot hold {bad!r}.",
                hint="Use other characters, or convert the file first.",
            ) from None


def encoded(text: str, name: str) -> bytes:
    """`text` in UTF-8. Raises `EncodingError`, which names the argument, for a lone surrogate."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise EncodingError(
            f"`{name}` holds {error.object[error.start]!r}, a lone surrogate, which cannot be "
            "encoded. Nothing was written.",
            hint="Send the character itself or its escape as text.",
        ) from None


def decode(raw: bytes, name: str, encoding: str | None = None) -> Decoded:
    """Decode by BOM, then strict UTF-8, then a detector; `encoding` overrides all but a BOM.

    Raises `BinaryFile` for what is not text, `EncodingError` when `encoding` does not fit.
    """
    if mark := mark_of(raw):
        return _transcoded(raw[len(mark[0]) :], name, mark[1], mark[0])
    if encoding and (chosen := lookup(encoding)) not in ("utf-8", "ascii"):
        return _transcoded(raw, name, chosen, b"")
    if looks_binary(raw[:SNIFFED]) or b"\0" in raw:
        raise binary(name, len(raw))
    if is_utf8(raw):
        return Decoded(raw)
    if encoding:
        raise EncodingError(f"{name} is not valid {encoding}.", hint="Leave `encoding` out.")
    return _transcoded(raw, name, detect(raw), b"")


def mark_of(head: bytes) -> tuple[bytes, str] | None:
    """The byte-order mark that a file begins with and the encoding it stands for."""
    return next((mark for mark in BOMS if head.startswith(mark[0])), None)


def lookup(encoding: str) -> str:
    """The codec's canonical name. Raises `EncodingError` for an unknown or non-text one."""
    try:
        info = codecs.lookup(encoding)
        "a".encode(encoding)
    except (LookupError, ValueError):
        raise EncodingError(
            f"`encoding`: {encoding[:40]!r} is not a text encoding.",
            hint="Use a name such as 'utf-8'.",
        ) from None
    return info.name


def is_utf8(raw: bytes) -> bool:
    """Strictly valid UTF-8; decoded in blocks, since a wide string costs four bytes a character."""
    if raw.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(raw), _CHUNK):
            decoder.decode(raw[start : start + _CHUNK], start + _CHUNK >= len(raw))
    except UnicodeDecodeError:
        return False
    return True


def detect(raw: bytes) -> str:
    """The most likely encoding of text that is neither marked nor UTF-8; latin-1 holds any byte.

    It is one whose line ends are those of ASCII, so that a part of a text has the lines it shows.
    What is seldom used is taken for the Western European text that a few words of it resemble.
    """
    import cchardet

    sample = telling(raw)[:TELLING]
    found = cchardet.detect(sample)
    name, sure = str(found["encoding"]).lower(), found["confidence"] or 0
    doubtful = name == "big5" or sure < SURE
    for encoding in ((doubtful and _east_asian(sample)) or LEGACY.get(name), WESTERN):
        with suppress(UnicodeError):
            if encoding and raw.decode(encoding).encode(encoding):
                return encoding
    return "latin-1"


def _east_asian(sample: bytes) -> str:
    """The encoding in which all of at least two pairs of high bytes are common characters.

    The detector takes such short texts for Big5, or for single bytes. "" where it may be right.
    """
    high = HIGH.findall(sample)
    pairs = [run[i : i + 2] for run in high for i in range(0, len(run), 2)]
    if len(pairs) < 2:
        return WESTERN  # one character is a sign among Western letters
    if any(len(pair) < 2 or min(pair) < 0xA1 for pair in pairs):
        return ""
    leads = {pair[0] for pair in pairs}
    kana = {0xA4, 0xA5}
    return next(
        (
            name
            for name, common in EAST_ASIAN
            if leads <= common and (name != "euc-jp" or leads & kana)
        ),
        "",
    )


def telling(raw: bytes) -> bytes:
    """The lines outside ASCII."""
    return b"".join(line for line in raw.splitlines(keepends=True) if not line.isascii())


def looks_binary(head: bytes) -> bool:
    """True for NUL bytes and well-known signatures in the first bytes of an unmarked file."""
    return b"\0" in head or head.startswith(MAGIC)


def binary(name: str, size: int) -> BinaryFile:
    return BinaryFile(f"{name} is a binary file ({size:,} bytes), not text.")


def newline_of(utf8: bytes) -> bytes:
    r"""What ends a line: `\n` (also for `\r\n`), or `\r` in a file that has no `\n` at all."""
    return b"\r" if b"\n" not in utf8 and b"\r" in utf8 else b"\n"


def clip(text: str, limit: int, beyond: int = 0) -> str:
    """At most `limit` characters, saying how many are hidden; `beyond` is not even in `text`."""
    more = len(text) - limit + beyond
    return text if more <= 0 else f"{text[:limit]}… [{more:,} more characters]"


def first_lines(text: str, most: int, widest: int, rest: str) -> str:
    """At most so many lines, clipped; `rest` follows the number of the others."""
    lines = text.split("\n")
    shown = [clip(line, widest) for line in lines[:most]]
    if more := len(lines) - len(shown):
        shown.append(f"({more:,} more lines{rest})")
    return "\n".join(shown)


def some(names: Sequence[str], most: int) -> str:
    """The first `most` of them, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def unclipped(quote: str) -> str:
    """What `clip` left of a text, without what it says of the rest."""
    return re.sub(r"… \[[\d,]+ more characters\]\s*$", "", quote)


def unescaped(text: bytes) -> bytes:
    """`text` without the escapes written out in it, as `\\n` for the end of a line."""
    if b"\\" not in text:
        return text
    signs = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
    return re.sub(rb"\\([nrt\"'`\\])", lambda m: signs.get(m[1], m[1]), text)


def in_quotes(text: str) -> str:
    """In quotes, with nothing escaped: a model copies what it sees."""
    return f'"{text}"' if "'" in text and '"' not in text else f"'{text}'"


def shorten(text: str, limit: int) -> str:
    """`text` on one line, at most `limit` characters, the last a "…" where some are missing."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _transcoded(raw: bytes, name: str, encoding: str, bom: bytes) -> Decoded:
    if encoding == "utf-8":
        if not is_utf8(raw):
            raise binary(name, len(raw))
        return Decoded(raw, bom=bom)
    try:
        text = raw.decode(encoding)
        utf8, again = text.encode(), text.encode(encoding)
    except UnicodeError:
        raise EncodingError(
            f"{name} is not valid {encoding}.", hint="Name its encoding, or convert the file first."
        ) from None
    return Decoded(utf8, encoding, bom, exact=again == raw)
