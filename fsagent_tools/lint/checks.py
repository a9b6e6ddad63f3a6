"""Which parser checks a text, by its name; JSON, YAML and TOML. No clock and no process."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from fsagent_tools.encoding import decode
from fsagent_tools.errors import ToolError
from fsagent_tools.lint.python import python_problems
from fsagent_tools.lint.source import NotChecked, found
from fsagent_tools.lint.treesitter import GRAMMARS, script_problems
from fsagent_tools.problems import Parsing, Problem

MAX_PARSED = 1 << 18  # characters of Python, YAML and TOML: at most about half a second
MAX_SCANNED = 1 << 20  # characters of JSON, JavaScript and TypeScript
_STRING = r'"(?:[^"\\\n]|\\.)*+"?+'  # an open string, too: else each quote in it is tried again
_COMMENT = re.compile(rf"{_STRING}|(?P<comment>//[^\n]*+|/\*(?s:.*?)\*/)")
_LETTER = re.compile(r"[^\n]")
_LAST_COMMA = re.compile(rf"({_STRING}|[]}}\w])(\s*+),(?=\s*+[]}}])|{_STRING}")
_TOKEN = re.compile(rf"(?P<key>{_STRING})\s*+:|{_STRING}|(?P<mark>[][{{}}])")
_WITH_COMMENTS = re.compile(  # what its programs read as JSON with comments, in lower case
    r"(?:.*/)?(?:[^/]*\.(jsonc|code-workspace)|(ts|js)config([.-][^/]*)?\.json"
    r"|\.?devcontainer\.json|\.(eslint|swc|babel|mocha|oxlint)rc\.json|babel\.config\.json"
    r"|(api-extractor|angular|deno|nx|rush|tslint|turbo|typedoc|tsdoc(-metadata)?)\.json"
    r"|language-configuration\.json|[^/]*-color-theme\.json|\.vscode/[^/]*\.json)"
)
_MOST_DOTS = 200  # a line with more may be one key: quadratic time, and 4 GB for one of 64 kB
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_MAX_TAGS = 200  # %TAG directives of YAML: libyaml compares each with all before it


def has_parser(name: str) -> bool:
    return _parser_of(name) is not None


def syntax_problems(name: str, text: str) -> list[Problem]:
    """What the parser for the file `name` tells of its text. Raises `NotChecked`."""
    if (parse := _parser_of(name)) is None:
        suffix = PurePosixPath(name).suffix.lower() or "such"
        raise NotChecked(f"there is no parser for {suffix} files")
    limit = MAX_SCANNED if parse in (_json, script_problems) else MAX_PARSED
    if len(text) > limit:
        reason = f"{len(text):,} characters are over the limit of {limit:,}"
        raise NotChecked(reason, too_large=True)
    try:
        return parse(name, text.removeprefix("\ufeff"))
    except (RecursionError, MemoryError):
        raise NotChecked("it is nested too deeply") from None
    except ModuleNotFoundError:
        raise NotChecked("its parser is missing: pip install 'fsagent-tools[lint]'") from None


def judge(name: str) -> Callable[[bytes], Parsing]:
    """A function that says whether a text of that name has no syntax error.

    None where there is no parser, or it cannot tell; "beyond" where the text is too large for it.
    """
    return lambda text: _judged(name, text)[0]


def broken(name: str, before: bytes, after: bytes) -> str:
    """What to tell of a text that parsed before a change and does not after it, else ""."""
    parses, fault = _judged(name, after)
    return fault if parses is False and _judged(name, before)[0] is True else ""


@lru_cache(8)  # an edit asks about the text that the last one left
def _judged(name: str, text: bytes) -> tuple[Parsing, str]:
    """Whether it parses, and the first fault if it does not."""
    try:
        problems = syntax_problems(name, decode(text, name).utf8.decode())
    except NotChecked as reason:
        return "beyond" if reason.too_large else None, ""
    except ToolError:
        return None, ""
    faults = [each for each in problems if each.severity == "error" or each.code == "syntax"]
    for fault in faults[:1]:
        return False, f"Syntax error after this edit: line {fault.line}, {fault.message}."
    return True, ""


def may_have_comments(name: str) -> bool:
    """Whether a file of that name, or path, is JSON with comments."""
    return bool(_WITH_COMMENTS.fullmatch(name.lower()))


def _json(name: str, text: str) -> list[Problem]:
    language, repeats = "jsonc" if may_have_comments(name) else "json", list[object]()

    def note_repeats(members: list[tuple[str, object]]) -> None:
        repeats.extend(members[len(dict(members)) :])

    def refuse(constant: str) -> None:
        raise json.JSONDecodeError(f"{constant} is not JSON", text, text.find(constant))

    if language == "jsonc":  # blanks in place of what JSON does not have
        text = _COMMENT.sub(lambda m: _LETTER.sub(" ", m[0]) if m["comment"] else m[0], text)
        text = _LAST_COMMA.sub(lambda m: m[0] if m[1] is None else f"{m[1]}{m[2]} ", text)
        text = text if text.strip() else "{}"
    decoder = json.JSONDecoder(
        object_pairs_hook=note_repeats, parse_constant=refuse, parse_int=str, parse_float=str
    )
    try:
        decoder.decode(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and error.lineno > 1 and language == "json":
            raise NotChecked("it holds several JSON texts") from None
        reason = error.msg.removesuffix(" starting at").removesuffix(" at")
        return [found(text, error.pos, error.pos, reason, language)]
    return [*_repeated_keys(text, language)] if repeats else []


def _repeated_keys(text: str, language: str) -> Iterator[Problem]:
    """Warnings; `text` has no errors."""
    objects: list[set[Any]] = []
    for token in _TOKEN.finditer(text):
        if token["mark"]:
            objects.append(set()) if token["mark"] in "[{" else objects.pop()
        elif token["key"]:
            key = json.loads(token["key"])
            if key in objects[-1]:
                problem = found(text, *token.span("key"), f"duplicate key {key[:60]!r}", language)
                yield replace(problem, severity="warning", code="duplicate-key")
            objects[-1].add(key)


def _toml(name: str, text: str) -> list[Problem]:
    if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):
        raise NotChecked("it has keys of too many parts")
    try:
        tomllib.loads(text)
        return []
    except tomllib.TOMLDecodeError as error:
        message, at = _TOML_PLACE.sub("", str(error)), _TOML_PLACE.search(str(error))
    offset = len(text.rstrip("\n"))
    if at and at[1]:
        above = text.split("\n")[: int(at[1]) - 1]
        offset = sum(len(line) + 1 for line in above) + int(at[2]) - 1
    return [found(text, offset, offset, message, "toml")]


def _yaml(name: str, text: str) -> list[Problem]:
    """By its events: nothing is built, so nesting and aliases cost no more than their length."""
    if text.count("%TAG") > _MAX_TAGS:
        raise NotChecked(f"it has more than {_MAX_TAGS} %TAG directives")
    import yaml  # an extra

    problems: list[Problem] = []
    try:
        for event, message, code in _yaml_faults(yaml, text):
            span = event.start_mark.index, event.end_mark.index
            problems.append(replace(found(text, *span, message, "yaml"), code=code))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = min(mark.index if mark else len(text), len(text))
        message = ", ".join(filter(None, (error.context, error.problem)))
        problems.append(found(text, at, at, message, "yaml"))
    except yaml.reader.ReaderError as error:
        message, at = f"the character U+{error.character:04X} is not allowed", error.position
        problems.append(found(text, at, at + 1, message, "yaml"))
    return problems


def _yaml_faults(yaml: Any, text: str) -> Iterator[tuple[Any, str, str]]:
    """Unknown aliases and repeated keys: the event, the message, the code."""
    resolve, anchors = yaml.resolver.Resolver().resolve, set[str]()
    opened: list[list[Any]] = []  # of each mapping its keys, and whether the next node is one
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.DocumentStartEvent):
            anchors = set()
        elif isinstance(event, yaml.AliasEvent) and event.anchor not in anchors:
            yield event, f"the alias *{event.anchor} has no anchor", "undefined-alias"
        elif isinstance(event, yaml.CollectionEndEvent):
            opened.pop()
        if not isinstance(event, yaml.NodeEvent):
            continue
        anchors.add(event.anchor)
        if opened and opened[-1]:
            keys, is_key = opened[-1]
            opened[-1][1] = not is_key
            if is_key and isinstance(event, yaml.ScalarEvent):
                tag = event.tag or resolve(yaml.ScalarNode, event.value, event.implicit)
                merged = event.value == "<<" or event.value.startswith("${{")  # filled in later
                if (tag, event.value) in keys and not merged:
                    yield event, f"duplicate key {event.value[:60]!r}", "duplicate-key"
                keys.add((tag, event.value))
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append([set(), True] if isinstance(event, yaml.MappingStartEvent) else [])


_PARSERS = {  # by suffix, or whole name
    **dict.fromkeys((".json", ".jsonc", ".ipynb", ".geojson", ".webmanifest", ".har"), _json),
    **dict.fromkeys((".code-workspace", "Pipfile.lock", "composer.lock", "flake.lock"), _json),
    **dict.fromkeys((".yaml", ".yml"), _yaml),
    **dict.fromkeys((".toml", "Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock"), _toml),
    **dict.fromkeys((".py", ".pyi"), python_problems),
    **dict.fromkeys(GRAMMARS, script_problems),
}


def _parser_of(name: str) -> Callable[[str, str], list[Problem]] | None:
    path = PurePosixPath(name)
    return _PARSERS.get(path.name) or _PARSERS.get(path.suffix.lower())
