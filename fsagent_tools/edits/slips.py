"""Mistakes that a new text shows beside the file that it is for, whatever it is about."""

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from itertools import pairwise, takewhile

from fsagent_tools.lines.source import indentation

_TELLING = re.compile(rb".*[A-Za-z\x80-\xff]")
_COMMON = re.compile(rb"(?:begin|break|continue|else|end|finally|pass|return|try)\b\W*")
_BLOCK = 3  # lines of the smallest one
_NEARBY = 10  # lines
_COMMENT = b" \t*#/;-"  # signs of a line of a comment that says nothing
_MARKUP = (".html", ".htm", ".xhtml", ".xml", ".svg", ".vue", ".jsx", ".tsx", ".svelte", ".md")
_ENTITY = re.compile(rb"&(?:lt|gt|amp|quot|#39);")
_BARE = re.compile(rb"(?<!\\)\"")
_CURLY = [  # the first of a pair, the last, and the plain one
    (first.encode(), last.encode(), plain.encode())
    for first, last, plain in ('\u201c\u201d"', "\u2018\u2019'")
]
_BLANKS = [sign.encode() for sign in "\u00a0\u202f\u200b\u2060\ufeff"]


def reaches(new: Sequence[bytes], old: Sequence[bytes], below: Sequence[bytes]) -> int:
    """How many lines below its place a new text has, too, and was to replace; 0 if none.

    It has the first of them, and ends as the last one does, as deep: a whole block over its first
    part. One that ends as what it replaces has its own end, though an equal block follows.
    """
    first = next((line.rstrip() for line in below if _tells(line)), None)
    own = [line.rstrip() for line in new]
    if len(own) < _BLOCK or first not in own:
        return 0
    last = max(n for n, line in enumerate(own) if _tells(line))
    tail = own[last:]
    if tail[0].strip() in map(bytes.strip, old):
        return 0
    ends = [n for n, line in enumerate(below[: len(own)]) if line.rstrip() == tail[0]]
    if not ends:
        return 0
    pairs = zip(tail, map(bytes.rstrip, below[ends[-1] :]), strict=False)
    return ends[-1] + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def comes_deeper(new: Sequence[bytes], below: Sequence[bytes]) -> bool:
    """Whether a text ends with the line below it at a greater depth.

    A line that tells little may close a block there, but is no deeper than the one above it then.
    """
    filled = [*filter(bytes.strip, new[-_NEARBY:])]
    if len(filled) < 2 or not below or filled[-1].strip() != below[0].strip():
        return False
    above, last, there = (len(indentation(line)) for line in (*filled[-2:], below[0]))
    return last > there and (_tells(below[0]) or last > above)


def _tells(line: bytes) -> bool:
    return bool(_TELLING.match(line)) and not _COMMON.fullmatch(line.strip())


def foreign(new: bytes, data: bytes, name: str) -> str:
    """What a new text spells in a way that the file does nowhere; "" if nothing.

    name: of the file; in markup an entity is the plain spelling.
    A text with plain quotes beside the curly ones has them for a reason.
    """
    if b'\\"' in new and not _BARE.search(new) and b'\\"' not in data:
        return 'quotes written out as `\\"`'
    markup = name.lower().endswith(_MARKUP)
    if not markup and _ENTITY.search(new) and not _ENTITY.search(data):
        return "character entities such as `&lt;`"
    for first, last, plain in _CURLY:
        pairs = (0 <= line.find(first) < line.rfind(last) for line in new.split(b"\n"))
        if first not in data and plain not in new and any(pairs):
            return "curly quotes"
    new = new.removeprefix(BOM_UTF8)  # it comes along with the first line of a file
    if any(sign in new for sign in _BLANKS) and not any(sign in data for sign in _BLANKS):
        return "no-break or zero-width blanks"
    return ""


def repeats_itself(new: Sequence[bytes]) -> bool:
    """Whether the second half of it is the same as the first, each of several lines."""
    half = len(new) // 2
    return half > 1 and new[:half] == new[half:] and any(map(bytes.strip, new))


def doubled(new: Sequence[bytes], old: Sequence[bytes]) -> bytes:
    """A line that comes twice in a row, and did not in the old text; b"" if none.

    But for signs of comments alone, which part paragraphs.
    """
    known = {one for one, other in pairwise(old) if one == other}
    again = (one for one, other in pairwise(new) if one == other and one not in known)
    return next((line for line in again if line.strip(_COMMENT)), b"")
