"""Syntax checks around a write: what is wrong with a text, and what a change made wrong."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from fsagent_tools.errors import Cancelled, LintRejected, ToolError
from fsagent_tools.lint import guarded, jsons, scripts, yamls
from fsagent_tools.lint.places import Undecided
from fsagent_tools.problems import Problem, by_importance, count
from fsagent_tools.text import decode

MAX_LINTED_BYTES = 1 << 20
_SHOWN = 3  # problems in the line of text
CHECKS: Mapping[str, Callable[[str, str], list[Problem]]] = {
    **dict.fromkeys((".json", ".jsonc"), jsons.json_problems),
    **dict.fromkeys((".yaml", ".yml"), yamls.yaml_problems),
    ".toml": guarded.check_toml,
    **dict.fromkeys((".py", ".pyi"), guarded.check_python),
    **dict.fromkeys(scripts.GRAMMARS, scripts.script_problems),
}
LintMode = Literal["report", "off", "reject"]
ServerCheck = Callable[[str], list[Problem] | None]  # text -> problems, None: no answer


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


def problems_in(name: str, text: bytes | str) -> list[Problem]:
    """The problems of a whole text, by the built-in validator for the suffix of `name`.

    Empty for a suffix without one. Raises `Undecided` when it cannot say, `ToolError` for bytes
    that are no text.
    """
    validator = CHECKS.get(PurePosixPath(name).suffix.lower())
    if validator is None:
        return []
    if len(text) > MAX_LINTED_BYTES:
        raise Undecided(f"{len(text):,} bytes are over the limit of {MAX_LINTED_BYTES:,}")
    plain = text.removeprefix("\ufeff") if isinstance(text, str) else _decoded(name, text)
    return validator(name, plain)


def is_well_formed(name: str, text: bytes) -> bool | None:
    """Whether a whole text has no syntax error; None where that cannot be told."""
    if PurePosixPath(name).suffix.lower() not in CHECKS:
        return None
    try:
        return not any(problem.severity == "error" for problem in problems_in(name, text))
    except (Undecided, ToolError):
        return None


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


def report(name: str, before: bytes | None, after: bytes, ask: ServerCheck | None = None) -> Report:
    """What is wrong in `after` that was not in `before` (None: there was no file).

    `ask` is a language server, asked first; without an answer the built-in validator is. Never
    fails because of what the text holds; only `Cancelled` passes through.
    """
    try:
        return Report(by_importance(_new_problems(name, before, after, ask)))
    except Undecided as error:
        return Report(note=str(error))
    except Cancelled:
        raise
    except ToolError:
        return Report()
    except Exception as error:  # noqa: BLE001  # a validator's bug must not cost the write
        return Report(note=f"the validator failed ({type(error).__name__})")


def review(
    mode: LintMode, name: str, before: bytes | None, after: bytes, ask: ServerCheck | None = None
) -> Report:
    """What a write has to do before it commits `after` to the file `name`.

    `off`: nothing. `report`: `report`. `reject`: that too, but first raises `LintRejected` when
    `after` has a syntax error that `before` had not.
    """
    if mode == "off":
        return Report()
    if mode == "reject":
        syntax = report(name, before, after)
        errors = [problem for problem in syntax.problems if problem.severity == "error"]
        if errors:
            raise LintRejected(
                f"{name} would have a syntax error: {summary(errors).removeprefix('lint: ')}.",
                hint="Nothing was written. Correct the text and write again.",
                details={"lint": [problem.to_dict() for problem in errors]},
            )
    return report(name, before, after, ask)


def _new_problems(
    name: str, before: bytes | None, after: bytes, ask: ServerCheck | None
) -> list[Problem]:
    new = _decoded(name, after)
    old = "" if before is None else _decoded(name, before)
    finder: ServerCheck = (
        ask if ask and len(after) <= MAX_LINTED_BYTES else lambda text: problems_in(name, text)
    )
    problems = finder(new)
    if problems is None:
        finder = lambda text: problems_in(name, text)  # noqa: E731
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
