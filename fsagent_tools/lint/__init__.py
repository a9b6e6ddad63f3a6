"""Syntax checks around a write: what is wrong with a text, and what a change made wrong."""

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Literal

from fsagent_tools.errors import Cancelled, LintRejected, ToolError
from fsagent_tools.lint import guarded, jsons, scripts, yamls
from fsagent_tools.lint.places import Source, Undecided
from fsagent_tools.problems import Problem, by_importance, count
from fsagent_tools.process.programs import ALL_PROGRAMS, Programs
from fsagent_tools.text import decode

MAX_LINTED_BYTES = 1 << 20
_SHOWN = 3  # problems in the line of text
LINT_SECONDS = 0.8  # that checks take at most, so that a write waits less than 1 s
_JSON = (".json", ".jsonc", ".ipynb", ".geojson", ".webmanifest", ".code-workspace", ".har")
_BY_SUFFIX: Mapping[str, Callable[[Source], list[Problem]]] = {
    **dict.fromkeys(_JSON, jsons.json_problems),
    **dict.fromkeys((".jsonl", ".ndjson"), jsons.json_line_problems),
    **dict.fromkeys((".yaml", ".yml"), yamls.yaml_problems),
    ".toml": guarded.check_toml,
    **dict.fromkeys((".py", ".pyi"), guarded.check_python),
    **dict.fromkeys((".sh", ".bash"), guarded.check_shell),
    **dict.fromkeys((*scripts.GRAMMARS, *scripts.MORE_GRAMMARS), scripts.script_problems),
}
CHECKS: Mapping[str, Callable[[Source], list[Problem]]] = {
    **_BY_SUFFIX,
    **dict.fromkeys(("Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock"), guarded.check_toml),
    **dict.fromkeys(("Pipfile.lock", "composer.lock", "flake.lock"), jsons.json_problems),
}
_UNCHECKED = frozenset(("", ".txt", ".md", ".rst", ".csv", ".tsv", ".log", ".svg"))
_DATA = (".yaml", ".yml", ".toml", *_JSON)
_TEMPLATE = re.compile(r"\{%.*?%\}|<%.*?%>|\{\{\W*cookiecutter\b")
_DATA_TEMPLATE = re.compile(r"\{\{")
LintMode = Literal["report", "off", "reject"]
ServerCheck = Callable[[str], list[Problem] | None]  # text -> problems, None: no answer


@dataclass(frozen=True)
class Means:
    """What a check may use beyond the text: a language server, asked first, what finds the version
    of the project's Python, the programs that may be run, and the time, from now on.
    """

    ask: ServerCheck | None = None
    python: Callable[[], str] = str
    programs: Programs = ALL_PROGRAMS
    until: float = field(default_factory=lambda: time.monotonic() + LINT_SECONDS)


@dataclass(frozen=True)
class Report:
    """What a write made wrong, errors first. `note` says why there was no check."""

    problems: list[Problem] = field(default_factory=list)
    note: str = ""

    def line(self) -> str:
        """One line for the model, empty when there is nothing to say."""
        if self.note:
            return f"lint: not checked, {self.note}"
        return summary(self.problems)

    def to_list(self) -> list[dict[str, Any]]:
        """JSON-able, for the result field `lint`."""
        return [problem.to_dict() for problem in self.problems]


def problems_in(name: str, text: bytes | str, programs: Programs = ALL_PROGRAMS) -> list[Problem]:
    """The problems of a whole text, by the built-in validator for the name.

    Empty for a name without one. Raises `Undecided` when it cannot say, `ToolError` for bytes
    that are no text.
    """
    plain = text if isinstance(text, str) else _decoded(name, text)
    return _validated(Source(name, plain, time.monotonic() + LINT_SECONDS, programs=programs))


def is_well_formed(name: str, text: bytes, programs: Programs = ALL_PROGRAMS) -> bool | None:
    """Whether a whole text has no syntax error; None where that cannot be told."""
    if _validator(name) is None:
        return None
    try:
        found = problems_in(name, text, programs)
    except (Undecided, ToolError):
        return None
    return not any(p.severity == "error" or p.code == "syntax" for p in found)


def _validator(name: str) -> Callable[[Source], list[Problem]] | None:
    path = PurePosixPath(name)
    return CHECKS.get(path.name) or CHECKS.get(path.suffix.lower())


def _validated(source: Source) -> list[Problem]:
    validator = _validator(source.name)
    if validator is None:
        return []
    if (size := len(source.text)) > MAX_LINTED_BYTES:
        raise Undecided(f"{size:,} characters are over the limit of {MAX_LINTED_BYTES:,}")
    problems = validator(replace(source, text=source.text.removeprefix("\ufeff")))
    if problems and _foreign(source):
        raise Undecided("it is a template, or of another dialect")
    return problems


