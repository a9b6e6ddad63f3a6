"""The text and the look of PDF pages, read by PDFium, which is not thread-safe: see `apart`."""

import io
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fsagent_tools.errors import InvalidArguments, MissingDependency, ReadFailed
from fsagent_tools.media.image import BUDGET, LONGEST_EDGE, Picture, prepare_image

SCANNED_BELOW = 8  # characters; a page with less that holds a picture is taken for a scan


@dataclass(frozen=True)
class PdfText:
    """`pages`: (1-based number, text); `scanned`: numbers of those that are only a picture.

    unread: the first page for which there was no time, None if there was for all.
    """

    pages: tuple[tuple[int, str], ...]
    total: int
    scanned: tuple[int, ...]
    unread: int | None = None


def pages(data: bytes, spec: str | None) -> PdfText:
    """The text of the pages `spec` names, such as "1-3,7" or "5-" (None: all of them).

    Raises `InvalidArguments` (pages), `ReadFailed` for a damaged or locked file,
    `MissingDependency`.
    """
    begun, unread = time.process_time(), None
    with _document(data) as document:
        found: list[tuple[int, str]] = []
        scanned: list[int] = []
        for number in chosen(spec, len(document)):
            if found and time.process_time() - begun > BUDGET:
                unread = number
                break
            page = document[number - 1]
            content = page.get_textpage()
            text = content.get_text_bounded().replace("\r\n", "\n").strip()
            if len(text) < SCANNED_BELOW and any(page.get_objects(filter=[3], max_depth=2)):
                scanned.append(number)
            found.append((number, text))
            content.close()
            page.close()
        return PdfText(tuple(found), len(document), tuple(scanned), unread)


def page_pictures(data: bytes, numbers: Sequence[int]) -> list[Picture]:
    """These pages (1-based) as pictures, their longest edge 1,568 pixels; fewer when they take too
    long. Raises like `pages`.
    """
    begun, found = time.process_time(), list[Picture]()
    with _document(data) as document:
        for number in numbers:
            if found and time.process_time() - begun > BUDGET:
                break
            page, out = document[number - 1], io.BytesIO()
            bitmap = page.render(scale=LONGEST_EDGE / max(*page.get_size(), 1.0))
            bitmap.to_pil().save(out, "PNG")
            bitmap.close()
            page.close()
            found.append(prepare_image(out.getvalue()))
    return found


def chosen(spec: str | None, total: int) -> list[int]:
    """The page numbers of "1-3,7,9-", in order and once each. Raises `InvalidArguments`."""
    if spec is None:
        return list(range(1, total + 1))
    numbers: set[int] = set()
    for part in spec.replace(" ", "").split(","):
        match = re.fullmatch(r"(\d{1,6})(-?)(\d{0,6})", part)
        if not match or (match[3] and not match[2]):
            raise InvalidArguments(f"pages: {spec[:40]!r} is not like '3' or '1-3,7'.")
        first = int(match[1])
        last = int(match[3]) if match[3] else total if match[2] else first
        if not 1 <= first <= last or first > total:
            raise InvalidArguments(f"pages: {part!r} is not within 1-{total}.")
        numbers.update(range(first, min(last, total) + 1))
    return sorted(numbers)


@contextmanager
def _document(data: bytes) -> Iterator[Any]:
    try:
        import pypdfium2
    except ImportError:
        raise MissingDependency(
            "Reading PDF needs pypdfium2.", hint="pip install 'fsagent-tools[media]'"
        ) from None
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise ReadFailed("The PDF is locked with a password: ask for an open copy.") from None
        raise ReadFailed(f"The PDF cannot be read: {str(error).rstrip('.')}.") from None
    try:
        yield document
    except pypdfium2.PdfiumError as error:
        raise ReadFailed(f"The PDF is damaged: {error}.") from None
    finally:
        document.close()
