"""What a download says, in the format that was asked for, by its content type."""

import re
from dataclasses import dataclass
from typing import Literal

from fsagent_tools.encoding import looks_binary
from fsagent_tools.errors import BinaryFile
from fsagent_tools.media import apart
from fsagent_tools.media.image import Picture
from fsagent_tools.media.office import OFFICE
from fsagent_tools.results import Block
from fsagent_tools.web import converted
from fsagent_tools.web.charset import decode_page
from fsagent_tools.web.clean import visible
from fsagent_tools.web.clock import Clock
from fsagent_tools.web.fetch import Download

Format = Literal["markdown", "text", "html"]
SUFFIXES = {kind: suffix for suffix, kind in OFFICE.items()}
HTML_TYPES = {"text/html", "application/xhtml+xml"}
TEXT_TYPES = re.compile(
    r"text/.*|.*[/+](json|xml|yaml|toml)"
    r"|application/(x-)?(javascript|ecmascript|yaml|toml|sh|sql|ndjson|jsonl|graphql|tex|rtf|latex)"
)
MAX_SCANS = 5  # pages of a scanned PDF that are shown as pictures


@dataclass(frozen=True)
class Page:
    """The whole text of a page, cleaned, and its pictures; `site` and `refresh` as in `Content`."""

    text: str
    title: str = ""
    blocks: tuple[Block, ...] = ()
    site: str = ""
    refresh: str = ""


def page_of(download: Download, wanted: Format, clock: Clock) -> Page:
    """HTML as `wanted`; JSON indented; PDF as text; an image as a block; other text as it is.

    Raises `BinaryFile` for anything else, `TooLarge`, `TimedOut`, `MissingDependency`.
    """
    clock.doing = f"converting {len(download.body):,} bytes from {download.url.host}"
    kind, body = download.content_type, download.body
    if body.startswith(b"%PDF-"):
        return _pdf(body, clock)
    if kind.startswith("image/") and kind != "image/svg+xml":
        return _image(body, clock)
    if kind in SUFFIXES and body.startswith(b"PK"):
        return Page(visible(apart.office_text(body, SUFFIXES[kind], clock.left())))
    if not _textual(kind, body):
        raise BinaryFile(
            f"{download.url} is {kind or 'of no stated type'} ({len(body):,} bytes), not text.",
            hint="Pages, text, JSON, feeds, PDF, office documents and images can be fetched.",
        )
    source = decode_page(body, download.headers.get("content-type", ""))
    if kind in HTML_TYPES or (kind in ("", "text/plain") and _looks_html(source)):
        if wanted != "html":
            return _apart("html", source, clock, str(download.url), wanted)
    elif kind.endswith(("json", "xml")) and wanted != "html":
        return _apart("data", source, clock, kind)
    return Page(visible(source))


def _apart(name: str, source: str, clock: Clock, *arguments: str) -> Page:
    left = clock.left()
    return Page(**apart.ask(name, source.encode(), [*arguments, left], left, converted.__name__))


def _textual(kind: str, body: bytes) -> bool:
    if TEXT_TYPES.fullmatch(kind):
        return True
    unknown = kind in ("", "application/octet-stream", "binary/octet-stream")
    return unknown and not looks_binary(body[:8192])


def _looks_html(source: str) -> bool:
    return bool(re.match(r"\s*(<!doctype\s+html|<html\b)", source[:1000], re.IGNORECASE))


def _pdf(body: bytes, clock: Clock) -> Page:
    """Each page's text; the first few of those that are only scanned as pictures."""
    found = apart.pdf_text(body, None, clock.left())
    notes = dict.fromkeys(found.scanned, "(scanned; not shown)")
    shown = found.scanned[:MAX_SCANS]
    drawn = apart.pdf_pictures(body, shown, clock.left()) if shown else []
    notes |= dict.fromkeys(shown[: len(drawn)], "(scanned; shown as an image)")
    text = "\n\n".join(
        f"--- page {number} of {found.total} ---\n{notes.get(number, said)}"
        for number, said in found.pages
    )
    rest = f"\n\n(page {found.unread} and the rest took too long)" if found.unread else ""
    return Page(visible(text) + rest, blocks=tuple(map(_picture, drawn)))


def _image(body: bytes, clock: Clock) -> Page:
    found = apart.read_picture(body, clock.left())
    return Page(f"(image, {found.width} x {found.height} pixels)", blocks=(_picture(found),))


def _picture(found: Picture) -> Block:
    return Block("image", found.mime_type, found.data)
