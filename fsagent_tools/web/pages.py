"""What a download says, in the format that was asked for, by its content type."""

import codecs
import re
from dataclasses import dataclass
from typing import Literal

from fsagent_tools.deadline import Deadline
from fsagent_tools.encoding import BOMS, detect, is_utf8, looks_binary
from fsagent_tools.errors import BinaryFile
from fsagent_tools.media import apart
from fsagent_tools.media.image import Picture
from fsagent_tools.media.office import OFFICE
from fsagent_tools.results import Block
from fsagent_tools.sanitize import visible
from fsagent_tools.web.client import Download

Format = Literal["markdown", "text", "html"]
SUFFIXES = {kind: suffix for suffix, kind in OFFICE.items()}
HTML_TYPES = {"text/html", "application/xhtml+xml"}
TEXT_TYPES = re.compile(
    r"text/.*|.*[/+](json|xml|yaml|toml)"
    r"|application/(x-)?(javascript|ecmascript|yaml|toml|sh|sql|ndjson|jsonl|graphql|tex|rtf|latex)"
)
EMPTY = "(the page has no text without JavaScript; format='html' shows its source)"
MAX_SCANS = 5  # pages of a scanned PDF that are shown as pictures
CHARSET_WITHIN = 4096  # bytes from the start in which a page says its charset
CHARSET = re.compile(
    rb"""<(?:meta\b[^<>]{0,300}?\bcharset|\?xml\b[^<>]{0,100}?\bencoding)\s*=\s*["']?([\w.:+-]{2,40})""",
    re.IGNORECASE,
)
LATIN1 = {"iso8859-1", "ascii", "cp1252"}  # a server's default more often than a fact
SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"}
STATEFUL = re.compile(rb"[\x00\x1b]")  # UTF-16 and ISO-2022 text is also valid UTF-8


@dataclass(frozen=True)
class Page:
    """The whole text of a page, cleaned, and its pictures.

    site: what links that begin with a slash start from. refresh: where it sends its reader.
    """

    text: str
    title: str = ""
    blocks: tuple[Block, ...] = ()
    site: str = ""
    refresh: str = ""


def page_of(download: Download, wanted: Format, deadline: Deadline) -> Page:
    """HTML as `wanted`; JSON indented; PDF as text; an image as a block; other text as it is.

    Raises `BinaryFile` for anything else, `TooLarge`, `TimedOut`, `MissingDependency`.
    """
    deadline.doing = f"converting {len(download.body):,} bytes from {download.url.host}"
    kind, body = download.content_type, download.body
    if body.startswith(b"%PDF-"):
        return _pdf(body, deadline)
    if kind.startswith("image/") and kind != "image/svg+xml":
        parts = apart.read_picture(body, deadline.left())
        size = f"(image, {parts[0].width} x {parts[0].height} pixels)"
        return Page(size, blocks=tuple(map(_block, parts)))
    if kind in SUFFIXES and body.startswith(b"PK"):
        return Page(visible(apart.office_text(body, SUFFIXES[kind], deadline.left())))
    if not _is_text(kind, body):
        raise BinaryFile(
            f"{download.url} is {kind or 'of no stated type'} ({len(body):,} bytes), not text.",
            hint="Pages, text, JSON, feeds, PDF, office documents and images can be fetched.",
        )
    source = decode_page(body, download.headers.get("content-type", ""))
    is_html = re.match(r"\s*(<!doctype\s+html|<html\b)", source[:1000], re.IGNORECASE)
    if kind in HTML_TYPES or (kind in ("", "text/plain") and is_html):
        if wanted != "html":
            return _converted("html", source, deadline, str(download.url), wanted)
    elif kind.endswith(("json", "xml")) and wanted != "html":
        return _converted("data", source, deadline, kind)
    return Page(visible(source))


def decode_page(raw: bytes, content_type: str = "") -> str:
    """By mark, as UTF-8 where all of it is that, by the header's charset, by the page's own.

    Latin-1 in a header counts last, and means Windows-1252 as in browsers (WHATWG Encoding, 4.2).
    A byte that its charset does not know is one U+FFFD.
    """
    for mark, name in BOMS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(name, "replace")
    said = re.search(r"charset\s*=\s*[\"']?([\w.:+-]{2,40})", content_type, re.IGNORECASE)
    found = CHARSET.search(raw[:CHARSET_WITHIN])
    header = _codec(said[1]) if said else ""
    own = _codec(found[1].decode("ascii", "replace")) if found else ""
    if own.startswith(("utf-16", "utf-32")):
        own = ""  # what could be read as ASCII up to here is not that (HTML, 13.2.3.3)
    label = header if header and header not in LATIN1 else own or header
    if is_utf8(raw) and not (label and STATEFUL.search(raw[:CHARSET_WITHIN])):
        return raw.decode()
    if label and label not in LATIN1:
        return raw.decode(label, "replace")
    damaged = raw.decode("utf-8", "replace")
    if damaged.count("\ufffd") <= 0.02 * (len(raw) - len(raw.decode("ascii", "ignore"))):
        return damaged
    high = len(raw) - len(raw.decode("ascii", "ignore"))
    is_western = label and high <= sum(map(raw.count, b"aeiourstn"))  # accents among plain letters
    guess = "cp1252" if is_western else detect(raw)
    return raw.decode("cp1252" if guess in LATIN1 else guess, "replace")


def _codec(label: str) -> str:
    """The codec for a label, "" for one that is unknown or no charset of the web."""
    try:
        info = codecs.lookup(label)
        "".encode(info.name)
    except (LookupError, ValueError):
        return ""
    return "" if info.name == "utf-7" else SUPERSETS.get(info.name, info.name)


def _is_text(kind: str, body: bytes) -> bool:
    if TEXT_TYPES.fullmatch(kind):
        return True
    unknown = kind in ("", "application/octet-stream", "binary/octet-stream")
    return unknown and not looks_binary(body[:8192])


def _converted(name: str, source: str, deadline: Deadline, *arguments: str) -> Page:
    module = "fsagent_tools.web.convert"  # which imports what only the reader needs
    found = apart.ask(name, source.encode(), [*arguments], deadline.left(), module)
    return Page(**{**found, "text": found["text"] or EMPTY})


def _pdf(body: bytes, deadline: Deadline) -> Page:
    """Each page's text; the first few of those that are only scanned as pictures."""
    found = apart.pdf_text(body, None, deadline.left())
    notes = dict.fromkeys(found.scanned, "(scanned; not shown)")
    shown = found.scanned[:MAX_SCANS]
    drawn = apart.pdf_pictures(body, shown, deadline.left()) if shown else []
    notes |= dict.fromkeys(shown[: len(drawn)], "(scanned; shown as an image)")
    text = "\n\n".join(
        f"--- page {number} of {found.total} ---\n{notes.get(number, said)}"
        for number, said in found.pages
    )
    rest = f"\n\n(page {found.unread} and the rest took too long)" if found.unread else ""
    return Page(visible(text) + rest, blocks=tuple(map(_block, drawn)))


def _block(picture: Picture) -> Block:
    return Block("image", picture.mime_type, picture.data)
