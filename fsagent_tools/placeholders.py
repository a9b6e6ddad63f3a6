"""Placeholders by which a model leaves text out instead of writing it."""

import re

LEADER = re.compile(r"^\s*(?://+|#+|/\*+|\*+|<!--|--|;+|%+|\{/\*+|[(\[{])\s*")
TRAILER = re.compile(r"\s*(?:\*+/\}?|-->|[)\]}])\s*$")
_DOTS = re.compile(r"^\s*(?:\.{3,}|…)|(?:\.{3,}|…)\s*$")
SIGN = re.compile(
    r"\.\.\.|…|\b(?:rest|remainder|existing|previous|remaining|other|unchanged|same|omitted|"
    r"no change)",
    re.IGNORECASE,
)
PROSE = re.compile(r"[\w ,/'-]+")
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
    that says nothing but that, or a comment of mere dots where `new` is shorter than `old`.
    A bare `...` is Python and prose that trails off is prose.
    """
    if not SIGN.search(new):
        return None
    known = {line.strip() for line in old.splitlines()}
    shorter = new.count("\n") < old.count("\n")
    for line in new.splitlines():
        if (
            len(line) <= _LONGEST
            and SIGN.search(line)
            and line.strip() not in known
            and _stands_for_text(line, shorter=shorter)
        ):
            return line.strip()
    return None


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
