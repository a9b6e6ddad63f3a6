"""Runs a check in a process of its own: the compiler can crash on hostile text, or never end."""

import json
import os
import subprocess
import sys
from pathlib import Path

from fsagent_tools.lint import child
from fsagent_tools.lint.places import Undecided
from fsagent_tools.problems import Problem

_SECONDS = 5.0
_DOTS = 200  # a TOML line with more may be one key, for which tomllib needs quadratic time
_SMALL = 1 << 16  # bytes


def check_python(name: str, text: str) -> list[Problem]:
    """The first syntax error of Python, as this interpreter's version has it.

    Always in a process of its own: `compile` may exhaust the C stack, and its warnings go
    through filters that all threads share.
    """
    return _problems(_apart("python", text), "python")


def check_toml(name: str, text: str) -> list[Problem]:
    """The first syntax error of TOML."""
    if len(text) > _SMALL or any(line.count(".") > _DOTS for line in text.splitlines()):
        return _problems(_apart("toml", text), "toml")
    try:
        return _problems(child.toml(text), "toml")
    except RecursionError:
        raise Undecided("it is nested too deeply") from None


def _apart(check: str, text: str) -> list[child.Fault]:
    command = [sys.executable, "-I", "-S", "-W", "ignore", str(Path(child.__file__)), check]
    try:
        done = subprocess.run(
            command,
            input=text.encode(),
            capture_output=True,
            timeout=_SECONDS,
            cwd=Path(child.__file__).parent,
            env={k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT")},
            check=False,
        )
        faults: list[child.Fault] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise Undecided(f"checking took more than {_SECONDS:g} s") from None
    except (OSError, ValueError):
        raise Undecided("it is nested too deeply, or too large") from None
    return faults


def _problems(faults: list[child.Fault], source: str) -> list[Problem]:
    return [
        Problem(line, column, "error", message, source, "syntax", (end_line, end_column))
        for line, column, end_line, end_column, message in faults
    ]
