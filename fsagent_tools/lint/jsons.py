"""Checks JSON and JSON with comments, by the standard library's parser."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fsagent_tools.lint.places import Source, Undecided, found, place
from fsagent_tools.problems import Problem

JSON = (".json", ".jsonc", ".ipynb", ".geojson", ".webmanifest", ".code-workspace", ".har")
_SHOWN = 100  # problems of JSON lines
_STRING = r'"(?:[^"\\\n]|\\.)*+"?+'  # one without an end, too, which each mark in it would look for
_COMMENT = re.compile(rf"{_STRING}|(?P<comment>//[^\n]*+|/\*(?s:.*?)(?P<end>\*/|\Z))")
_LAST_COMMA = re.compile(rf"({_STRING}|[]}}\w])(\s*+),(?=\s*+[]}}])|{_STRING}")
_SECOND = "Extra data"  # the parser's words for another text behind the first
_CONSTANT = re.compile(rf"{_STRING}|(?P<constant>-?(?:NaN|Infinity))")
_TOKEN = re.compile(rf"(?P<key>{_STRING})\s*+:|{_STRING}|(?P<mark>[][{{}}])")
_WITH_COMMENTS = re.compile(  # what its programs read as JSON with comments, in lower case
    r"(?:.*/)?(?:[^/]*\.(jsonc|code-workspace)|(ts|js)config([.-][^/]*)?\.json"
    r"|\.?devcontainer\.json|\.(eslint|swc|babel|mocha|oxlint)rc\.json|babel\.config\.json"
    r"|(api-extractor|angular|deno|nx|rush|tslint|turbo|typedoc|tsdoc(-metadata)?)\.json"
    r"|language-configuration\.json|[^/]*-color-theme\.json|\.vscode/[^/]*\.json)"
)


def may_have_comments(name: str) -> bool:
    """Whether a file of that name, or path, is JSON with comments."""
    return bool(_WITH_COMMENTS.fullmatch(name.lower()))


def without_comments(text: str) -> str:
    """JSON with comments, and commas after the last value, as plain JSON of the same length."""
    return _LAST_COMMA.sub(_without_comma, _COMMENT.sub(_blanked, text))


def json_problems(source: Source) -> list[Problem]:
    """The first syntax error, or the keys that are twice in one object (warnings).

    Raises `Undecided` where each line is JSON, but the whole is not.
    """
    if not may_have_comments(source.name):
        problems = _problems(source.text, "json")
        if any(map(_goes_on, problems)) and not json_line_problems(source):
            raise Undecided("it has JSON in each line, not one JSON text")
        return problems
    text = without_comments(source.text)
    return _problems(text, "jsonc") if text.strip() else []


def json_line_problems(source: Source) -> list[Problem]:
    """The first error of every line, each a JSON text or blank; at most about `_SHOWN`."""
    problems: list[Problem] = []
    for number, line in enumerate(source.text.split("\n")):
        if not number % 1024:
            source.go_on()
        if line.strip():
            problems += (_moved(problem, number) for problem in _problems(line, "json"))
        if len(problems) >= _SHOWN:
            break
    return problems


def _goes_on(problem: Problem) -> bool:
    return problem.message == _SECOND and problem.line > 1


def _moved(problem: Problem, lines: int) -> Problem:
    end = problem.end and (problem.end[0] + lines, problem.end[1])
    return replace(problem, line=problem.line + lines, end=end)


def _blanked(match: re.Match[str]) -> str:
    """A comment as blanks, so that all else stays in its place; one without an end stays."""
    return re.sub(r"[^\n]", " ", match[0]) if match["comment"] and match["end"] != "" else match[0]


def _without_comma(match: re.Match[str]) -> str:
    return match[0] if match[1] is None else f"{match[1]}{match[2]} "


def _problems(text: str, language: str) -> list[Problem]:
    repeats = False

    def note_repeats(members: list[tuple[str, object]]) -> None:
        nonlocal repeats
        repeats |= len(dict(members)) < len(members)

    def refuse(constant: str) -> None:
        places = (m.start() for m in _CONSTANT.finditer(text) if m["constant"])
        raise json.JSONDecodeError(f"{constant} is no JSON", text, next(places, 0))

    decoder = json.JSONDecoder(
        object_pairs_hook=note_repeats, parse_constant=refuse, parse_int=str, parse_float=str
    )
    try:
        decoder.decode(text)
    except json.JSONDecodeError as error:
        reason = error.msg.removesuffix(" starting at").removesuffix(" at")
        return [found(text, (error.pos, error.pos), reason, language)]
    except RecursionError:
        raise Undecided("it is nested too deeply") from None
    return [*_repeated_keys(text, language)] if repeats else []


def _repeated_keys(text: str, language: str) -> Iterator[Problem]:
    """Of a text without errors."""
    objects: list[set[Any]] = []
    for token in _TOKEN.finditer(text):
        if token["mark"]:
            if token["mark"] in "[{":
                objects.append(set())
            else:
                objects.pop()
        elif token["key"]:
            key = json.loads(token["key"])
            if key in objects[-1]:
                start, end = (place(text, at) for at in token.span("key"))
                said = f"duplicate key {token['key'][:60]}"
                yield Problem(*start, "warning", said, language, "duplicate-key", end)
            objects[-1].add(key)
