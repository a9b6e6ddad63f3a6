"""What a document has in parts of its own, which its converter passes over: charts, headers and
footers.
"""

import io
import zlib
from posixpath import join, normpath, split
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a plain read has no use for them
    from xml.etree.ElementTree import Element
    from zipfile import ZipFile

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
DAMAGE = (KeyError, ValueError, SyntaxError, NotImplementedError, OSError)  # of XML, too
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_MOST = 16 << 20  # bytes of a part, unpacked, up to which it is looked at
_POINTS = 50  # of a series that are shown


def related(archive: "ZipFile", path: str) -> list[tuple[str, str, str]]:
    """(name, kind, path) of what a part refers to. Raises `DAMAGE` as all here does."""
    folder, name = split(path)
    found = parsed(archive, f"{folder}/_rels/{name}.rels")
    return [
        (link.get("Id", ""), link.get("Type", "").rpartition("/")[2], _path(folder, link))
        for link in found
    ]


def parsed(archive: "ZipFile", path: str) -> "Element":
    from xml.etree.ElementTree import fromstring
    from zipfile import BadZipFile

    if archive.getinfo(path).file_size > _MOST:
        raise ValueError(path)
    try:
        data = archive.read(path)
    except (zlib.error, BadZipFile, EOFError, RuntimeError):  # the last for what is encrypted
        raise ValueError(path) from None
    return fromstring(data)


def left_out(path: str) -> str:
    """Told in place of a part that cannot be read."""
    return f"[{path} cannot be read and is left out]"


def chart(page: "Element") -> str:
    """A chart's title, and the points of each series in a line of their own."""
    title = page.find(f"{_CHART}chart/{_CHART}title")
    lines = [f"Chart: {_words(title, DRAWING) if title is not None else ''}".strip()]
    for series in page.iter(f"{_CHART}ser"):
        name = series.find(f"{_CHART}tx//{_CHART}v")
        along = _points(series, "cat") or _points(series, "xVal")
        values = _points(series, "val") or _points(series, "yVal")
        points = [f"{along.get(at, '')} {value}".strip() for at, value in values.items()]
        more = ["..."] if len(points) > _POINTS else []
        named = (name.text or "") if name is not None else ""
        lines.append(f"- {named}: {'; '.join([*points[:_POINTS], *more])}")
    return "\n".join(lines)


def beside_word(data: bytes) -> str:
    """Headers, footers and charts of a .docx, each text once."""
    from zipfile import BadZipFile, ZipFile

    found: list[str] = []
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            for _, kind, path in related(archive, "word/document.xml"):
                if kind not in ("header", "footer", "chart"):
                    continue
                try:
                    page = parsed(archive, path)
                except DAMAGE:
                    found.append(left_out(path))
                    continue
                if kind == "chart":
                    found.append(chart(page))
                elif any(map(str.isalpha, words := _words(page, _WORD))):  # no mere page number
                    found.append(f"{kind.title()}: {words}")
    except (*DAMAGE, BadZipFile):
        pass  # what came before stays; most documents have none of it
    return "\n\n".join(dict.fromkeys(found))


def _points(series: "Element", kind: str) -> dict[str, str]:
    """Number of each point -> its label or value."""
    points = series.findall(f"{_CHART}{kind}//{_CHART}pt")
    return {p.get("idx", ""): p.findtext(f"{_CHART}v", "") for p in points}


def _words(page: "Element", kind: str) -> str:
    """Its paragraphs on one line, also those of text boxes, which are in others."""
    texts, ahead = list[str](), list["Element | str"]([page])
    while ahead:
        part = ahead.pop()
        if isinstance(part, str):
            texts.append(part)
        elif part.tag == f"{kind}t":
            texts.append(part.text or "")
        elif part.tag != _FALLBACK:  # the same again, for old programs
            edge = " " if part.tag == f"{kind}p" else ""
            ahead += [edge, *reversed(part), edge]
    return " ".join("".join(texts).split())


def _path(folder: str, link: "Element") -> str:
    return normpath(join("/", folder, link.get("Target", "")))[1:]
