"""Placeholders by which a model leaves text out instead of writing it."""

import re

_DOTS = r"(?:\.{3,}|…)"
SIGN = re.compile(rf"{_DOTS}|\b(?:existing|unchanged|omitted|same|before)\b", re.IGNORECASE)
_LEADER = re.compile(
    r"^\s*(?://+|\{#-?|#+|\{?/\*+|\(\*+|\*+|<!--|<%--|<#--|\{\{!-*|\{-|--\[*|;+|%+|!+|"
    r"(?:REM|dnl)\b|[(\[{])\s*"
)
_TRAILER = re.compile(r"\s*(?:-?#\}|\*+/\}?|\*+\)|-->|--%>|-*\}\}|-\}|\]\]|[)\]}])\s*$")
_BEGINS, _ENDS = re.compile(rf"{_DOTS}(?![A-Za-z_$])"), re.compile(rf"{_DOTS}$")
_PROSE = re.compile(r"[\w ,/'.…-]*")
_WHOLE = re.compile(  # all of a comment that has no dots
    r"(?:(?:the )?(?:rest|remainder|remaining|existing|other)\b.* )?(?:unchanged|omitted|as before|"
    r"(?:(?:stays?|remains?) )?(?:the )?same(?: as before)?)(?: for brevity| here)?|existing code"
    r"(?: here)?|(?:the )?(?:rest|remainder) of (?:the |this )?\w+",
    re.IGNORECASE,
)
_WORDS = 9  # a longer line is a sentence about something, not a placeholder
_FEW = 2  # before dots, in a comment; more are a sentence that trails off
_LONGEST = 300  # characters, likewise
_LEFT_OUT = re.compile(
    r"\b(?:existing|previous|original|unchanged|omitted|truncated|elided|snipped?|"
    r"(?:the )?rest|remaining|remainder|same as|as before|stays? the same|remains? the same|"
    r"(?:other|more) (?:code|methods?|functions?|lines?|imports?|fields?|props|content|tests?))\b",
    re.IGNORECASE,
)


def elided(new: str, old: str) -> str | None:
    """The first line of `new` that stands for text left out and is not in `old`, else None.

    It is a line of its own: dots with words such as "existing" or "rest", in a comment or bare, a
    comment that says nothing but that, or, in a text that shrinks, one of mere dots. A bare `...`
    is Python, a name right behind the dots JavaScript, and prose that trails off is prose.
    """
    if not SIGN.search(new):
        return None
    known, shrinks = {line.strip() for line in old.splitlines()}, new.count("\n") < old.count("\n")
    lines = (line.strip() for line in new.splitlines() if SIGN.search(line))
    unknown = (line for line in lines if line not in known and len(line) <= _LONGEST)
    return next((line for line in unknown if _stands_for_text(line, shrinks)), None)


def _stands_for_text(line: str, shrinks: bool) -> bool:
    inner = _LEADER.sub("", line)
    comment, body = inner != line, _TRAILER.sub("", inner)
    words = body.strip(".… :;-()[]")
    count = len(words.split())
    if not words or (comment and _WHOLE.fullmatch(words)):
        return comment and (bool(words) or shrinks)
    begins = _BEGINS.match(body) or (body[:1] in ".…" and _ENDS.search(body))
    if not begins and not (comment and _ENDS.search(body) and count <= _FEW):
        return False
    return bool(count <= _WORDS and _PROSE.fullmatch(words) and _LEFT_OUT.search(words))
