"""Files that are no plain text, as lines to read and pictures to see."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from fsagent_tools.encoding import binary
from fsagent_tools.errors import BinaryFile, ReadFailed, TooLarge
from fsagent_tools.media.office import OFFICE
from fsagent_tools.notebook import Notebook
from fsagent_tools.results import Block
from fsagent_tools.text import NOTEBOOK
from fsagent_tools.toolkit.formats import HEAD
from fsagent_tools.workspace import lazy

if TYPE_CHECKING:
    from fsagent_tools.media.image import Picture

PDF = b"%PDF-"
PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"\0\0\1\0")
ZIP = b"PK\3\4"
DOCUMENTS = (".pdf", NOTEBOOK, *OFFICE)
MAX_BINARY = 20 << 20  # bytes of a document or picture


@dataclass(frozen=True)
class Media:
    """pictures: 0-based line that stands for a picture -> its number. draw: makes those of these
    numbers, None for one that fails; fewer when they take too long.
    """

    lines: list[str]
    pictures: Mapping[int, int] = field(default_factory=dict)
    draw: Callable[[Sequence[int]], Sequence[Block | None]] | None = None


MediaReader = Callable[[bytes, str, str | None], Media | None]  # content, name, pages


def reader(head: bytes, name: str) -> MediaReader | None:
    """How to read what begins with `head`, None for what is no document and no picture."""
    if head.startswith(PDF):
        return _document
    if head.startswith(ZIP) and name.lower().endswith((*OFFICE,)):
        return _office
    picture = head.startswith(PICTURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
    return _picture if picture or head[4:12] == b"ftypavif" else None


def document_text(data: bytes, name: str) -> str:
    """The lines of a document, for a search; any other file as it is. Raises like `read`."""
    if name.lower().endswith(NOTEBOOK):
        cells = Notebook.of(data)
        return (cells.utf8 if cells else data).decode("utf-8", "replace")
    other = reader(data[:HEAD], name)
    media = other and other(data, name, None)
    return "\n".join(media.lines) if media else data.decode("utf-8", "replace")


def _document(data: bytes, name: str, pages: str | None) -> Media:
    try:
        found = lazy.apart.pdf_text(data, pages)
    except ReadFailed as error:
        raise ReadFailed(f"{name}: {error.message}") from None
    lines: list[str] = []
    pictures: dict[int, int] = {}
    for number, text in found.pages:
        lines.append(f"--- page {number} of {found.total} ---")
        if number in found.scanned:
            pictures[len(lines)] = number
            lines.append("(a scanned page: see its picture)")
        lines += text.split("\n") if text else []
    if found.unread:
        lines.append(f"(page {found.unread} and the rest took too long: ask for them by `pages`)")
    return Media(lines, pictures, lambda numbers: _blocks(lazy.apart.pdf_pictures(data, numbers)))


def _office(data: bytes, name: str, pages: str | None) -> Media:
    try:
        text = lazy.apart.office_text(data, PurePath(name.lower()).suffix)
    except (ReadFailed, TooLarge) as error:
        raise type(error)(f"{name}: {error.message}") from None
    return Media(text.split("\n") if text else ["(no text was found in it)"])


def _picture(data: bytes, name: str, pages: str | None) -> Media:
    try:
        parts = lazy.apart.read_picture(data)
    except BinaryFile:
        raise binary(name, len(data)) from None
    except TooLarge as error:
        raise TooLarge(f"{name}: {error.message}") from None
    picture = parts[0]
    size = f"{picture.width} x {picture.height} pixels"
    scaled = max(picture.width, picture.height) > lazy.image.LONGEST_EDGE
    shown = f", shown at {lazy.image.LONGEST_EDGE} at most" if scaled else ""
    if len(parts) > 1:
        shown = f", shown in {len(parts)} parts from the top down"
    line = f"{name}: {picture.kind}, {size}{shown}, {len(data):,} bytes"
    more = [f"part {number} of {len(parts)}" for number in range(2, len(parts) + 1)]
    pictures = {at: at for at in range(len(parts))}
    return Media([line, *more], pictures, lambda numbers: _blocks([parts[n] for n in numbers]))


def notebook_blocks(data: bytes, numbers: Sequence[int]) -> tuple[Block, ...]:
    """Pictures in a notebook: those that cannot be shown cost nothing but themselves."""
    try:
        drawn = lazy.apart.notebook_pictures(data, numbers) if numbers else ()
        return tuple(filter(None, _blocks(drawn)))
    except TooLarge:
        return ()


def _blocks(pictures: "Sequence[Picture | None]") -> list[Block | None]:
    return [Block("image", each.mime_type, each.data) if each else None for each in pictures]
