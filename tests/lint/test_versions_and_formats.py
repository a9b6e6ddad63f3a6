"""Versions and formats: told where it is sure, doubtful or undecided where it is not."""

import sys
from pathlib import Path

import pytest

from fsagent_tools import lint
from fsagent_tools.errors import LintRejected

from .test_validators import problems_in

RUFF = Path(sys.executable).with_name("ruff")
NEWER = ["type Id = int\n", "def first[T](xs: list[T]) -> T: ...\n", 'x = f"{n + "y"}"\n']
with_ruff = pytest.mark.skipif(not RUFF.exists(), reason="ruff is not installed")


def rejected(name, text):
    try:
        lint.review("reject", name, None, text.encode())
    except LintRejected:
        return True
    return False


@with_ruff
@pytest.mark.parametrize("text", NEWER)
def test_what_is_right_in_a_newer_python_is_not_refused(text):
    assert not rejected("a.py", text)
    assert rejected("a.py", text + "def f(:\n")


OF_EVERY_VERSION = [
    "def f(x):\n\tif x:\n        return 1\n",
    "def f():\n    await g()\n",
    "def f():\n    async for x in y: pass\n",
    "def f():\n    nonlocal x\n",
    "x = 1\nglobal x\n",
    "x = 1\nfrom __future__ import annotations\n",
    "def f():\n    from a import *\n",
    "*a, *b = c\n",
    "return 1  # noqa\n",
]


@with_ruff
@pytest.mark.parametrize("text", OF_EVERY_VERSION)
def test_what_no_version_of_python_takes_is_reported(text):
    assert rejected("a.py", text)


@with_ruff
def test_tabs_beside_blanks_are_no_fault_where_they_cannot_be_confused():
    assert not rejected("a.py", "def f(x):\n\treturn x\n\n\ndef g(x):\n    return (x,\n\t\tx)\n")


def test_expressions_of_a_pipeline_may_stand_twice_as_keys():
    text = "a:\n  ${{ if b }}:\n    c: 1\n  ${{ else }}:\n    c: 2\n  ${{ else }}:\n    d: 2\n"
    assert not problems_in("azure-pipelines.yml", text)
    assert problems_in("azure-pipelines.yml", f"{text}  e: 1\n  e: 2\n")


BESIDE = [
    ("a.yaml", 'a: 1\na: 2\nb: "{{ c }}"\nd: e {{ f }}\ng: "{% h %}"\n'),
    (".github/workflows/a.yml", "on: push\njobs: [a\nif: ${{ b }}\n"),
    ("a.json", '{"a": "{{ b }}",\n"c": }\n'),
    ("a.toml", 'a = "{{ b }}"\nc = """\n{{ d }}"""\ne = \n'),
    ("a.py", "a = '{% b %}'\ndef f(:\n"),
]


@pytest.mark.parametrize(("name", "text"), BESIDE)
def test_a_fault_beside_the_marks_of_a_template_that_are_quoted_is_told(name, text):
    assert rejected(name, text)
    assert problems_in(name, text)


def test_a_fault_of_python_beside_quoted_braces_is_told():
    assert rejected("a.py", 'x = f"{{ {y} }}"\ndef f(:\n')


FAULTS = [
    ("n.ipynb", "{bad", [1]),
    ("a.code-workspace", '// note\n{"a": }\n', [2]),
    ("a.geojson", "[1,]", [1]),
    ("a.jsonl", '{"a": 1}\n\n{"a": }\n[1\n', [3, 4]),
    ("uv.lock", "version = 1\nversion = 2\n", [2]),
    ("Cargo.lock", "[[package]\n", [1]),
    ("Pipfile.lock", "{]", [1]),
    (".github/workflows/a.yml", "run: ${{ b }}\nwith: c: d\n", [2]),
    ("a.yml", "# - {{ x }}\na: b: c\n", [2]),
]


@pytest.mark.parametrize(("name", "text", "lines"), FAULTS)
def test_more_formats_are_checked(name, text, lines):
    assert [problem.line for problem in problems_in(name, text)] == lines
    assert rejected(name, text)


FINE = [
    ("a.jsonl", '{"a": 1}\n[2]\n'),
    ("poetry.lock", "[[package]]\nname = 'a'\n"),
    ("yarn.lock", "{{{"),
]


@pytest.mark.parametrize(("name", "text"), FINE)
def test_what_is_right_in_them_is_not_told(name, text):
    assert problems_in(name, text) == []


def test_what_was_not_checked_is_told_as_that(monkeypatch):
    assert lint.report("a.xyz", None, b"{{{").line() == (
        "lint: not checked, there is no validator for .xyz files"
    )
    assert lint.report("a.md", None, b"{{{").line() == ""
    monkeypatch.setitem(sys.modules, "tree_sitter_javascript", None)
    monkeypatch.setattr("fsagent_tools.lint.scripts._grammar", lint.scripts._grammar.__wrapped__)
    told = lint.report("a.js", None, b"f(").line()
    assert "install 'fsagent-tools[lint]' to check javascript" in told


BROKEN = [
    ("a.ts", "const a = [1, 2;\nlet b = 3;\n", 1),
    ("a.ts", "\n\nlet y = 'é𝄞' +;\n", 3),
    ("a.tsx", "const a = <div>{b</div>;\n", 1),
    ("a.js", "f(1);\ng(2;\n", 2),
]


@pytest.mark.parametrize(("name", "text", "line"), BROKEN)
def test_what_a_grammar_cannot_parse_is_a_doubtful_finding_and_refuses_nothing(name, text, line):
    problem, *_ = problems_in(name, text)
    assert (problem.line, problem.severity, problem.code) == (line, "warning", "syntax")
    assert problem.message.endswith("as the grammar reads it, which may be older than the text")
    assert not rejected(name, text)
    assert lint.judge(name)(text.encode()) is False


def test_commands_of_ipython_are_not_checked():
    assert "commands of IPython" in lint.report("a.py", None, b"%timeit f(x)\n").note


HOSTILE = [("a.jsonl", "[1]\n" * 10_000), ("a.py", "x = 9" + "**9" * 60), ("a.yaml", "[" * 100_000)]


@pytest.mark.parametrize(("name", "text"), HOSTILE, ids=lambda value: repr(value[:9]))
def test_a_check_that_takes_too_long_is_given_up(name, text, no_time):
    assert lint.report(name, None, text.encode()).line() == (
        "lint: not checked, it takes longer than a write waits: run a checker on the file"
    )
