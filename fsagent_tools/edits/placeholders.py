"""What stands in new text and is not meant to be written: placeholders, and marks of a paste."""

import re
from collections.abc import Sequence

from fsagent_tools.lines.source import indentation

_DOTS = r"(?:\.{3,}|…)"
SIGN = re.compile(
    rb"\.{3}|\xe2\x80\xa6|(?i:\b(?:existing|unchanged|omitted|rest|remainder|same|before)\b)"
)
_OPENERS = (b"(", b"[", b"{", b":")
_LEADER = re.compile(r"(?://+|#+|/\*+|\*+|<!--|\{#|\{/\*+|--|;+|%+|[(\[{])\s*")
_LEFT_OUT = re.compile(
    r"\b(?:existing|previous|original|unchanged|omitted|truncated|elided|snipped?|rest|remaining|"
    r"remainder|same|as before|(?:other|more) (?:code|methods?|functions?|lines?|imports?|fields?|"
    r"props|content|tests?))\b",
    re.IGNORECASE,
)
_SAID = re.compile(  # all of a comment that has no dots
    r"(?:(?:the )?(?:rest|remainder|remaining|existing|other)\b.* )?(?:unchanged|omitted|as before|"
    r"(?:(?:stays?|remains?) )?(?:the )?same(?: as before)?)(?: for brevity| here)?|existing code"
    r"(?: here)?|(?:the )?(?:rest|remainder) of (?:the |this )?\w+",
    re.IGNORECASE,
)
_FEW = 2  # words before dots, in a comment; more are a sentence that trails off
_WORDS = 9  # a longer line is a sentence about something, not a placeholder
MARK = re.compile(rb"(?m)^\s*(?:\d+ ?[\t|:\xe2]|\+|```|~~~)|\\n")  # without one nothing is pasted
KEY = re.compile(rb"\s*\d+: ")  # of a mapping, or a line's number
WRITTEN_OUT = "line ends written out"
_NUMBER = re.compile(rb"\s*(\d+)(?:\t| ?\||\xe2\x86\x92|: )")  # as reads put it before lines
_FENCE = re.compile(rb"\s*(?:```|~~~)[\w+-]*\s*")
_ADDED = re.compile(rb"\+(?![\d+=])")
_ENDS = re.compile(  # outside quotes, no name and no pattern; or between lines that begin alike
    rb"(?:[^\"'`\\]|\\(?!n)|\"[^\"]*\"|'[^']*'|`[^`]*`)*(?<!/)\\n(?:\\n|(?![a-z\\]))|\s*(\w+)\b.*\\n\1\b"
)


def elided(new: Sequence[bytes], old: Sequence[bytes]) -> str:
    """The first new line that stands for text left out and is not among the old ones, else ""."""
    known = {line.strip() for line in old}
    for number, line in enumerate(new):
        if line.strip() in known or len(line) > 300:
            continue
        text = line.strip().decode(errors="replace")
        if _stands_for_text(text) or (re.fullmatch(_DOTS, text) and _leaves_out(new, number)):
            return text
    return ""


def _leaves_out(new: Sequence[bytes], number: int) -> bool:
    """Whether dots stand among other lines: behind what opens a block they may be all of it."""
    above = next(filter(bytes.strip, reversed(new[:number])), b"")
    below = next(filter(bytes.strip, new[number + 1 :]), b"")
    goes_on = bool(below) and len(indentation(below)) >= len(indentation(new[number]))
    opened = above.rstrip().endswith(_OPENERS) and not goes_on
    return bool(above) and not opened and not above.rstrip().endswith(b"...")


def _stands_for_text(line: str) -> bool:
    body = _LEADER.sub("", line, count=1) if _LEADER.match(line) else line
    comment = body != line
    words = body.strip(" .…:;-()[]{}*/#<>!%")
    if comment and _SAID.fullmatch(words):
        return True
    few = (comment and len(words.split()) <= _FEW) or body[:1] in (".", "…")
    dots = re.match(rf"{_DOTS}(?![A-Za-z_$])", body) or (few and re.search(rf"{_DOTS}\W*$", body))
    if not dots or len(words.split()) > _WORDS or not re.fullmatch(r"[\w ,/'.…-]*", words):
        return False
    return bool(_LEFT_OUT.search(words) if words else comment)


def pasted(new: Sequence[bytes], old: Sequence[bytes], beside: Sequence[bytes]) -> str:
    """What stands before or around all new lines, and before none of the others; "" if nothing.

    Or line ends that are written out, which one line has.
    """
    if any(map(_ENDS.match, new)) and not any(map(_ENDS.match, old)):
        return WRITTEN_OUT
    filled, others = [*filter(bytes.strip, new)], [*old, *beside]
    for what, mark in (("the numbers of the lines", _NUMBER), ("the signs of a diff", _ADDED)):
        found = [mark.match(line) for line in filled]
        if len(found) == 1 and filled[0][:1].isspace():
            continue  # an entry of a table, or of a dictionary
        if found and None not in found and not any(map(mark.match, others)):
            numbers = [int(match[1]) for match in found if match and match.re is _NUMBER]
            if not numbers or numbers == [*range(numbers[0], numbers[0] + len(numbers))]:
                return what
    return "a code fence" * _fenced(new, old, beside)


def _fenced(new: Sequence[bytes], old: Sequence[bytes], beside: Sequence[bytes]) -> bool:
    """Whether a fence, or one end of it, came along, and is not the change itself."""
    fences, before = ([bool(_FENCE.fullmatch(line)) for line in part] for part in (new, old))
    whole = len(new) > 2 and fences[0] and fences[-1] and [*new[1:-1]] != [*old]
    odd = len(new) > 1 and sum(fences) % 2 and not any(before)
    return bool(whole or odd) and not any(map(_FENCE.match, (*old, *beside)))
