"""Strategies that look for the same text with other white space; all but one on whole lines."""

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

from fsagent_tools.matching.source import BLANKS, Haystack, split_lines
from fsagent_tools.matching.spans import Span, every

Key = Callable[[bytes], bytes]
MOST = 1000  # matches looked for; more are counted as "at least"
WHITE = b" \t\n\r\v\f"
SOLID = re.compile(rb"\S")
_WORDS = re.compile(rb"[A-Za-z0-9_\x80-\xff]+")
BETWEEN = rb"[^A-Za-z0-9_\x80-\xff]+"
BESIDE_SIGN = re.compile(rb" (?![A-Za-z0-9_\x80-\xff])|(?<![A-Za-z0-9_\x80-\xff]) ")
TRACED, SAMPLES = 8, 16  # words in a run, and runs, that a text has to hold to be compared
_FINAL_SIGNS = b",;"  # signs at the end of a line that models drop or add
ASCII = {
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    **dict.fromkeys(map(ord, "‘’‚‛′"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″"), '"'),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u202f\u2009\u200a\u2002\u2003\u3000"), " "),
    **dict.fromkeys(map(ord, "\u200b\ufeff"), ""),
    ord("…"): "...",
}
_SIGNS = [(chr(sign), put) for sign, put in ASCII.items()]
TYPOGRAPHY = [chr(sign).encode() for sign in ASCII]


def trailing(line: bytes) -> bytes:
    return line.rstrip(b" \t\r")


def collapsed(line: bytes) -> bytes:
    words = b" ".join(line.split())
    return b" " + words if words and line[0] in BLANKS else words


def stripped(line: bytes) -> bytes:
    return b" ".join(line.split())


def plain(line: bytes) -> bytes:
    """Typographic punctuation as ASCII, white space collapsed."""
    if line.isascii():
        return stripped(line)
    return stripped(line.decode().translate(ASCII).encode())


def as_typed(text: bytes, there: bytes, old: bytes) -> bytes:
    """`text` with plain signs for the typographic ones of `old` that do not stand `there`."""
    signs = {ord(sign): put for sign, put in _SIGNS if sign in old.decode()}
    known = there.decode()
    wanted = {sign: put for sign, put in signs.items() if chr(sign) not in known}
    return text.decode().translate(wanted).encode()


def unpunctuated(line: bytes) -> bytes:
    """The same without a comma or semicolon at the end."""
    return plain(line).rstrip(_FINAL_SIGNS)


def any_ending(source: Haystack, old: bytes) -> list[Span]:
    """Spans of the very text, whichever line endings either has; they may begin inside a line."""
    source.check()
    wanted = b"\n".join(split_lines(old))
    haystack = b"\n".join(line.removesuffix(b"\r") for line in source.lines)
    spans, line, counted = [], 0, 0
    for at in every(haystack, wanted, MOST, overlap=False):
        ends = []
        for place in (at, at + len(wanted)):
            line, counted = line + haystack.count(b"\n", counted, place), place
            ends.append(source.offsets[line] + place - haystack.rfind(b"\n", 0, place) - 1)
        spans.append(Span(*ends))
    return spans


def whole_lines(source: Haystack, old: bytes, key: Key) -> list[Span]:
    """Spans of whole lines whose keys are those of the lines of `old`."""
    wanted_keys = [key(line) for line in closed_lines(old)]
    if not any(wanted_keys):
        return []
    keys = (b"\n".join(map(key, lines)) for lines in source.parts())
    haystack = b"\n".join([b"", *keys, b""])
    wanted = b"\n".join([b"", *wanted_keys, b""])
    spans, line, counted = [], 0, 0
    for at in every(haystack, wanted, MOST):
        line, counted = line + haystack.count(b"\n", counted, at), at
        spans.append(source.block(line, len(wanted_keys), closed=is_closed(old)))
    return spans


def same_tokens(source: Haystack, old: bytes) -> list[Span]:
    """Spans of whole lines with the same words and signs, wherever lines break in between.

    A complete blank line at the end of `old` says what follows, so there is no such span for it.
    """
    wanted = code_tokens(old.strip(WHITE))
    if len(wanted) < 2 or (is_closed(old) and not closed_lines(old)[-1].strip()):
        return []
    source.check()
    haystack = code_tokens(source.text)
    found = every(haystack, wanted, MOST)
    if not found:
        return []
    solids = [0, *accumulate(len(line.translate(None, WHITE)) for line in source.lines)]
    spans = []
    for at in found:
        source.check()
        first = at - haystack.count(b" ", 0, at)
        last = first + len(wanted) - wanted.count(b" ") - 1
        start, end = (_offset_of_solid(source, solids, n) for n in (first, last))
        if whole := source.closing(Span(start, end + 1), closed=is_closed(old)):
            spans.append(whole)
    return spans


def code_tokens(text: bytes) -> bytes:
    """Words and signs, with a blank only between two words."""
    return BESIDE_SIGN.sub(b"", b" ".join(text.split()))


def has_typography(text: bytes) -> bool:
    """True where `plain` would change a sign."""
    if text.isascii() or not any(lead in text for lead in {sign[:2] for sign in TYPOGRAPHY}):
        return False
    return any(sign in text for sign in TYPOGRAPHY)


def may_hold(text: bytes, old: bytes) -> bool:
    """False when no change of white space alone could make `old` a part of `text`."""
    words = _WORDS.findall(old)
    runs = [words[n : n + TRACED] for n in range(0, min(len(words), TRACED * SAMPLES), TRACED)]
    runs.insert(0, words[-TRACED:])
    return all(re.search(BETWEEN.join(map(re.escape, run)), text) for run in runs)


def word_characters(text: bytes) -> int:
    return sum(map(len, _WORDS.findall(text)))


def is_closed(old: bytes) -> bool:
    return old.endswith((b"\n", b"\r"))


def closed_lines(old: bytes) -> list[bytes]:
    """The lines, without the empty one after a final line ending."""
    lines = split_lines(old)
    return lines[:-1] if is_closed(old) else lines


def _offset_of_solid(source: Haystack, solids: list[int], nth: int) -> int:
    """Offset of the nth byte that is no white space; `solids[i]` of them are before line i."""
    line = bisect_right(solids, nth) - 1
    found = [solid.start() for solid in SOLID.finditer(source.lines[line])]
    return source.offsets[line] + found[nth - solids[line]]
