"""Strategies that look for the same text with other white space."""

import re
from collections.abc import Callable

from fsagent_tools.edits.haystack import BLANKS, Haystack, split_lines
from fsagent_tools.edits.spans import Span, every

Key = Callable[[bytes], bytes]
MOST = 1000  # matches looked for; more are counted as "at least"
_WORDS = re.compile(rb"[A-Za-z0-9_\x80-\xff]+")
BETWEEN = rb"[^A-Za-z0-9_\x80-\xff]+"
TRACED, SAMPLES = 8, 16  # words in a run, and runs, that a text has to hold to be compared


def trailing(line: bytes) -> bytes:
    return line.rstrip(b" \t\r")


def collapsed(line: bytes) -> bytes:
    words = b" ".join(line.split())
    return b" " + words if words and line[0] in BLANKS else words


def stripped(line: bytes) -> bytes:
    return b" ".join(line.split())


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
