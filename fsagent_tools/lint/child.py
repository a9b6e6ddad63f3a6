"""Checks Python and TOML; run as a script where the check could take down or stall its process.

Imports nothing but the standard library: the script is started without site-packages.
"""

import json
import re
import sys
import tomllib
from typing import Any

Fault = tuple[int, int, int, int, str]  # line, column, end line, end column, message
WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def python(text: str) -> list[Fault]:
    """The syntax error that `compile` raises, if it does."""
    try:
        compile(text, "<text>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return [_fault(error)]
    except ValueError as error:  # a NUL, before it became a syntax error
        line = text.count("\n", 0, text.find("\0")) + 1
        return [(line, 1, line, 1, str(error))]
    return []


def tabs(text: str) -> list[Fault]:
    """The error of a depth that is another one with wider tabs, if it is the first one."""
    try:
        compile(text, "<text>", "exec", dont_inherit=True)
    except TabError as error:
        return [_fault(error)]
    except (SyntaxError, ValueError):
        pass
    return []


def _fault(error: SyntaxError) -> Fault:
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    end_line, end_column = error.end_lineno or line, error.end_offset or column
    end = max((line, column), (end_line, end_column))
    return (line, column, *end, error.msg)


def toml(text: str) -> list[Fault]:
    """The error that `tomllib` raises, if it does. Raises `RecursionError` on deep nesting."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        at = WHERE.search(said)
        end = len(text.rstrip("\n")), len(text)
        line = text.count("\n", 0, end[0]) + 1
        column = end[0] - text.rfind("\n", 0, end[0])
        if at and at[1]:
            line, column = int(at[1]), int(at[2])
        return [(line, column, line, column, WHERE.sub("", said))]
    return []


def lint_stdin() -> None:
    checks: dict[str, Any] = {"python": python, "tabs": tabs, "toml": toml}
    faults = checks[sys.argv[1]](sys.stdin.buffer.read().decode())
    sys.stdout.write(json.dumps(faults))


if __name__ == "__main__":
    lint_stdin()
