"""Office documents and books as Markdown, by kreuzberg and mammoth: see `apart`."""

import io
import re
from functools import partial
from typing import Any

from fsagent_tools.errors import MissingDependency, ReadFailed
from fsagent_tools.media.equations import Equations
from fsagent_tools.media.linked import beside_word
from fsagent_tools.media.parts import rewritten
from fsagent_tools.media.sheets import with_all_cells
from fsagent_tools.media.slides import with_notes

_OPEN_XML = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_WORD = ".docx"
_SLIDES = ".pptx"
_HTML = "text/html"
# Exponents and indices, which would join their base: letters in small print stay words.
_SHIFTED = re.compile(rb"<(sup|sub)>([-+]?\d+|\xe2(?:\x88\x92|\x80\x93)\d+|[A-Za-z])</\1>")
_TITLE = "p[style-name='Title'] => h1:fresh"
_DAY = re.compile(r"(?<=\| )(\d{4}-\d\d-\d\d) 00:00:00(?= \|)")  # a cell that holds no time
_TIME = re.compile(r"(?<=\| )1899-12-31 (\d\d:\d\d:\d\d)(?= \|)")  # no day: Excel's begin with 1900
_ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
OFFICE = {  # by suffix
    _WORD: f"{_OPEN_XML}wordprocessingml.document",
    ".xlsx": f"{_OPEN_XML}spreadsheetml.sheet",
    _SLIDES: f"{_OPEN_XML}presentationml.presentation",
    ".odt": f"{_OPEN_DOCUMENT}text",
    ".ods": f"{_OPEN_DOCUMENT}spreadsheet",
    ".epub": "application/epub+zip",
}


def markdown(data: bytes, suffix: str) -> str:
    """The whole document: headings, lists, tables, sheets, and slides with their charts and their
    speaker's notes; of a text also its headers, footers and charts, behind it.

    Raises `ReadFailed` for what is damaged or packed beyond measure, `MissingDependency`.
    """
    try:
        import mammoth
        from kreuzberg import ExtractionConfig, KreuzbergError, PageConfig, extract_bytes_sync
    except ImportError:
        raise MissingDependency(
            f"Reading {suffix} files needs kreuzberg and mammoth.",
            hint="pip install 'fsagent-tools[office]'",
        ) from None

    def extracted(content: bytes, kind: str, mark: str = "") -> str:
        pages = PageConfig(insert_page_markers=bool(mark), marker_format=mark or None)
        config = ExtractionConfig(output_format="markdown", use_cache=False, pages=pages)
        return extract_bytes_sync(content, kind, config).content

    try:
        if suffix == _WORD:  # of which kreuzberg loses every "&" and "<"
            equations = Equations()
            plain = rewritten(data, "word/document.xml".__eq__, equations.taken_out)
            html = _shifted(_word_html(mammoth, plain).encode())
            text = equations.put_back(extracted(html, _HTML)) if html else ""
            return f"{_ROW.sub(_narrow, text).strip()}\n\n{beside_word(data)}".strip()
        if suffix == _SLIDES:
            return with_notes(data, partial(extracted, data, OFFICE[suffix]))
        if suffix == ".epub":
            data = rewritten(data, _is_page, _shifted)
        if suffix in (".xlsx", ".ods"):
            data = with_all_cells(data, suffix)
        text = extracted(data, OFFICE[suffix]).strip()
        return _DAY.sub(r"\1", _TIME.sub(r"\1", text)) if suffix == ".xlsx" else text
    except KreuzbergError as error:
        raise _damaged(str(error).removeprefix(f"{type(error).__name__}: ")) from None


def _word_html(mammoth: Any, data: bytes) -> str:
    """Pictures are told by their type only."""
    pictures = mammoth.images.img_element(lambda picture: {"src": picture.content_type})
    try:
        page = mammoth.convert_to_html(io.BytesIO(data), convert_image=pictures, style_map=_TITLE)
        return str(page.value)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  it checks nothing of what it is given
        raise _damaged(str(error)) from None


def _damaged(reason: str) -> ReadFailed:
    return ReadFailed(f"The document cannot be read: {reason.rstrip(' .?')}.")


def _shifted(page: bytes) -> bytes:
    """HTML in which exponents and indices stand apart from their base."""
    return _SHIFTED.sub(lambda found: (b"^" if found[1] == b"sup" else b"_") + found[2], page)


def _is_page(name: str) -> bool:
    return name.lower().endswith((".xhtml", ".html", ".htm"))


def _narrow(row: re.Match[str]) -> str:
    """A row of a table without the blanks that align it for the eye."""
    return re.sub(r"-{4,}", "---", re.sub(r"(?<! ) {2,}+\|", " |", row[0]))
