"""The slides of a presentation in the order in which they are shown, with what the speaker says."""

import io
import os
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from fsagent_tools.media.linked import DAMAGE, DRAWING, chart, left_out, parsed, related

if TYPE_CHECKING:  # a plain read has no use for it
    from xml.etree.ElementTree import Element

_SHOW = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_MAIN = "ppt/presentation.xml"


def with_notes(data: bytes, convert: Callable[[str], str]) -> str:
    """What `convert` makes of a .pptx, each slide under its number and followed by its notes.

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
    except (*DAMAGE, BadZipFile):
        notes = {}
    by_file = sorted(notes, key=_number)
    if len(by_file) == len(texts):
        shown = dict(zip(by_file, texts, strict=True))
        texts = [f"{shown[path]}\n\n{said}".strip() for path, said in notes.items()]
    count = len(texts)
    numbered = (f"--- slide {n} of {count} ---\n\n{text}" for n, text in enumerate(texts, 1))
    return "\n\n".join(filter(None, [first, *map(str.strip, numbered)]))


def _notes_in_order(data: bytes) -> dict[str, str]:
    """Path of each slide -> its charts, and its notes under a heading; "" where there are none."""
    from zipfile import ZipFile

    with ZipFile(io.BytesIO(data)) as archive:
        paths = {name: path for name, _, path in related(archive, _MAIN)}
        listed = parsed(archive, _MAIN).iter(f"{_SHOW}sldId")
        beside = dict.fromkeys((paths[slide.get(_LINK, "")] for slide in listed), "")
        for slide in beside:
            charts, notes, links = list[str](), list[str](), list[tuple[str, str, str]]()
            with suppress(*DAMAGE):  # a slide without relations has neither
                links = related(archive, slide)
            for _, kind, path in links:
                try:
                    if kind == "chart":
                        charts.append(chart(parsed(archive, path)))
                    elif kind == "notesSlide" and (words := _words_of(parsed(archive, path))):
                        notes.append(f"### Notes\n\n{words}")
                except DAMAGE:
                    charts.append(left_out(path))
            beside[slide] = "\n\n".join((*charts, *notes))
    return beside


def _words_of(page: "Element") -> str:
    """The paragraphs of the body of a page of notes, without its number and date."""
    texts = []
    for shape in page.iter(f"{_SHOW}sp"):
        place = shape.find(f".//{_SHOW}ph")
        if place is None or place.get("type", "body") == "body":
            for paragraph in shape.iter(f"{DRAWING}p"):
                texts.append("".join(run.text or "" for run in paragraph.iter(f"{DRAWING}t")))
    return "\n".join(texts).strip()


def _number(path: str) -> tuple[bool, int]:
    found = re.search(r"(\d+)\.xml$", path)
    return (False, int(found[1])) if found else (True, 0)
