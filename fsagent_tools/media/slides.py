"""The slides of a presentation in the order in which they are shown, with what the speaker says."""

import io
import os
import re
from collections.abc import Callable
from contextlib import suppress
from posixpath import join, normpath, split
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a plain read has no use for them
    from xml.etree.ElementTree import Element
    from zipfile import ZipFile

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SHOW = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_MAIN = "ppt/presentation.xml"
_DAMAGE = (KeyError, ValueError, SyntaxError, NotImplementedError, OSError)  # of XML, too


def with_notes(data: bytes, convert: Callable[[str], str]) -> str:
    """What `convert` makes of a .pptx, each slide followed by its notes.

    convert: is given a line with a place for `page_num`, and writes it before each slide; it takes
    them by the numbers of their files.
    """
    from zipfile import BadZipFile

    sign = f"slide{os.urandom(8).hex()}n"
    first, *texts = re.split(
        rf"\s*{sign}\d+end\s*", convert(f"\n\n{sign}{{page_num}}end\n\n").strip()
    )
    try:
        notes = _notes_in_order(data)
    except (*_DAMAGE, BadZipFile):
        notes = {}
    by_file = sorted(notes, key=_number)
    if len(by_file) == len(texts):
        shown = dict(zip(by_file, texts, strict=True))
        texts = [f"{shown[path]}\n\n{said}".strip() for path, said in notes.items()]
    return "\n\n".join(filter(None, [first, *texts]))


def _notes_in_order(data: bytes) -> dict[str, str]:
    """Path of each slide -> its notes, under a heading; "" where there are none."""
    from zipfile import BadZipFile, ZipFile

    with ZipFile(io.BytesIO(data)) as archive:
        paths = {name: path for name, _, path in _related(archive, _MAIN)}
        listed = _parsed(archive.read(_MAIN)).iter(f"{_SHOW}sldId")
        notes = dict.fromkeys((paths[slide.get(_LINK, "")] for slide in listed), "")
        for slide in notes:
            with suppress(*_DAMAGE, BadZipFile):  # a slide without relations has no notes
                for _, kind, path in _related(archive, slide):
                    if kind == "notesSlide" and (said := _said(archive.read(path))):
                        notes[slide] = f"### Notes\n\n{said}"
    return notes


def _related(archive: "ZipFile", path: str) -> list[tuple[str, str, str]]:
    """(name, kind, path) of what a part refers to."""
    folder, name = split(path)
    found = _parsed(archive.read(f"{folder}/_rels/{name}.rels"))
    return [
        (link.get("Id", ""), link.get("Type", "").rpartition("/")[2], _path(folder, link))
        for link in found
    ]


def _parsed(data: bytes) -> "Element":
    from xml.etree.ElementTree import fromstring

    return fromstring(data)


def _path(folder: str, link: "Element") -> str:
    return normpath(join("/", folder, link.get("Target", "")))[1:]


def _said(page: bytes) -> str:
    """The paragraphs of the body of a page of notes, without its number and date."""
    texts = []
    for shape in _parsed(page).iter(f"{_SHOW}sp"):
        place = shape.find(f".//{_SHOW}ph")
        if place is None or place.get("type", "body") == "body":
            for paragraph in shape.iter(f"{_DRAWING}p"):
                texts.append("".join(run.text or "" for run in paragraph.iter(f"{_DRAWING}t")))
    return "\n".join(texts).strip()


def _number(path: str) -> tuple[bool, int]:
    found = re.search(r"(\d+)\.xml$", path)
    return (False, int(found[1])) if found else (True, 0)
