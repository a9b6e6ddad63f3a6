"""Which problems a change made, and which were there before."""

from collections import Counter

from fsagent_tools.problems import Problem


def introduced(
    before: list[Problem], after: list[Problem], old: str = "", new: str = ""
) -> list[Problem]:
    """The problems in `after` (of the text `new`) that `before` (of `old`) did not have.

    Compared by what is said about which line text, wherever the line moved to. A parser stops at
    its first error, so when `old` did not parse, a syntax error outside the lines that changed
    was hidden, not made.
    """
    olds, news = old.split("\n"), new.split("\n")
    known = Counter(_identity(problem, olds) for problem in before)
    fresh = []
    for problem in after:
        identity = _identity(problem, news)
        if known[identity]:
            known[identity] -= 1
        else:
            fresh.append(problem)
    if not any(problem.code == "syntax" for problem in before):
        return fresh
    first, last = _changed(olds, news)
    return [p for p in fresh if p.code != "syntax" or first <= p.line <= last]


def _identity(problem: Problem, lines: list[str]) -> tuple[str, str, str, str]:
    line = lines[problem.line - 1].strip() if problem.line <= len(lines) else ""
    return problem.source, problem.code, problem.message, line


def _changed(before: list[str], after: list[str]) -> tuple[int, int]:
    """First and last line number of `after` that differ from `before`, one line of margin."""
    same = min(len(before), len(after))
    head = next((n for n in range(same) if before[n] != after[n]), same)
    tail = next((n for n in range(same - head) if before[-1 - n] != after[-1 - n]), same - head)
    return head, len(after) - tail + 1
