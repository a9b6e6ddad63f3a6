"""Whether a text parses, for rules that choose by it: the same answer on any machine.

Nothing here has a clock or starts a process; what goes beyond the budget is not decided. Of a
Python text that has changed, what stands between two statements at the left margin is parsed alone.
If that succeeds, the whole text parses where the one before it did; if not, all of it is parsed.
"""

import ast
import io
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from fsagent_tools.errors import ToolError
from fsagent_tools.lint import child, guarded
from fsagent_tools.lint.places import Means, Source, Steps, Undecided
from fsagent_tools.lint.validators import by_validator, decoded, validator_of
from fsagent_tools.problems import Parsing
from fsagent_tools.runtime.weight import is_slow_toml
from fsagent_tools.text import NOTEBOOK

JUDGED = 1 << 18  # bytes of a text that is parsed
JUDGED_STEPS = 20_000  # that a parser may take: four times those of a large text without errors
_REMEMBERED = 8  # an edit asks about the text that the last one left
_ESCAPE = re.compile(r"\\(?:([\nabfnrtvxuUN0-7'\"\\])|.)")  # those that are none are warned of
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_latest: dict[str, "_Text"] = {}  # by name


def judge(name: str) -> Callable[[bytes], Parsing]:
    """A function that says whether a text of that name has no syntax error.

    None where there is no parser within this process, or the text is of no language that it knows.
    "beyond" where the parser would need more than its budget.
    """
    return lambda text: _judged(name, text)[0]


def broken(name: str, before: bytes, after: bytes) -> str:
    """What to tell of a text that parsed before a change and does not after it, else ""."""
    parses, fault = _judged(name, after)
    if parses is not False or _judged(name, before)[0] is not True:
        return ""
    return f"No longer parses: {fault}."


@lru_cache(_REMEMBERED)
def _judged(name: str, text: bytes) -> tuple[Parsing, str]:
    """Whether it parses, and if it does not, where the first fault is and which."""
    validator = validator_of(name)
    if validator is None or (name.lower().endswith(NOTEBOOK) and not text.startswith(b"{")):
        return None, ""  # or the cells of a notebook, which are texts of their own
    if len(text) > JUDGED:
        return "beyond", ""
    try:
        plain = decoded(name, text)
        if validator is guarded.check_python:
            return _by_compiler(name, plain.removeprefix("\ufeff"))
        if validator is guarded.check_toml:
            found = None if is_slow_toml(plain) else child.toml(plain)
            return _first(None if found is None else [(line, said) for line, *_, said in found])
        return _by_validator(name, plain)
    except (ToolError, RecursionError):
        return None, ""


def _first(faults: Sequence[tuple[int, str]] | None) -> tuple[Parsing, str]:
    """None: nobody can tell."""
    if faults is None:
        return None, ""
    return not faults, "".join(f"line {line}, {said}" for line, said in faults[:1])


def _by_validator(name: str, text: str) -> tuple[Parsing, str]:
    steps = Steps(JUDGED_STEPS)
    try:
        found = by_validator(Source(name, text, Means(until=inf, steps=steps)))
    except (Undecided, ToolError, RecursionError):
        return "beyond" if steps.over else None, ""
    return _first(
        [(p.line, p.message) for p in found if p.severity == "error" or p.code == "syntax"]
    )


def _by_compiler(name: str, text: str) -> tuple[Parsing, str]:
    """Python as this interpreter reads it, undecided for what IPython would."""
    try:
        parse_python(name, text)
    except (SyntaxError, ValueError) as error:
        if guarded.has_magic(text):
            return None, ""
        return _first([(getattr(error, "lineno", 1), getattr(error, "msg", str(error)))])
    except (MemoryError, RecursionError):
        return None, ""
    return True, ""


@dataclass(frozen=True)
class _Text:
    """One that parses. starts: the indexes of lines that begin a statement at the left margin."""

    lines: list[str]
    starts: list[int]


def parse_python(name: str, text: str) -> None:
    """Read a text of that name as this interpreter does, which helps with the next one of it.

    Raises `SyntaxError` or `ValueError` for what it does not read, `MemoryError` or
    `RecursionError` for what is too deep.
    """
    lines = io.StringIO(text, newline="").readlines()
    before = _latest.get(name)
    found = _starts_beside(before, lines) if before else None
    if found is None:
        found = _starts(lines)
    _latest.pop(name, None)
    _latest[name] = _Text(lines, found)
    for oldest in [*_latest][:-_REMEMBERED]:
        _latest.pop(oldest, None)


def python_tree(text: str) -> ast.Module:
    """Its tree, without a warning of an escape that is none. Raises as `ast.parse` does."""
    return ast.parse(_ESCAPE.sub(_unwarned, text))


def _unwarned(one: re.Match[str]) -> str:
    """As long, and as wrong outside of strings; a brace stays: it may begin a value in raw ones."""
    return one[0] if one[1] else f"${one[0][1]}" if one[0][1] in "{}" else "\\\\"


def astray(tree: ast.Module) -> int:
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


def _starts(lines: Sequence[str]) -> list[int]:
    """Of a text that begins and ends at the left margin. Raises as the parser does."""
    tree = python_tree("".join(lines))
    if line := astray(tree):
        said = "a statement outside of what it belongs to"
        raise SyntaxError(said, ("", line, 0, ""))
    found = []
    for one in tree.body:
        above = getattr(one, "decorator_list", None)
        line = (above[0].lineno if above else one.lineno) - 1
        if lines[line].startswith("@") if above else not one.col_offset:
            found.append(line)
    return found


def _starts_beside(before: _Text, lines: list[str]) -> list[int] | None:
    """None where the statements that changed do not tell."""
    old, starts = before.lines, before.starts
    most, more = min(len(old), len(lines)), len(lines) - len(old)
    same = bisect_left(range(most), True, key=lambda at: old[: at + 1] != lines[: at + 1])
    after = bisect_left(range(most - same), True, key=lambda at: old[~at:] != lines[~at:])
    first = bisect_right(starts, same) - 1
    last = bisect_left(starts, len(old) - after)
    low = starts[first] if first >= 0 else 0
    high = starts[last] if last < len(starts) else len(old)
    if low and lines[low - 1].rstrip("\r\n").endswith("\\"):
        return None
    try:
        between = _starts(lines[low : high + more])
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    rest = (one + more for one in starts[last:])
    return [*starts[: max(first, 0)], *(low + one for one in between), *rest]
