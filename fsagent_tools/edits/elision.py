"""Placeholders by which a model leaves text out instead of writing it."""

import re
from collections.abc import Sequence

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


def elided(new: Sequence[bytes], old: Sequence[bytes]) -> str:
    """The first new line that stands for text left out and is not among the old ones, else ""."""
    known = {line.strip() for line in old}
    for number, line in enumerate(new):
        if line.strip() in known or len(line) > 300:
            continue
        text = line.strip().decode(errors="replace")
        if _stands_for_text(text) or (_is_dots(text) and _leaves_out(new, number)):
            return text
    return ""


def _is_dots(text: str) -> bool:
    return bool(re.fullmatch(_DOTS, text))


def _leaves_out(new: Sequence[bytes], number: int) -> bool:
    """Whether dots stand among other lines: behind what opens a block they are all of it."""
    above = next(filter(bytes.strip, reversed(new[:number])), b"")
    return bool(above) and not above.rstrip().endswith((*_OPENERS, b"..."))


def _stands_for_text(line: str) -> bool:
    body = _LEADER.sub("", line, count=1) if _LEADER.match(line) else line
    comment = body != line
    words = body.strip(" .…:;-()[]{}*/#<>!%")
    if comment and _SAID.fullmatch(words):
        return True
    count = len(words.split())
    few = (comment and count <= _FEW) or body[:1] in (".", "…")
    dots = re.match(rf"{_DOTS}(?![A-Za-z_$])", body) or (few and re.search(rf"{_DOTS}\W*$", body))
    if not dots or count > _WORDS or not re.fullmatch(r"[\w ,/'.…-]*", words):
        return False
    return bool(_LEFT_OUT.search(words) if words else comment)
