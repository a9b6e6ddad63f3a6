"""Runs a check in a process of its own: the compiler can crash on hostile text, or never end."""

import json
import re
import sys
import time
from pathlib import Path

from fsagent_tools.lint import child
from fsagent_tools.lint.places import LATE, Source, Undecided
from fsagent_tools.policy import Limits
from fsagent_tools.problems import Problem
from fsagent_tools.runtime.weight import is_slow_toml
from fsagent_tools.shell.reader import run_reader

_RUFF = Path(sys.executable).with_name("ruff")
_LIMITS = Limits(memory="4GB", cpu_seconds=10)
_REFUSED = "E9,F404,F406,F622,F70,PLE0117,PLE0118,PLE1142"  # Ruff's rules: `compile` raises for it
_TAB, _BLANK = re.compile(r"(?m)^ *\t"), re.compile(r"(?m)^\t* ")
_MAGIC = re.compile(r"(?m)^[ \t]*+(?:%{1,2}[a-z]|![a-z])")
NEWEST = "3.14"  # Python that Ruff is asked about
_SMALL = 1 << 16  # bytes
_LONG = 1 << 18  # characters that `compile` needs about half a second for


def check_python(source: Source) -> list[Problem]:
    """The first syntax errors of Python, in the version of this interpreter or a later one.

    Ruff's parser decides on long texts, which take it a twentieth of the time, and on what is right
    in a later version. `compile` always runs in a process of its own: it may exhaust the C stack,
    and its warnings go through filters that all threads share.
    """
    has_ruff = _RUFF.is_file() and source.means.programs.is_outside(str(_RUFF))
    if has_ruff and len(source.text) > _LONG:
        problems = _by_ruff(source, "{}.{}".format(*sys.version_info[:2]))
    else:
        problems = _problems(_apart("python", source), "python")
    if problems and has_ruff and not _by_ruff(source, NEWEST):
        return []
    if problems and has_magic(source.text):
        raise Undecided("it holds commands of IPython")
    return problems


def has_magic(text: str) -> bool:
    """Whether Python may be IPython's."""
    return bool(_MAGIC.search(text))


def check_toml(source: Source) -> list[Problem]:
    """The first syntax error of TOML."""
    text = source.text
    if len(text) > _SMALL or is_slow_toml(text):
        return _problems(_apart("toml", source), "toml")
    try:
        return _problems(child.toml(text), "toml")
    except RecursionError:
        raise Undecided("it is nested too deeply") from None


def _by_ruff(source: Source, version: str) -> list[Problem]:
    options = ["--isolated", "--no-cache", "--ignore-noqa", "--select", _REFUSED]
    options += ["--target-version", f"py{version.replace('.', '')}"]
    name = f"text{source.suffix}"
    command = [str(_RUFF), "check", *options, "--output-format", "json", "--stdin-filename", name]
    try:
        told = json.loads(run_check([*command, "-"], source)[0])
    except ValueError:
        raise Undecided("it is nested too deeply, or too large") from None
    faults = list[child.Fault]()
    for each in told:
        if each["code"] == "PLE0118" and "import annotations" in source.text:
            continue  # an annotation that is not evaluated is no use of the name
        start, end = each["location"], each["end_location"]
        span = (start["row"], start["column"], end["row"], end["column"])
        if not faults or faults[-1][:2] != span[:2]:  # two rules may tell of one place
            faults.append((*span, str(each["message"])))
    if not faults and _TAB.search(source.text) and _BLANK.search(source.text):
        faults = _apart("tabs", source)  # depths that depend on how wide a tab is pass Ruff
    return _problems(faults, f"Python {version}")


def _apart(check: str, source: Source) -> list[child.Fault]:
    command = [
        source.means.programs.interpreter,
        "-I",
        "-S",
        "-W",
        "ignore",
        str(Path(child.__file__)),
        check,
    ]
    try:
        faults: list[child.Fault] = json.loads(run_check(command, source)[0])
    except ValueError:
        raise Undecided("it is nested too deeply, or too large") from None
    return faults


def run_check(command: list[str], source: Source, *readable: str) -> tuple[bytes, bytes]:
    """Output and errors of `command`, which may read `readable`, with the text as its input."""
    source.go_on()
    left = source.means.until - time.monotonic()
    try:
        places = [command[0], child.__file__, *readable]
        return run_reader(command, places, source.text.encode(), left, _LIMITS)
    except TimeoutError:
        raise Undecided(LATE) from None
    except OSError as error:
        raise Undecided(f"{Path(command[0]).name} does not start: {error.strerror}") from None


def _problems(faults: list[child.Fault], source: str) -> list[Problem]:
    return [
        Problem(line, column, "error", message, source, "syntax", (end_line, end_column))
        for line, column, end_line, end_column, message in faults
    ]
