"""Whether a text parses, for rules that choose by it: the same answer on any machine.

Nothing here has a clock or starts a process; what goes beyond the budget is not decided.
"""

import ast
import re
from collections.abc import Callable
from functools import lru_cache
from math import inf

from fsagent_tools.errors import ToolError
from fsagent_tools.lint import child, guarded
from fsagent_tools.lint.places import Source, Steps, Undecided
from fsagent_tools.lint.validators import by_validator, decoded, validator_of
from fsagent_tools.problems import Parsing
from fsagent_tools.runtime.weight import is_slow_toml

JUDGED = 1 << 18  # bytes of a text that is parsed
JUDGED_STEPS = 20_000  # that a parser may take: four times those of a large text without errors
_REMEMBERED = 8  # an edit asks about the text that the last one left
_ESCAPE = re.compile(r"\\(?:([\nabfnrtvxuUN0-7'\"\\])|.)")  # those that are none are warned of
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def judge(name: str) -> Callable[[bytes], Parsing]:
    """A function that says whether a text of that name has no syntax error.

    None where there is no parser within this process, or the text is of no language that it knows.
    "beyond" where the parser would need more than its budget.
    """
    if validator_of(name) in (None, guarded.check_shell):
        return lambda _: None
    return lambda text: _judged(name, text)


def broken(name: str, before: bytes, after: bytes) -> str:
    """What to tell of a text that parsed before a change and does not after it, else ""."""
    judged = judge(name)
    if judged(after) is not False or judged(before) is not True:
        return ""
    return f"No longer parses: {_fault(name, decoded(name, after))}."


def _fault(name: str, text: str) -> str:
    """Where the first fault is, and which."""
    if validator_of(name) is guarded.check_python:
        try:
            line = _astray(ast.parse(_ESCAPE.sub(_known, text.removeprefix("\ufeff"))))
            return f"line {line}, a statement outside of what it belongs to"
        except (SyntaxError, ValueError) as error:
            return f"line {getattr(error, 'lineno', 1)}, {getattr(error, 'msg', error)}"
    if validator_of(name) is guarded.check_toml:
        line, *_, message = child.toml(text)[0]
        return f"line {line}, {message}"
    first = by_validator(Source(name, text, inf))[0]
    return f"line {first.line}, {first.message}"


@lru_cache(_REMEMBERED)
def _judged(name: str, text: bytes) -> Parsing:
    if len(text) > JUDGED:
        return "beyond"
    steps = Steps(JUDGED_STEPS)
    try:
        source = Source(name, decoded(name, text), inf, steps=steps)
        if validator_of(name) is guarded.check_python:
            return _parses(source)
        if validator_of(name) is guarded.check_toml:
            return None if is_slow_toml(source.text) else not child.toml(source.text)
        found = by_validator(source)
    except (Undecided, ToolError, RecursionError):
        return "beyond" if steps.over else None
    return not any(p.severity == "error" or p.code == "syntax" for p in found)


def _parses(source: Source) -> bool | None:
    """Python as this interpreter reads it, or None for what IPython would."""
    try:
        tree = ast.parse(_ESCAPE.sub(_known, source.text.removeprefix("\ufeff")))
    except (SyntaxError, ValueError):
        return None if guarded.of_dialect(source) else False
    except (MemoryError, RecursionError):
        return None
    return not _astray(tree)


def _known(escape: re.Match[str]) -> str:
    return escape[0] if escape[1] else "\\\\"


def _astray(tree: ast.Module) -> int:
    """The line of a statement where none can be, 0 if there is none: what no parser tells."""
    todo: list[tuple[ast.AST, bool, bool]] = [(tree, False, False)]
    while todo:
        node, function, loop = todo.pop()
        if isinstance(node, ast.Return) and not function:
            return node.lineno
        if isinstance(node, ast.Break | ast.Continue) and not loop:
            return node.lineno
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function, loop = True, False
        elif isinstance(node, ast.ClassDef):
            function, loop = False, False
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            todo += [(inner, function, loop) for inner in node.orelse]
            todo += [(inner, function, True) for inner in node.body]
            continue
        for block in _BLOCKS:
            todo += [(inner, function, loop) for inner in getattr(node, block, ())]
    return 0
