"""Versions and formats: told where it is sure, doubtful or undecided where it is not."""

import sys
from pathlib import Path

import pytest

from fsagent_tools import Workspace, lint, toolset
from fsagent_tools.errors import LintRejected

from .test_validators import problems_in

RUFF = Path(sys.executable).with_name("ruff")
NEWER = ["type Id = int\n", "def first[T](xs: list[T]) -> T: ...\n", 'x = f"{n + "y"}"\n']
with_ruff = pytest.mark.skipif(not RUFF.exists(), reason="ruff is not installed")


def rejected(name, text, version=""):
    try:
        lint.review("reject", name, None, text.encode(), lint.Means(python=lambda: version))
    except LintRejected:
        return True
    return False


@with_ruff
@pytest.mark.parametrize("text", NEWER)
def test_python_is_checked_in_the_version_of_the_project(text):
    assert not rejected("a.py", text, "3.12")
    assert not rejected("a.py", text, "3.14")
    assert rejected("a.py", text, "3.10")
    assert not rejected("a.py", text)
    assert rejected("a.py", text + "def f(:\n", "3.12")


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
@pytest.mark.parametrize("version", ["", "3.10", "3.14"])
@pytest.mark.parametrize("text", OF_EVERY_VERSION)
def test_what_no_version_of_python_takes_is_told_whatever_the_version_is(text, version):
    assert rejected("a.py", text, version)


@with_ruff
@pytest.mark.parametrize("version", ["", "3.10", "3.14"])
def test_tabs_beside_blanks_are_no_fault_where_they_cannot_be_confused(version):
    text = "def f(x):\n\treturn x\n\n\ndef g(x):\n    return (x,\n\t\tx)\n"
    assert not rejected("a.py", text, version)


@with_ruff
def test_a_fault_is_told_once_and_an_annotation_is_no_use_of_a_global():
    means = lint.Means(python=lambda: "3.14")
    assert len(lint.report("a.py", None, b"await x\n", means).problems) == 1
    text = "from __future__ import annotations\ndef f():\n    y: x = 1\n    global x\n    x = 2\n"
    assert not rejected("a.py", text, "3.14")


def test_a_newer_python_is_undecided_without_ruff(monkeypatch):
    monkeypatch.setattr("fsagent_tools.lint.guarded._RUFF", Path("/nowhere/ruff"))
    version = f"3.{sys.version_info.minor + 1}"
    report = lint.report("a.py", None, b"def f(:\n", lint.Means(python=lambda: version))
    assert "install 'fsagent-tools[lsp]'" in report.note


@with_ruff
def test_a_write_knows_the_version_of_its_project(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.12"\n')
    workspace = Workspace(tmp_path, lint="reject", servers={"python": ()})
    write = toolset("workspace").bind(workspace)["write"]
    assert write.call({"file_path": "a.py", "content": NEWER[0]}).ok
    assert write.call({"file_path": "b.py", "content": "def f(:\n"}).code == "LINT_REJECTED"


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
