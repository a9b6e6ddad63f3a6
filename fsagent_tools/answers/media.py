"""Files that are no plain text, as lines to read and pictures to see: PDF, images, notebooks."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from fsagent_tools.errors import BinaryFile, ReadFailed, ToolError
from fsagent_tools.media import image, pdf
from fsagent_tools.results import Block
from fsagent_tools.text import binary, clip

PDF = b"%PDF-"
PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*")
NOTEBOOK = ".ipynb"
MOST_OUTPUT = 1500  # characters of one output of a notebook's cell

Pictures = Mapping[int, Callable[[], Block | None]]


@dataclass(frozen=True)
class Media:
    """`pictures`: 0-based line that stands for a picture -> how to make it, None if that fails."""

    lines: list[str]
    pictures: Pictures


MediaReader = Callable[[bytes, str, str | None], Media | None]  # content, name, pages


def reader(head: bytes) -> MediaReader | None:
    """How to read what begins with `head`, None for what is neither a PDF nor an image."""
    if head.startswith(PDF):
        return _document
    picture = head.startswith(PICTURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
    return _picture if picture else None


def _document(data: bytes, name: str, pages: str | None) -> Media:
    try:
        found = pdf.pages(data, pages)
    except ReadFailed as error:
        raise ReadFailed(f"{name}: {error.message}") from None
    lines: list[str] = []
    pictures: dict[int, Callable[[], Block | None]] = {}
    for number, text in found.pages:
        lines.append(f"--- page {number} of {found.total} ---")
        if number in found.scanned:
            pictures[len(lines)] = partial(_rendered, data, number)
            lines.append("(a scanned page: see its picture)")
        lines += text.split("\n") if text else []
    return Media(lines, pictures)


def _picture(data: bytes, name: str, pages: str | None) -> Media:
    try:
        picture = image.prepare_image(data)
    except BinaryFile:
        raise binary(name, len(data)) from None
    size = f"{picture.width} x {picture.height} pixels"
    scaled = max(picture.width, picture.height) > image.LONGEST_EDGE
    shown = f", shown at {image.LONGEST_EDGE} at most" if scaled else ""
    kind = picture.mime_type
    block = Block("image", kind, picture.data)
    return Media([f"{name}: {kind}, {size}{shown}, {len(data):,} bytes"], {0: lambda: block})


def _rendered(data: bytes, page: int) -> Block:
    return _block(pdf.page_image(data, page))


def _block(data: bytes) -> Block:
    picture = image.prepare_image(data)
    return Block("image", picture.mime_type, picture.data)


def _drawn(data: bytes) -> Block | None:
    """A picture among other output: one that cannot be shown costs nothing but itself."""
    try:
        return _block(data)
    except ToolError:
        return None


def notebook(data: bytes, name: str, pages: str | None) -> Media | None:
    """The cells of a Jupyter notebook (format 4), numbered from 1; None for any other text."""
    try:
        cells = json.loads(data)["cells"]
        lines: list[str] = []
        pictures: dict[int, Callable[[], Block | None]] = {}
        for number, cell in enumerate(cells, 1):
            lines.append(f"--- cell {number} of {len(cells)}: {cell['cell_type']} ---")
            lines += _text(cell["source"]).split("\n")
            for output in cell.get("outputs", ()):
                lines.append("output:")
                text, drawing = _output(output)
                if drawing:
                    pictures[len(lines)] = partial(_drawn, drawing)
                lines += clip(text, MOST_OUTPUT).split("\n")
        return Media(lines, pictures)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _output(output: Mapping[str, Any]) -> tuple[str, bytes]:
    """What a cell printed, and the picture it drew, if there is one that can be shown."""
    if output["output_type"] == "stream":
        return _text(output["text"]).rstrip("\n"), b""
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}", b""
    data = output.get("data", {})
    for kind in ("image/png", "image/jpeg"):
        if kind in data:
            return f"(a picture, {kind})", base64.b64decode(_text(data[kind]))
    return _text(data.get("text/plain", "")) or f"({', '.join(data) or 'nothing'})", b""


def _text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)
