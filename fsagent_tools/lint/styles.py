"""Checks CSS by what its syntax calls wrong: brackets, strings and comments, names without values.

A grammar called one real file in seven wrong: new functions and conditions are right in any text.
"""

import re
from collections.abc import Iterator

from fsagent_tools.lint.places import Source, found
from fsagent_tools.problems import Problem

_OPENED_BY = {"}": "{", "]": "[", ")": "("}
_TOKEN = re.compile(
    r"/\*(?s:.*?)(?P<end>\*/|\Z)"
    r"""|(?P<quote>["'])(?:(?!(?P=quote))[^\\\n]|\\(?s:.))*+(?P<unquote>(?P=quote))?"""
    r"""|url\([ \t\n]*+(?!["' \t\n])(?:[^()\\'"\n]|\\.)*+\)"""
    r"|\\(?s:.)"
    r"|(?P<mark>[][(){};:])"
)
_BLANK = re.compile(r"(?:\s|/\*(?s:.*?)\*/)*+")
_QUOTE = re.compile("[\"']")
_Fault = tuple[int, str]  # where, what


def style_problems(source: Source) -> list[Problem]:
    """The first syntax error."""
    for at, said in _faults(source):
        return [found(source.text, (at, at + 1), said, "css")]
    return []


def _faults(source: Source) -> Iterator[_Fault]:
    opened = list[_Fault]()
    begins, named = 0, True  # of what the next semicolon or brace ends; whether it has a colon
    for at, mark in _marks(source):
        if len(mark) > 1:
            yield at, mark
        elif mark in _OPENED_BY.values():
            opened.append((at, mark))
        within = opened[-1][1] if opened else ""
        if within == "{" and mark in ";}" and not named:
            yield from _unnamed(source.text, begins, at)
        if (opener := _OPENED_BY.get(mark)) and (not opened or opened.pop()[1] != opener):
            yield at, f"unexpected {mark!r}"
        named = named or mark == ":"
        if mark in "{}" or (mark == ";" and within in ("{", "")):
            begins, named = at + 1, False
    for at, mark in opened[-1:]:
        yield at, f"{mark!r} is not closed"


def _marks(source: Source) -> Iterator[_Fault]:
    """Brackets, colons and semicolons; what is said of a comment or a string without an end."""
    for number, token in enumerate(_TOKEN.finditer(source.text)):
        if not number % 1024:
            source.go_on()
        if token["mark"]:
            yield token.start(), token[0]
        elif token["end"] == "":
            yield token.start(), "the comment does not end"
        elif token["quote"] and not token["unquote"]:
            yield token.start(), "the string does not end"


def _unnamed(text: str, begins: int, ends: int) -> Iterator[_Fault]:
    """What stands there, if anything does beside comments: not a rule of its own kind, and not a
    string, before which GTK has the names of commands.
    """
    blank = _BLANK.match(text, begins, ends)
    start = blank.end() if blank else ends
    if start < ends and text[start] != "@" and not _QUOTE.search(text, start, ends):
        yield start, "no ':' and value behind a name"
