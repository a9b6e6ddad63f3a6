"""Office documents and books as Markdown, by kreuzberg and mammoth: see `apart`."""

import io
import re
from typing import Any

from fsagent_tools.errors import MissingDependency, ReadFailed

_OPEN_XML = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_WORD = ".docx"
_TITLE = "p[style-name='Title'] => h1:fresh"
_ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
OFFICE = {  # by suffix
    _WORD: f"{_OPEN_XML}wordprocessingml.document",
    ".xlsx": f"{_OPEN_XML}spreadsheetml.sheet",
    ".pptx": f"{_OPEN_XML}presentationml.presentation",
    ".odt": f"{_OPEN_DOCUMENT}text",
    ".ods": f"{_OPEN_DOCUMENT}spreadsheet",
    ".epub": "application/epub+zip",
}


def markdown(data: bytes, suffix: str) -> str:
    """The document as kreuzberg reads it: headings, lists, tables, sheets and slides.

    Raises `ReadFailed` for what is damaged or packed beyond measure, `MissingDependency`.
    """
    try:
        import mammoth
        from kreuzberg import ExtractionConfig, KreuzbergError, extract_bytes_sync
    except ImportError:
        raise MissingDependency(
            f"Reading {suffix} files needs kreuzberg and mammoth.",
            hint="pip install 'fsagent-tools[media]'",
        ) from None
    kind = OFFICE[suffix]
    if suffix == _WORD:  # kreuzberg drops every "&" and "<" of Word, but none of HTML
        data, kind = _word_html(mammoth, data).encode(), "text/html"
        if not data:
            return ""
    config = ExtractionConfig(output_format="markdown", use_cache=False)
    try:
        text = extract_bytes_sync(data, kind, config).content.strip()
    except KreuzbergError as error:
        raise _damaged(str(error).removeprefix(f"{type(error).__name__}: ")) from None
    return _ROW.sub(_narrow, text) if suffix == _WORD else text


def _word_html(mammoth: Any, data: bytes) -> str:
    """Only the type of each picture is kept."""
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


def _narrow(row: re.Match[str]) -> str:
    """A row of a table without the blanks that align it for the eye."""
    return re.sub(r"-{4,}", "---", re.sub(r"(?<! ) {2,}+\|", " |", row[0]))
