"""Checks the syntax of TypeScript and JavaScript with their tree-sitter grammars."""

import time
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any

from fsagent_tools.lint.places import Undecided, found
from fsagent_tools.problems import Problem

_SECONDS = 3.0
_SMALL = 1 << 14  # bytes that no text can make the parser brood over for long
_SHOWN = 20  # problems; one slip can make the parser stumble many times
GRAMMARS = {
    **dict.fromkeys((".ts", ".mts", ".cts"), ("typescript", "language_typescript")),
    ".tsx": ("typescript", "language_tsx"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), ("javascript", "language")),
}


def script_problems(name: str, text: str) -> list[Problem]:
    """Every place the parser had to skip or to make something up, at most `SHOWN`.

    Raises `Undecided` after `SECONDS`, and without the grammars.
    """
    suffix = PurePosixPath(name).suffix.lower()
    tree = _parsed(suffix, text.encode())
    if not tree.root_node.has_error:
        return []
    source = GRAMMARS[suffix][0]
    problems = []
    for node in _faults(tree):
        problems.append(_problem(node, text.encode(), source))
        if len(problems) == _SHOWN:
            break
    return problems


def _parsed(suffix: str, utf8: bytes) -> Any:
    parser_of, language = _grammar(*GRAMMARS[suffix])
    if len(utf8) <= _SMALL:
        return parser_of(language).parse(utf8)
    until = time.monotonic() + _SECONDS
    try:  # a parser that can be stopped reads through a callback, which is slower
        return parser_of(language).parse(
            lambda offset, point: utf8[offset : offset + _SMALL],
            progress_callback=lambda offset, has_error: time.monotonic() > until,
        )
    except ValueError:
        raise Undecided(f"checking took more than {_SECONDS:g} s") from None


@cache
def _grammar(package: str, entry: str) -> tuple[Any, Any]:
    try:
        tree_sitter = import_module("tree_sitter")
        grammar = import_module(f"tree_sitter_{package}")
    except ModuleNotFoundError:
        raise Undecided(f"install 'fsagent-tools[lint]' to check {package}") from None
    return tree_sitter.Parser, tree_sitter.Language(getattr(grammar, entry)())


def _faults(tree: Any) -> Iterator[Any]:
    """Error and missing nodes, the innermost ones, in the order of the text."""
    cursor = tree.walk()
    while True:
        node = cursor.node
        inner = node.has_error and _any_inner(node)
        if node.is_missing or (node.is_error and not inner):
            yield node
        if (inner and cursor.goto_first_child()) or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return


def _any_inner(node: Any) -> bool:
    return any(child.has_error or child.is_missing for child in node.children)


def _problem(node: Any, utf8: bytes, source: str) -> Problem:
    text = utf8.decode()
    start, end = (len(utf8[:offset].decode()) for offset in (node.start_byte, node.end_byte))
    if node.is_missing:
        return found(text, (start, start), f"{node.type!r} is missing", source)
    token = " ".join(text[start:end].split())[:40]
    return found(text, (start, end), f"unexpected {token!r}", source)
