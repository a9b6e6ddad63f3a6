"""Parses Python in this process, and of a text that has changed only what is new."""

import ast
import re
import sys
from functools import lru_cache

from fsagent_tools.lint.source import DOUBT, NotChecked, found
from fsagent_tools.problems import Problem

_ESCAPE = re.compile(r"\\(?:([\nabfnrtvxuUN0-7'\"\\])|.)")  # what is not one causes a warning
_MAGIC = re.compile(r"(?m)^[ \t]*+(?:%{1,2}[a-z]|![a-z])")  # commands of IPython
_NEWEST = (3, 14)  # the Python whose syntax `_NEWER` knows
_NEWER = re.compile(  # on the line of an error: syntax of a later Python, perhaps
    r"^\s*type\s+\w|\b(?:def|class)\s+\w+\s*\[|\b[rR]?[fFtT][rR]?['\"]|^\s*except\b[^(:]*,|\*\w"
)
_STATEMENT = re.compile(r"(?<=\n\n)(?=[^\W\d]|@)(?!(?:else|elif|except|finally)\b)")
_MAX_REMEMBERED = 1 << 14  # characters of a part


def python_problems(name: str, text: str) -> list[Problem]:
    """The first syntax error, doubtful where a later Python than this may take the line.

    Parts that parse make a text that parses, whatever `_STATEMENT` takes for the end of one; if a
    part does not, the whole text decides.
    """
    try:
        for part in _STATEMENT.split(text):
            (_parse if len(part) <= _MAX_REMEMBERED else _parse.__wrapped__)(part)
        return []
    except (SyntaxError, ValueError):
        pass
    try:
        _parse.__wrapped__(text)
    except SyntaxError as error:
        if _MAGIC.search(text):
            raise NotChecked("it holds commands of IPython") from None
        return [_problem(error, text)]
    except ValueError as error:  # a NUL
        return [found(text, text.find("\0"), text.find("\0"), str(error), "python")]
    return []


def _problem(error: SyntaxError, text: str) -> Problem:
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    end = max((line, column), (error.end_lineno or line, error.end_offset or column))
    shown = "".join(text.split("\n")[line - 1 : line])
    newer = sys.version_info < _NEWEST and (_NEWER.search(shown) or "f-string" in error.msg)
    severity, message = ("warning", f"{error.msg} ({DOUBT})") if newer else ("error", error.msg)
    return Problem(line, column, severity, message, "python", "syntax", end)


@lru_cache(1024)
def _parse(text: str) -> None:
    """Raises as `ast.parse` does, which warns of escapes, and of `return` in a wrong place."""
    todo: list[tuple[ast.AST, bool, bool]] = [
        (ast.parse(_ESCAPE.sub(_without_warning, text)), False, False)
    ]
    while todo:
        node, function, loop = todo.pop()
        leaves = isinstance(node, ast.Return) and not function
        if leaves or (isinstance(node, ast.Break | ast.Continue) and not loop):
            where = ("", getattr(node, "lineno", 1), 1, "")
            raise SyntaxError("a statement outside of what it belongs to", where)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            function, loop = not isinstance(node, ast.ClassDef), False
        is_loop = isinstance(node, ast.For | ast.AsyncFor | ast.While)
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            inside = loop or (is_loop and block == "body")
            todo += [(inner, function, inside) for inner in getattr(node, block, ())]


def _without_warning(escape: re.Match[str]) -> str:
    """As long, and as wrong outside of strings; a brace stays: it may begin a value in raw ones."""
    if escape[1]:
        return escape[0]
    return f"${escape[0][1]}" if escape[0][1] in "{}" else "\\\\"
