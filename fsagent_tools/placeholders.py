"""Placeholders by which a model leaves text out instead of writing it."""

import re
from collections.abc import Sequence

LEADER = re.compile(
    r"^\s*(?://+|\{#-?|#+|\{?/\*+|\(\*+|\*+|<!--|<%--|<#--|\{\{!-*|\{-|--\[*|;+|%+|!+|\.\.(?= )|"
    r"(?:REM|dnl)\b|[(\[{])\s*"
)
TRAILER = re.compile(r"\s*(?:-?#\}|\*+/\}?|\*+\)|-->|--%>|-*\}\}|-\}|\]\]|[)\]}])\s*$")
_DOTS = re.compile(r"^\s*(?:\.{3,}|…)|(?:\.{3,}|…)\s*$")
SIGN = re.compile(
    r"\.\.\.|…|\b(?:rest|remainder|existing|previous|remaining|other|unchanged|same|omitted|"
    r"no change)",
    re.IGNORECASE,
)
_SPREAD = re.compile(  # of JavaScript: a name right behind the dots
    r"[\s(\[{]*\.{3}(?!(?:unchanged|omitted|truncated|elided|snip)\b)[A-Za-z_$][\w$.]*\s*(?:[,)\]};].*)?$"
)
PROSE = re.compile(r"[\w ,/'-]+")
_BARE = re.compile(r"\s*[(\[]?(?:\.{3}|…)[)\]]?\s*")
_WORDS = 9  # a longer line is a sentence about something, not a placeholder
_LONGEST = 300  # characters, likewise
LEFT_OUT = re.compile(
    r"\b(?:existing|previous|original|unchanged|omitted|truncated|elided|snipped?|"
    r"(?:the )?rest|remaining|remainder|same as|as before|stays? the same|remains? the same|"
    r"(?:other|more) (?:code|methods?|functions?|lines?|imports?|fields?|props|content|tests?))\b",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"(?:(?:the )?(?:rest|remainder)(?: of (?:the |this )?(?:\w+ ?){1,2})?"
    r"(?: (?:is|are|remains?|stays?))?(?: (?:the )?(?:unchanged|same|omitted|as before))?"
    r"|(?:keep )?(?:the )?(?:existing|previous|remaining|other) (?:code|implementation|methods?|"
    r"functions?|logic|content|imports?|lines?)(?: \w+)?"
    r"(?: (?:is|are|remains?|stays?))?(?: (?:the )?(?:here|unchanged|same|omitted|as before))"
    r"|existing code|(?:code )?unchanged|same as before|(?:code |lines? )?omitted(?: for brevity)?"
    r"|(?:no changes?|unchanged) (?:here|below|above))",
    re.IGNORECASE,
)


def elided(new: str, old: str) -> str | None:
    """The first line of `new` that stands for text left out and is not in `old`, else None.

    A placeholder is a line of its own: dots with words such as "existing" or "rest", a comment
    that says nothing but that, a comment of mere dots where `new` is shorter than `old`, or mere
    dots in the place of lines of `old`. Else a bare `...` is Python, and prose that trails off is
    prose.
    """
    if not SIGN.search(new):
        return None
    olds, news = old.splitlines(), new.splitlines()
    known = {line.strip() for line in olds}
    shorter = new.count("\n") < old.count("\n")
    for number, line in enumerate(news):
        if len(line) > _LONGEST or not SIGN.search(line) or line.strip() in known:
            continue
        if _SPREAD.match(line):
            continue
        gap = _in_a_gap(news, number, olds)
        if _stands_for_text(line, shorter=shorter or gap) or (gap and _BARE.fullmatch(line)):
            return line.strip()
    return None


def _in_a_gap(news: Sequence[str], number: int, olds: Sequence[str]) -> bool:
    """Whether old lines are missing where this one is, before one that is still there.

    In Python `...` may be all of a block, behind which comes what is less deep.
    """
    line, below = news[number], next(filter(str.strip, news[number + 1 :]), "")
    if below not in olds or _depth(below) < _depth(line):
        return False
    gone = next(filter(str.strip, reversed(olds[: olds.index(below)])), "")
    return bool(gone) and gone not in news


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _stands_for_text(line: str, *, shorter: bool) -> bool:
    body = LEADER.sub("", line)
    comment = body != line.lstrip() and body != line
    body = TRAILER.sub("", body).strip()
    if len(body.split()) > _WORDS:
        return False
    words = _DOTS.sub("", body).strip(" .…:;-()[]")
    if not words:
        return bool(_DOTS.search(body)) and comment and shorter
    if comment and _PLAIN.fullmatch(words):
        return True
    if not LEFT_OUT.search(words):
        return False
    if _DOTS.match(body):  # a doctest continues with dots, but in code
        return comment or bool(PROSE.fullmatch(words))
    return comment and bool(_DOTS.search(body)) and len(words.split()) <= 2
