"""Texts that are not, or not yet, what their names say: templates, and other dialects."""

import re
from collections.abc import Sequence

from fsagent_tools.lint.places import Source
from fsagent_tools.problems import Problem

TEMPLATE_OR_DIALECT = "it is a template, or of another dialect"
_STRING = r"""'(?:[^'\\\n]|\\(?:.|\n))*+'?|"(?:[^"\\\n]|\\(?:.|\n))*+"?"""
_LONG_STRING = r"""(?s:'{3}(?:[^\\]|\\.)*?(?:'{3}|\Z)|"{3}(?:[^\\]|\\.)*?(?:"{3}|\Z))"""
_BLOCK_COMMENT = r"(?s:/\*.*?(?:\*/|\Z))"
_QUOTED = re.compile(rf"(?://|#)[^\n]*+|{_BLOCK_COMMENT}|{_STRING}")
_IN_PYTHON = re.compile(rf"{_LONG_STRING}|#[^\n]*+|{_STRING}")
_IN_CSS = re.compile(rf"(?<![:(])//[^\n]*+|{_BLOCK_COMMENT}|{_STRING}")  # "//" is in addresses, too
_IN_JSON = re.compile(rf"//[^\n]*+|{_BLOCK_COMMENT}|{_STRING}")
_IN_YAML = re.compile(rf"(?m)(?:^|[ \t])#[^\n]*+|{_STRING}")
JSON = (".json", ".jsonc", ".ipynb", ".geojson", ".webmanifest", ".code-workspace", ".har")
_YAML, _HTML = (".yaml", ".yml"), (".html", ".htm")
_NEVER_BRACED = {  # suffix -> where "{{" may stand: elsewhere it is never right
    **dict.fromkeys((".py", ".pyi", ".toml"), _IN_PYTHON),
    **dict.fromkeys((".css", ".scss", ".less"), _IN_CSS),
    **dict.fromkeys(JSON, _IN_JSON),
}
_DATA = (*_YAML, *JSON, ".toml")  # where quotes inside "{{" end the string around it
_FILLED_IN = re.compile(r"(?<!\$)\{\{")  # with a dollar they are right in workflows of GitHub
_YAML_BRACES = re.compile(r"(?m)(?:^|[-:?,\[])[ \t]*+\{\{")  # elsewhere they are plain text
_COOKIECUTTER = re.compile(r"\{\{[^\w{]*+cookiecutter\b")
_MARKS = (("{%", "%}"), ("<%", "%>"))  # around a part of a line
_WITH_FLOW = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")


def is_foreign(source: Source, problems: Sequence[Problem], *, checked: bool) -> bool:
    """Whether that may be why a text has `problems`. checked: there is a validator for it, so that
    what only quotes a template has none.
    """
    text, suffix = source.text, source.suffix
    if suffix in _HTML:
        return "{{" in text or _has_marks(text)
    bare = _bare(source) if suffix in (*_NEVER_BRACED, *_YAML) or not checked else text
    if suffix in _YAML and _YAML_BRACES.search(bare):
        return True
    if suffix in _DATA and any(map(_FILLED_IN.search, _lines(text, problems))):
        return True
    flow = suffix in _WITH_FLOW and "@flow" in text[:1000]
    return flow or bool(_COOKIECUTTER.search(text)) or _has_marks(bare) or never_right(source)


def perhaps_foreign(source: Source) -> bool:
    """Whether only what the validator says of it can tell."""
    return source.suffix in _DATA and "{{" in source.text


def never_right(source: Source) -> bool:
    """Whether it has "{{" where its language has none that anybody means."""
    return source.suffix in _NEVER_BRACED and "{{" in source.text and "{{" in _bare(source)


def _bare(source: Source) -> str:
    said = _IN_YAML if source.suffix in _YAML else _NEVER_BRACED.get(source.suffix, _QUOTED)
    return said.sub(" ", source.text)


def _lines(text: str, problems: Sequence[Problem]) -> list[str]:
    lines = text.split("\n")
    return [lines[p.line - 1] for p in problems if p.line <= len(lines)]


def _has_marks(text: str) -> bool:
    return any(_marked(text, *marks) for marks in _MARKS)


def _marked(text: str, begin: str, end: str) -> bool:
    return begin in text and any(end in line.partition(begin)[2] for line in text.split("\n"))