def _foreign(source: Source) -> bool:
    """Whether the text is not, or not yet, what its name says."""
    if source.suffix in _DATA and _DATA_TEMPLATE.search(source.text):
        return True
    flow = source.suffix in scripts.GRAMMARS and "@flow" in source.text[:1000]
    return flow or bool(_TEMPLATE.search(source.text))


def introduced(
    before: list[Problem], after: list[Problem], old: str = "", new: str = ""
) -> list[Problem]:
    """The problems in `after` (of the text `new`) that `before` (of `old`) did not have.

    Compared by what is said about which line text, wherever the line moved to. A parser stops at
    its first error, so when `old` did not parse, a syntax error outside the lines that changed
    was hidden, not made.
    """
    known = Counter(_identity(problem, old) for problem in before)
    fresh = []
    for problem in after:
        identity = _identity(problem, new)
        if known[identity]:
            known[identity] -= 1
        else:
            fresh.append(problem)
    if not any(problem.code == "syntax" for problem in before):
        return fresh
    first, last = _changed(old, new)
    return [p for p in fresh if p.code != "syntax" or first <= p.line <= last]


def summary(problems: list[Problem]) -> str:
    """One line: counts, then the first few problems. Empty when there are none."""
    if not problems:
        return ""
    shown = "; ".join(str(problem) for problem in problems[:_SHOWN])
    more = len(problems) - _SHOWN
    return f"lint: {count(problems)}: {shown}" + f"; and {more} more" * (more > 0)


def report(name: str, before: bytes | None, after: bytes, means: Means | None = None) -> Report:
    """What is wrong in `after` that was not in `before` (None: there was no file).

    A language server is asked first; without an answer the built-in validator is. Takes at most
    `LINT_SECONDS`. Never fails because of what the text holds; only `Cancelled` passes through.
    """
    means = means or Means()
    try:
        return Report(by_importance(_new_problems(name, before, after, means)))
    except Undecided as error:
        return Report(note=str(error))
    except Cancelled:
        raise
    except ToolError:
        return Report()
    except Exception as error:  # noqa: BLE001  # a validator's bug must not cost the write
        return Report(note=f"the validator failed ({type(error).__name__})")


def review(
    mode: LintMode, name: str, before: bytes | None, after: bytes, means: Means | None = None
) -> Report:
    """What a write has to do before it commits `after` to the file `name`.

    `off`: nothing. `report`: `report`. `reject`: that too, but first raises `LintRejected` when
    `after` has a syntax error that `before` had not.
    """
    if mode == "off":
        return Report()
    means = means or Means()
    if mode == "reject":
        syntax = report(name, before, after, replace(means, ask=None))
        errors = [problem for problem in syntax.problems if problem.severity == "error"]
        if errors:
            raise LintRejected(
                f"{name} would have a syntax error: {summary(errors).removeprefix('lint: ')}.",
                hint="Nothing was written. Correct the text and write again.",
                details={"lint": [problem.to_dict() for problem in errors]},
            )
        if means.ask is None:
            return syntax
    return report(name, before, after, means)


def _new_problems(name: str, before: bytes | None, after: bytes, means: Means) -> list[Problem]:
    new = _decoded(name, after)
    old = "" if before is None else _decoded(name, before)

    def validate(text: str) -> list[Problem]:
        return _validated(Source(name, text, means.until, means.python, means.programs))

    finder: ServerCheck = validate
    problems = None
    if means.ask and len(after) <= MAX_LINTED_BYTES:
        finder = means.ask
        problems = finder(new)
    if problems is None:
        suffix = PurePosixPath(name).suffix.lower()
        if _validator(name) is None and suffix not in _UNCHECKED:
            raise Undecided(f"there is no validator for {suffix} files")
        finder = validate
        problems = finder(new)
    if not problems or before is None:
        return problems or []
    return introduced(finder(old) or [], problems, old, new)


def _decoded(name: str, raw: bytes) -> str:
    return decode(raw, name).utf8.decode()


def _identity(problem: Problem, text: str) -> tuple[str, str, str, str]:
    lines = text.split("\n")
    line = lines[problem.line - 1].strip() if problem.line <= len(lines) else ""
    return problem.source, problem.code, problem.message, line


def _changed(old: str, new: str) -> tuple[int, int]:
    """First and last line number of `new` that differ from `old`, one line of margin."""
    before, after = old.split("\n"), new.split("\n")
    same = min(len(before), len(after))
    head = next((n for n in range(same) if before[n] != after[n]), same)
    tail = next((n for n in range(same - head) if before[-1 - n] != after[-1 - n]), same - head)
    return head, len(after) - tail + 1
