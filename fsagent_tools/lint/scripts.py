"""Checks the syntax of TypeScript and JavaScript with tree-sitter grammars."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import count, islice
from typing import Any

from fsagent_tools.lint.places import LATE, Source, Undecided, found
from fsagent_tools.problems import Problem

_SMALL = 1 << 14  # bytes that no text can make the parser brood over for long
_SHOWN = 20  # problems; one slip can make the parser stumble many times
GRAMMARS = {
    **dict.fromkeys((".ts", ".mts", ".cts"), ("typescript", "language_typescript")),
    ".tsx": ("typescript", "language_tsx"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), ("javascript", "language")),
}
_DOUBT = "as the grammar reads it, which may be older than the text"
_WORD = r"(?:null|true|false|function|class|default|in|delete|void|typeof|new|if|for|while|return)"
_NEWER = [  # right, but unknown to the grammars -> what they know and means the same to a parser
    (re.compile(pattern), known)
    for pattern, known in (
        (r"\bimport\([ \t]*+(?:'[^'\n]*+'|\"[^\"\n]*+\")[ \t]*+\)\s*+\.", "I."),
        (r"(?<=[<,/])(\s*+)(?:(?:const|in|out)[ \t]++)++(?=[\w$])", r"\1"),
        (r"(?m)^([ \t]*+)(?:(?:in|out)[ \t]++)++(?=[\w$])", r"\1"),
        (r"\bexport default (async )?function\s*+\(", r"export default \1function f("),
        (r"\bexport type \*", "export *"),
        (r"\bglobal[ \t]*+\{", "namespace g {"),
        (r"\[[ \t]*+type in\b", "[T in"),
        (r"(:|\bkeyof)[ \t]*+(?:readonly|unique) ", r"\1 "),
        (r"\bas \w++(?=[ \t]*+[,}])", "as x"),
        (rf"(?<=[{{,])(\s*+){_WORD}(?=\s*+[,}}])", r"\1x"),
        (r"(?<=[\w)\]}>/])(?<!=>)\n([ \t]*+<)", r";\n\1"),  # overloads without semicolons
        (r"(?<=[\w)\]}>\s]>)(?=`)", "()"),  # a tag with types
        (r"(?m)((?:^|[({;])[ \t]*+)(?:await )?using (?=[\w$]++ (?:=|of\b))", r"\1const "),
        (r"(?<=['\"]) with \{[^{}]*+\}", ""),
        (r"\bimport (?:defer|source) (?=[\w$*])", "import "),
        (r"\baccessor (?=[\w$#])", ""),
        (r"(?m)^([ \t]*+)@[^\n]*\) export (?=class\b)", r"\1export "),
        (r"@\(", "@f("),
    )
]


def script_problems(source: Source) -> list[Problem]:
    """Every place the parser had to skip or to make something up, at most `_SHOWN`: warnings, since
    the grammars lag behind their languages.

    Raises `Undecided` when the time is up, and without the grammars.
    """
    utf8 = source.text.encode()
    tree = _parsed(source, utf8)
    if not tree.root_node.has_error or not _with_known_forms(source).root_node.has_error:
        return []
    name = GRAMMARS[source.suffix][0]
    return [_problem(node, utf8, name) for node in islice(_faults(tree, source), _SHOWN)]


def _with_known_forms(source: Source) -> Any:
    text = source.text
    for pattern, known in _NEWER:
        text = pattern.sub(known, text)
    return _parsed(source, text.encode())


def _parsed(source: Source, utf8: bytes) -> Any:
    parser_of, language = _grammar(*GRAMMARS[source.suffix])
    if len(utf8) <= _SMALL:
        return parser_of(language).parse(utf8)
    try:  # a parser that can be stopped reads through a callback, which is slower
        return parser_of(language).parse(
            lambda offset, point: utf8[offset : offset + _SMALL],
            progress_callback=lambda offset, has_error: source.late(),
        )
    except ValueError:
        raise Undecided(LATE) from None


@cache
def _grammar(package: str, entry: str) -> tuple[Any, Any]:
    try:
        tree_sitter = import_module("tree_sitter")
        grammar = import_module(f"tree_sitter_{package}")
    except ModuleNotFoundError:
        raise Undecided(f"install 'fsagent-tools[lint]' to check {package}") from None
    return tree_sitter.Parser, tree_sitter.Language(getattr(grammar, entry)())


def _faults(tree: Any, source: Source) -> Iterator[Any]:
    """Error and missing nodes, the innermost ones, in the order of the text."""
    cursor = tree.walk()
    for number in count():
        if not number % 4096:
            source.go_on()
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
    said = f"{node.type!r} is missing"
    if node.is_missing:
        end = start
    else:
        token = " ".join(text[start:end].split())[:40]
        said = f"unexpected {token!r}"
    return replace(found(text, (start, end), f"{said}, {_DOUBT}", source), severity="warning")
