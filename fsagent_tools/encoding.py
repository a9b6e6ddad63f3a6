"""Bytes to text and back, exactly: the encoding, by evidence, and its byte-order mark."""

import codecs
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from fsagent_tools.errors import BinaryFile, EncodingError
from fsagent_tools.text import newline_of

BOMS = (  # longest first: the UTF-32 mark begins with the UTF-16 one
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
MAGIC = (b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF")
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


# A byte that its encoding does not know, or a NUL, stands in a text as the private character so far
# above it: the text is valid UTF-8, is written back byte for byte, and shows the byte as `\xe9`.
_STRAY = 0x10FF00
_STRAY_IN_TEXT = re.compile("[\U0010ff00-\U0010ffff]")
_STRAY_IN_UTF8 = re.compile(rb"\xf4\x8f[\xbc-\xbf][\x80-\xbf]")
_SHOWN_STRAY = re.compile(r"\\x(00|[89a-f][0-9a-f])")
_HANDLER = "fsagent_tools.stray"
_FOREIGN = re.compile("[^\0-\x7f]")
_ASCII = bytes(range(0x80))
_CONTROLS = bytes({*range(1, 32)} - {*b"\b\t\n\v\f\r\x1b"})  # that a text does not have
_TEXT_PER_NUL = 16  # bytes of text for each run of NULs; UTF-16 has one
_DECLARING_LINE = re.compile(  # a comment of any language, or the first line of XML or CSS
    rb"[ \t\f]*(?:#|//|/\*|;|--|%|<!--|\(\*|<\?xml\b).*?coding[ \t]*[:=][ \t]*[\"\']?([\w.-]+)"
    rb"|@charset \"([\w.-]+)\""
)
_META = re.compile(rb"<meta\s[^>]{0,200}?charset\s*=\s*[\"\']?([\w.-]+)", re.IGNORECASE)
_PROSE = (".md", ".markdown")
_WESTERN = ("iso8859-1", "iso8859-15", WESTERN)  # two such letters are hardly valid UTF-8
_META_WITHIN = 1024  # bytes, by the standard of HTML
_SUPERSETS = {  # what files that declare the one really hold
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "cp950",
    "iso8859-1": WESTERN,
}

EncodingEvidence = Literal["mark", "given", "declared", "utf-8", "host", "guess"]
Assumed = Callable[[], str]  # the encoding that a host or a project has for the file, "" for none


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
    evidence: EncodingEvidence = "utf-8"
    stray: bool = False  # some bytes are kept as private characters
    name: str = ""  # of the file

    def encode(self, utf8: bytes) -> bytes:
        """`utf8` in the file's own encoding, without the mark. Raises `EncodingError`."""
        if self.encoding == "utf-8":
            return _STRAY_IN_UTF8.sub(_byte, utf8) if self.stray else utf8
        try:
            return utf8.decode().encode(self.encoding, _HANDLER)
        except UnicodeEncodeError as error:
            bad = error.object[error.start]
            raise EncodingError(
                f"The file is {self.encoding}, which cannot hold {bad!r}.",
                hint="Use other characters, or convert the file first.",
                details={"character": repr(bad)},
            ) from None

    def of_new(self, utf8: bytes, assumed: Assumed) -> "Decoded":
        """`utf8` in place of this text: in the encoding that it declares if that is another one,
        or that is assumed for a text which was ASCII so far; else in the same.
        """
        encoding, evidence = self.encoding, self.evidence
        if not self.bom and evidence != "given":
            said = declared(utf8, self.name)
            if said and said != declared(self.utf8, self.name):
                encoding, evidence = said, "declared"
            elif evidence == "utf-8" and self.utf8.isascii() and not (said or utf8.isascii()):
                encoding, evidence = assumed() or encoding, "host"
        stray = self.stray and bool(_STRAY_IN_UTF8.search(utf8))
        return replace(self, utf8=utf8, encoding=encoding, evidence=evidence, stray=stray)

    def note(self) -> str:
        """What a reader has to know of how the bytes were read."""
        notes = []
        if self.evidence == "guess":
            notes.append(guess_note(self.encoding))
        said = self.evidence == "utf-8" and declared(self.utf8, self.name)
        if said and said != "utf-8":
            notes.append(f"The file declares {said}, but it is UTF-8.")
        letters = self.evidence == "declared" and self.exact and not self.utf8.isascii()
        if letters and is_utf8(self.encode(self.utf8)):
            notes.append(f"Read as {self.encoding}, as declared; it may be UTF-8, too.")
        if self.stray:
            notes.append(_stray_note(self.utf8.split(newline_of(self.utf8)), self.encoding))
        return " ".join(notes)


def guess_note(encoding: str) -> str:
    return f"Read as {encoding}, which is a guess. Set `encoding` if letters look wrong."


def _stray_note(lines: Sequence[bytes], encoding: str) -> str:
    found = [(n, line) for n, line in enumerate(lines, 1) if has_stray(line)]
    (_, first), more = found[0], len(found) - 3
    byte = with_escapes(_STRAY_IN_TEXT.findall(first.decode())[0])
    numbers = ", ".join(str(n) for n, _ in found[:3]) + f" and {more:,} more" * (more > 0)
    one = "Line {} has" if len(found) == 1 else "Lines {} have"
    kind = "NUL bytes" if byte == r"\x00" else f"bytes that are not {encoding.upper()}"
    return f"{one.format(numbers)} {kind}, shown as `{byte}`; they are kept as they are."


def has_stray(utf8: bytes) -> bool:
    """Whether a text holds bytes as private characters."""
    return b"\xf4\x8f" in utf8 and bool(_STRAY_IN_UTF8.search(utf8))


def with_escapes(text: str) -> str:
    r"""`text` as a model sees it: stray bytes as `\xe9`."""
    if text.isascii():
        return text
    return _STRAY_IN_TEXT.sub(lambda match: f"\\x{ord(match[0]) - _STRAY:02x}", text)


def shown_bytes(utf8: bytes) -> bytes:
    """The same for UTF-8."""
    return with_escapes(utf8.decode()).encode() if has_stray(utf8) else utf8


def as_held(sent: bytes, utf8: bytes, replaced: bytes = b"") -> bytes:
    """`sent`, in which a model spelled bytes of the text `utf8` as they were shown to it, with them
    as they are held; an escape that the text has as such stays one.

    replaced: the lines in its place, which decide where they have one of the two.
    """
    if b"\\x" not in sent or not has_stray(utf8):
        return sent
    held = {shown_bytes(line): line for line in utf8.split(b"\n") if has_stray(line)}
    held |= {shown_bytes(line): line for line in replaced.split(b"\n")}

    def byte(match: re.Match[str]) -> str:
        stray, escape = chr(_STRAY + int(match[1], 16)), match[0]
        for text in (replaced, utf8):
            has_stray, has_escape = stray.encode() in text, escape.encode() in text
            if has_stray != has_escape:
                return stray if has_stray else escape
        return escape

    lines = (
        held.get(line) or _SHOWN_STRAY.sub(byte, line.decode()).encode()
        for line in sent.split(b"\n")
    )
    return b"\n".join(lines)


def as_quoted(sent: bytes, utf8: bytes) -> bytes:
    """The same for a quote, which may have the letters that the bytes are in Western encodings."""
    held = as_held(sent, utf8)
    if held in utf8 or held.isascii() or not has_stray(utf8):
        return held
    letters = {
        ord(bytes([n]).decode(WESTERN, "replace")): chr(_STRAY + n) for n in range(0x80, 256)
    }
    western = held.decode().translate(letters).encode()
    return western if western in utf8 else held


def _byte(match: re.Match[bytes]) -> bytes:
    return bytes([ord(match[0].decode()) - _STRAY])


def _keep(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeDecodeError):
        bad = error.object[error.start : error.end]
        return "".join(chr(_STRAY + byte) for byte in bad), error.end
    if isinstance(error, UnicodeEncodeError):
        text = error.object[error.start : error.end]
        if all(map(_STRAY_IN_TEXT.match, text)):  # else it is no character of the encoding
            return bytes(ord(letter) - _STRAY for letter in text), error.end
    raise error


codecs.register_error(_HANDLER, _keep)


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


def decode(raw: bytes, name: str, encoding: str | None = None, assumed: Assumed = str) -> Decoded:
    """Decode by the evidence that there is, in this order: a byte-order mark; what a caller asks
    for by `encoding`; what the text declares, unless it is plainly UTF-8; strict UTF-8; UTF-8 with
    a few other bytes; what is `assumed` for the file; a guess.

    Raises `BinaryFile` for what is not text, `EncodingError` when `encoding` does not fit.
    """
    return replace(_decoded(raw, name, encoding, assumed), name=name)


def _decoded(raw: bytes, name: str, encoding: str | None, assumed: Assumed) -> Decoded:
    if mark := mark_of(raw):
        return _transcoded(raw[len(mark[0]) :], name, mark[1], mark[0])
    if encoding and (chosen := lookup(encoding)) not in ("utf-8", "ascii"):
        return _transcoded(raw, name, chosen, b"")
    if looks_binary(raw):
        raise binary(name, len(raw))
    valid = b"\0" not in raw and is_utf8(raw)
    said = "" if encoding else declared(raw, name)
    if valid and (said in ("", "utf-8") or _is_surely_utf8(raw, said)):
        return Decoded(raw)
    if encoding and not _fits(telling(raw)[:TELLING], "utf-8"):
        raise EncodingError(f"{name} is not valid {encoding}.", hint="Leave `encoding` out.")
    if encoding:
        return _with_strays(raw, "utf-8", "given")
    return _with_strays(raw, *likely(raw, raw, assumed, name))


def likely(
    head: bytes, text: bytes, assumed: Assumed, name: str = ""
) -> tuple[str, EncodingEvidence]:
    """The encoding of a text that is not plainly UTF-8, and by which evidence."""
    sample = telling(text)[:TELLING]
    said = declared(head, name)
    if said not in ("", "utf-8"):
        superset = _SUPERSETS.get(said, said)
        if _fits(sample, superset):
            return said if _fits(sample, said, strict=True) else superset, "declared"
    if said == "utf-8" or not sample or _fits(sample, "utf-8"):
        return "utf-8", "utf-8"
    if (told := assumed()) and _fits(sample, told):
        return told, "host"
    return detect(text), "guess"


def declared(text: bytes, name: str = "") -> str:
    """The encoding that a text declares in its first two lines, or in the head of a page of HTML;
    "" where there is none that a text of single bytes can have.

    name: of the file; what would be a comment is a heading in Markdown.
    """
    head = text[:_META_WITHIN]
    if name.lower().endswith(_PROSE) or (b"oding" not in head and b"harset" not in head.lower()):
        return ""
    match = next(filter(None, map(_DECLARING_LINE.match, head.splitlines()[:2])), None)
    html = None if match or head.lstrip()[:1] != b"<" else _META.search(head)
    if not (found := match or html):
        return ""
    name = next(filter(None, found.groups())).decode("ascii", "replace").lower()
    encoding = _codec(re.sub(r"^x-|-(?:unix|dos|mac)$", "", name))
    return _SUPERSETS.get(encoding, encoding) if html else encoding  # as browsers do


def _codec(name: str) -> str:
    """The codec of that name, "" unless it reads ASCII as ASCII and knows more."""
    probe = b"\\x41 +AGE- <a>"  # what escapes, UTF-7 and UTF-16 read as other text
    try:
        if probe.decode(name) == probe.decode("ascii"):
            found = codecs.lookup(name).name
            return "" if found == "ascii" else "utf-8" if found == "utf-8-sig" else found
    except (LookupError, ValueError):
        pass
    return ""


def _is_surely_utf8(raw: bytes, said: str) -> bool:
    """Whether valid UTF-8 has so many characters that the encoding it declares looks otherwise."""
    if said in _WESTERN and not raw.isascii():
        return True
    return len(HIGH.findall(raw)) > 1 or len(telling(raw).translate(None, _ASCII)) > 3


def _fits(sample: bytes, encoding: str, *, strict: bool = False) -> bool:
    """Whether at least twice as many letters beyond ASCII fit as bytes do not; all, if `strict`."""
    text = sample.decode(encoding, _HANDLER)
    odd = len(_STRAY_IN_TEXT.findall(text))
    return not odd if strict else 2 * odd <= len(_FOREIGN.findall(text)) - odd


def with_strays(raw: bytes, encoding: str) -> bytes:
    """UTF-8 of bytes, of which those that do not fit are kept as private characters."""
    return raw.decode(encoding, _HANDLER).replace("\0", chr(_STRAY)).encode()


def _with_strays(raw: bytes, encoding: str, evidence: EncodingEvidence) -> Decoded:
    utf8 = with_strays(raw, encoding)
    found = Decoded(utf8, encoding, evidence=evidence, stray=has_stray(utf8))
    return replace(found, exact=found.encode(utf8) == raw)


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
    if raw.isascii():
        return b""
    return b"".join(line for line in raw.splitlines(keepends=True) if not line.isascii())


def looks_binary(data: bytes) -> bool:
    """Whether an unmarked file, or its head, is no text: by its signature, or by its NULs, of which
    a text has few and no other control characters.
    """
    if data.startswith(MAGIC) or data[4:8] == b"ftyp":  # of films and of pictures of phones
        return True
    if b"\0" not in data:
        return False
    text = data.replace(b"\0", b"")
    runs = len(
        re.findall(rb"\0+", data.strip(b"\0"))
    )  # a log that was cut begins or ends with them
    if (
        not text
        or runs * _TEXT_PER_NUL > len(text)
        or len(text) != len(text.translate(None, _CONTROLS))
    ):
        return True
    return not (is_utf8(text) or _fits(telling(text)[:TELLING], "utf-8"))


def check_head(head: bytes, name: str, size: int) -> None:
    """Raise `BinaryFile` for a file that begins as no text does."""
    if not mark_of(head) and looks_binary(head):
        raise binary(name, size)


def binary(name: str, size: int) -> BinaryFile:
    return BinaryFile(f"{name} is a binary file ({size:,} bytes), not text.")


def _transcoded(raw: bytes, name: str, encoding: str, bom: bytes) -> Decoded:
    if encoding == "utf-8":
        if b"\0" in raw and looks_binary(raw):
            raise binary(name, len(raw))
        found = _with_strays(raw, encoding, "mark") if b"\0" in raw or not is_utf8(raw) else None
        return Decoded(raw, bom=bom, evidence="mark") if found is None else replace(found, bom=bom)
    try:
        text = raw.decode(encoding)
        utf8, again = text.encode(), text.encode(encoding)
    except UnicodeError:
        raise EncodingError(
            f"{name} is not valid {encoding}.", hint="Name its encoding, or convert the file first."
        ) from None
    return Decoded(utf8, encoding, bom, again == raw, "mark" if bom else "given")
