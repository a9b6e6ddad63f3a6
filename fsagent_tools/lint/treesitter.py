"""Checks JavaScript and TypeScript by tree-sitter's grammars, whose findings are doubtful."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any

from fsagent_tools.lint.source import DOUBT, NotChecked, found
from fsagent_tools.problems import Problem

_MAX_FAULTS = 20  # one slip can make the parser stumble many times
_MAX_STEPS = 6_000  # calls of the parser's progress: a file of 680 kB without errors takes 5,200
_BLOCK = 1 << 14  # bytes that it reads at once
GRAMMARS = {
    **dict.fromkeys((".ts", ".mts", ".cts"), ("typescript", "language_typescript")),
    ".tsx": ("typescript", "language_tsx"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), ("javascript", "language")),
}
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


def script_problems(name: str, text: str) -> list[Problem]:
    """Every place that the parser skipped or made up, at most `_MAX_FAULTS`, as warnings.

    Raises `NotChecked` for a text on which the parser takes too many steps.
    """
    grammar, utf8 = GRAMMARS[name[name.rfind(".") :].lower()], text.encode()
    root, newer = _parsed(*grammar, utf8), text
    if root.has_error:
        for pattern, known in _NEWER:
            newer = pattern.sub(known, newer)
    if not root.has_error or not (newer == text or _parsed(*grammar, newer.encode()).has_error):
        return []
    return [_problem(node, utf8, grammar[0]) for node in islice(_faults(root), _MAX_FAULTS)]


def _parsed(package: str, language: str, utf8: bytes) -> Any:
    """The root of the tree. A parser that can be stopped reads through a callback."""
    steps = iter(range(_MAX_STEPS))
    try:
        tree = (
            import_module("tree_sitter")
            .Parser(_grammar(package, language))
            .parse(
                lambda offset, point: utf8[offset : offset + _BLOCK],
                progress_callback=lambda offset, has_error: next(steps, None) is None,
            )
        )
    except ValueError:
        raise NotChecked("its parser takes too many steps", too_large=True) from None
    return tree.root_node


@cache
def _grammar(package: str, language: str) -> Any:
    grammar = getattr(import_module(f"tree_sitter_{package}"), language)
    return import_module("tree_sitter").Language(grammar())


def _faults(root: Any) -> Iterator[Any]:
    """Error and missing nodes, the innermost ones, in the order of the text."""
    todo = [root]
    while todo:
        node = todo.pop()
        inner = [each for each in node.children if each.has_error or each.is_missing]
        if node.is_missing or (node.is_error and not inner):
            yield node
        todo += reversed(inner)


def _problem(node: Any, utf8: bytes, source: str) -> Problem:
    start, stop = (len(utf8[:offset].decode()) for offset in (node.start_byte, node.end_byte))
    token = " ".join((text := utf8.decode())[start:stop].split())[:40]
    message = f"{node.type!r} is missing" if node.is_missing else f"unexpected {token!r}"
    problem = found(text, start, start if node.is_missing else stop, message, source)
    return replace(problem, severity="warning", message=f"{message} ({DOUBT})")
