"""Texts that are not, or not yet, what their names say: templates, and other dialects."""

import re
from collections.abc import Sequence

from fsagent_tools.lint.places import Source
from fsagent_tools.problems import Problem

TEMPLATE_OR_DIALECT = "it is a template, or of another dialect"
JSON = (".json", ".jsonc", ".ipynb", ".geojson", ".webmanifest", ".code-workspace", ".har")
# Workflows of GitHub have "${{", and formats of C "<%s".
_MARKS = re.compile(r"(?<!\$)\{\{|\{%[-+\s]|<%[-=#\s]")
# In these, of a template only around a name: `{{ name | filter }}`.
_BRACES = frozenset(
    (
        *(".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".ipp", ".cu", ".m", ".mm"),
        *(".go", ".java", ".cs", ".kt", ".rs", ".lua", ".zig"),
    )
)
_NAMED = re.compile(r"\{\{[-+ ]*\.?[A-Za-z_][\w.]*+ *+(?:\|[^{}\n]*)?\}\}|\{%[-+\s]|<%[-=#\s]")
_BRACES_AS_VALUE = re.compile(r"(?m)^(?:[^#'\"\n]*[-:?,\[])?[ \t]*\{\{")  # right in YAML by chance
_OPENED = re.compile(r"(?<!\{)\{\{[ \t]*$")  # three braces are of a formatted string
_LINE_OF_MARKS = re.compile(r"[ \t]*(?:\{\{|\{%)")
_WITH_FLOW = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")


def has_marks(source: Source) -> bool:
    """Whether anything in it is as in a template, or says that it is of another dialect."""
    return bool(_MARKS.search(source.text)) or _is_flow(source)


def is_foreign(source: Source, problems: Sequence[Problem]) -> bool:
    """Whether a template, or another dialect, may be why a text has `problems`."""
    if _is_flow(source):
        return True
    if source.suffix in (".yaml", ".yml") and _BRACES_AS_VALUE.search(source.text):
        return True
    lines = source.text.split("\n")
    marks = _NAMED if source.suffix in _BRACES else _MARKS
    return any(marks.search(lines[p.line - 1]) for p in problems if p.line <= len(lines))


def in_marks(source: Source, problems: Sequence[Problem]) -> bool:
    """Whether one of `problems` is the first word between the marks of a template, in a language
    that takes these for a set of sets, or on a line that begins with them, in one that takes them
    for a command: nobody means that.
    """
    lines = source.text.split("\n")
    told = [(lines[p.line - 1], p.column - 1) for p in problems if p.line <= len(lines)]
    if source.suffix in (".sh", ".bash"):
        return any(_LINE_OF_MARKS.match(line) for line, _ in told)
    return source.suffix in (".py", ".pyi") and any(_OPENED.search(line[:at]) for line, at in told)


def _is_flow(source: Source) -> bool:
    return source.suffix in _WITH_FLOW and "@flow" in source.text[:1000]
