"""The parsers: what is valid, what is not, exactly where, and what they leave undecided."""

import random
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import pytest

from fsagent_tools import lint
from fsagent_tools.errors import LintRejected
from fsagent_tools.lint.checks import MAX_PARSED, MAX_SCANNED, syntax_problems
from fsagent_tools.lint.python import python_problems
from fsagent_tools.lint.source import DOUBT, NotChecked
from tests.conftest import soon

HUGE = 1_000_000
VALID = [
    ("a.json", '{"a": [1, -2.5e3, true, null, "\\u00e9\\n"]}'),
    ("a.json", "  [] \n"),
    ("a.json", '\ufeff{"a": 1}'),
    ("a.json", "1" * 5000),
    ("a.json", '{"a": {"b": 1}, "c": {"b": 1}}'),
    ("a.jsonc", '// note\n{"a": [1, 2,], /* more\n lines */ "b": {},}\n'),
    ("a.jsonc", ""),
    ("tsconfig.json", '{"compilerOptions": {}, // strict\n}'),
    *(
        (name, "// a\n{}")
        for name in ("tsdoc-metadata.json", "b/babel.config.json", ".mocharc.json")
    ),
    ("app/.vscode/settings.json", "{ /* none */ }"),
    ("a.jsonc", '{"url": "http://x/*no comment*/"}'),
    ("a.yaml", "a: &x {b: 1}\nc: *x\n"),
    ("a.yaml", "--- 1\n---\na: 1\n...\n---\na: 2\n"),
    ("a.yaml", "- !Ref thing\n- !!python/object:os.system {}\n- !<tag:x> y\n"),
    ("a.yaml", "base: &b {a: 1}\nother:\n  <<: *b\n  a: 2\n"),
    ("a.yaml", "a: 1\nb:\n  a: 1\n"),
    ("a.yaml", "1: int\n'1': text\n"),
    ("a.yml", "text: |\n  a: 1\n  a: 1\n"),
    ("a.yaml", "\ufeffa: 1\n"),
    ("a.yaml", "a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n"),
    ("a.yaml", ""),
    ("a.toml", 'a = 1\n[b.c]\nd = [1, 2,]\n[[e]]\nf = 1979-05-27T07:32:00Z\ng = """x\ny"""\n'),
    ("a.toml", "a = nan\nb = -inf\n"),
    ("a.py", "@d\nasync def f(*, a: int = 1, **k) -> None:\n    await g(x := 1)\n"),
    ("a.py", "match x:\n    case {'a': [1, *_]} if y:\n        pass\n"),
    ("a.py", "x = '\\d'\n"),
    ("a.py", "\ufeffx = 1\n"),
    ("a.pyi", "def f(a: int) -> str: ...\n"),
    (
        "a.ts",
        "enum A { B = 1 }\nconst x = y as const satisfies Z;\nabstract class C<T extends D> {}\n",
    ),
    (
        "a.ts",
        "@Component({a: 1})\nclass A { @Input() b!: string; constructor(private c?: D) {} }\n",
    ),
    (
        "a.ts",
        "export interface A<\n  // c\n  out T extends B = B,\n  in out U = C,\n> { a: T; b: U }\n",
    ),
    (
        "a.ts",
        "class A<in T> {}\nfor (const k in o) {}\nif ('a' in A) {}\nexport type * from './a';\n",
    ),
    ("a.d.ts", "export default function (): { a: string };\n"),
    ("a.d.ts", "declare module 'a' {\n  global {\n    interface B {}\n  }\n}\n"),
    (
        "a.d.ts",
        "declare const a: import('b').C<import(\"d\").E>[];\ntype F = { [type in keyof G]?: H };\n",
    ),
    ("a.d.ts", "interface A {\n  <T, P = B<T>>(p: T): P\n  <T extends C>(p: T): T\n}\n"),
    (
        "a.d.ts",
        "type A = { [K in keyof readonly any[]]?: boolean };\ndeclare let b: unique symbol;\n",
    ),
    ("a.js", "export { _null as null, function, b as class } from './a';\n"),
    ("a.ts", "function f<const T>(this: A, x?: T): x is string { return x!.y ?? z?.[0]; }\n"),
    ("a.tsx", "const A = <T,>(p: P<T>) => <><B {...p} c='d'>{p.e && <F/>}</B></>;\n"),
    ("a.jsx", "export default () => <ul>{a.map(b => <li key={b}>{b}</li>)}</ul>;\n"),
    ("a.mjs", "import a, {b as c} from 'd' with {type: 'json'};\nexport * as e from 'f';\n"),
    (
        "a.js",
        "class A { #p = 1; static { } get x() { return this.#p } }\na: for (;;) break a;\n",
    ),
    ("a.js", "const r = /[/]\\/(?<n>x)/gu, t = `a${`b${c}`}`;\n"),
    ("a.js", "#!/usr/bin/env node\nlet x = 1\n"),
]
AFTER_COMMA = sys.version_info < (3, 13)  # where a trailing comma is told of
INVALID = [  # name, text, [(line, column, severity)]
    ("a.json", "", [(1, 1, "error")]),
    ("a.json", '{"a": 1,}', [(1, AFTER_COMMA + 8, "error")]),
    ("a.json", "[1,\n 2, ]", [(2, 2 * AFTER_COMMA + 3, "error")]),
    ("a.json", '{"a": NaN}', [(1, 7, "error")]),
    ("a.json", "[-Infinity]", [(1, 2, "error")]),
    ("a.json", "[01]", [(1, 3, "error")]),
    ("a.json", "[1.]", [(1, 3, "error")]),
    ("a.json", "{'a': 1}", [(1, 2, "error")]),
    ("a.json", '{\n  "a": 1\n  "b": 2\n}', [(3, 3, "error")]),
    ("a.json", '{"a" 1}', [(1, 6, "error")]),
    ("a.json", "{a: 1}", [(1, 2, "error")]),
    ("a.json", "[1 2]", [(1, 4, "error")]),
    ("a.json", "[1", [(1, 3, "error")]),
    ("a.json", '{"a": [}', [(1, 8, "error")]),
    ("a.json", "{} {}", [(1, 4, "error")]),
    ("a.json", '["a\tb"]', [(1, 4, "error")]),
    ("a.json", '["\\x"]', [(1, 3, "error")]),
    ("a.json", '["é𝄞", oops]', [(1, 8, "error")]),
    ("a.json", "// no\n{}", [(1, 1, "error")]),
    ("a.json", '{"a": 1,\n "a": 2}', [(2, 2, "warning")]),
    ("a.json", '["open\n]', [(1, 7, "error")]),
    ("a.jsonc", "{,}", [(1, 2, "error")]),
    ("a.jsonc", "/* open\n{}", [(1, 1, "error")]),
    ("tsconfig.json", '{"a": 1 "b": 2} // x', [(1, 9, "error")]),
    ("a.yaml", "a: 1\nb: 2\na: 3\n", [(3, 1, "error")]),
    ("a.yaml", "{a: 1, a: 2}\n", [(1, 8, "error")]),
    ("a.yaml", "x:\n  - a: 1\n    'a': 2\n", [(3, 5, "error")]),
    ("a.yaml", "a: *nowhere\n", [(1, 4, "error")]),
    ("a.yaml", "--- &x 1\n--- *x\n", [(2, 5, "error")]),
    ("a.yaml", "a:\n\t- b\n", [(2, 1, "error")]),
    ("a.yaml", "a: [1, 2\nb: 3\n", [(2, 2, "error")]),
    ("a.yaml", "a: b: c\n", [(1, 5, "error")]),
    ("a.yaml", "é𝄞: 'x' y\n", [(1, 9, "error")]),
    ("a.yaml", 'a: "\x01"\n', [(1, 5, "error")]),
    ("a.toml", "a = \n", [(1, 5, "error")]),
    ("a.toml", "a = 1\na = 2\n", [(2, 6, "error")]),
    ("a.toml", "[a]\n[a]\n", [(2, 3, "error")]),
    ("a.toml", "a = [1,\n", [(1, 8, "error")]),
    ("a.toml", "x = 'é𝄞' y\n", [(1, 10, "error")]),
    ("a.py", "x = (1,\ny = 2\n", [(1, 5, "error")]),
    ("a.py", "def f():\npass\n", [(2, 1, "error")]),
    ("a.py", "if x:\n    a\n  b\n", [(3, 4, "error")]),
    ("a.py", "'é𝄞' $\n", [(1, 6, "error")]),
    ("a.py", "return 1\n", [(1, 1, "error")]),
    ("a.py", "s = 'abc\n", [(1, 5, "error")]),
    ("a.jsx", "const a = <div>;\n", None),
    ("a.js", "}\n", [(1, 1, "warning")]),
    ("a.js", "let = = 1;\n", None),
    ("a.js", "const x: number = 1;\n", [(1, 7, "warning")]),
]


def rejected(name, text):
    try:
        lint.review("reject", name, None, text.encode())
    except LintRejected:
        return True
    return False


@pytest.mark.parametrize(("name", "text"), VALID)
def test_valid_documents_have_no_problems(name, text):
    assert syntax_problems(name, text) == []


@pytest.mark.parametrize(("name", "text", "places"), INVALID)
def test_invalid_documents_have_theirs_where_they_are(name, text, places):
    found = [(p.line, p.column, p.severity) for p in syntax_problems(name, text)]
    if places is None:  # the grammar's recovery decides where
        assert found
    else:
        assert found == places


FAULTS = [
    ("n.ipynb", "{bad", [1]),
    ("a.code-workspace", '// note\n{"a": }\n', [2]),
    ("a.geojson", "[1,]", [1]),
    ("uv.lock", "version = 1\nversion = 2\n", [2]),
    ("Cargo.lock", "[[package]\n", [1]),
    ("Pipfile.lock", "{]", [1]),
    (".github/workflows/a.yml", "run: ${{ b }}\nwith: c: d\n", [2]),
    ("a.yml", "# - {{ x }}\na: b: c\n", [2]),
]


@pytest.mark.parametrize(("name", "text", "lines"), FAULTS)
def test_more_formats_are_checked(name, text, lines):
    assert [problem.line for problem in syntax_problems(name, text)] == lines
    assert rejected(name, text)


BESIDE = [
    ("a.yaml", 'a: 1\na: 2\nb: "{{ c }}"\nd: e {{ f }}\ng: "{% h %}"\n'),
    (".github/workflows/a.yml", "on: push\njobs: [a\nif: ${{ b }}\n"),
    ("a.json", '{"a": "{{ b }}",\n"c": }\n'),
    ("a.toml", 'a = "{{ b }}"\nc = """\n{{ d }}"""\ne = \n'),
    ("a.py", "a = '{% b %}'\ndef f(:\n"),
]


@pytest.mark.parametrize(("name", "text"), BESIDE)
def test_a_fault_near_the_marks_of_a_template_that_are_quoted_is_told(name, text):
    assert rejected(name, text)


BROKEN = [
    ("a.ts", "const a = [1, 2;\nlet b = 3;\n", 1),
    ("a.ts", "\n\nlet y = 'é𝄞' +;\n", 3),
    ("a.tsx", "const a = <div>{b</div>;\n", 1),
    ("a.js", "f(1);\ng(2;\n", 2),
]


@pytest.mark.parametrize(("name", "text", "line"), BROKEN)
def test_what_a_grammar_cannot_parse_is_a_doubtful_finding_and_refuses_nothing(name, text, line):
    problem, *_ = syntax_problems(name, text)
    assert (problem.line, problem.severity, problem.code) == (line, "warning", "syntax")
    assert DOUBT in problem.message
    assert not rejected(name, text)
    assert lint.judge(name)(text.encode()) is False


NEWER = [
    "type Id = int\n",
    "def first[T](xs: list[T]) -> T: ...\n",
    'x = f"{n + "y"}"\n',
    "class A[T]: pass\n",
    "try:\n    a\nexcept B, C:\n    d\n",
]


@pytest.mark.parametrize("text", NEWER)
def test_what_is_right_in_a_newer_python_is_not_refused(text):
    assert not rejected("a.py", text)
    assert rejected("a.py", "def f(:\n" + text)


def test_tabs_near_blanks_are_no_fault_where_they_cannot_be_confused():
    assert not rejected("a.py", "def f(x):\n\treturn x\n\n\ndef g(x):\n    return (x,\n\t\tx)\n")
    assert rejected("a.py", "def f(x):\n\tif x:\n        return 1\n")


def test_expressions_of_a_pipeline_may_stand_twice_as_keys():
    text = "a:\n  ${{ if b }}:\n    c: 1\n  ${{ else }}:\n    c: 2\n  ${{ else }}:\n    d: 2\n"
    assert not syntax_problems("azure-pipelines.yml", text)
    assert syntax_problems("azure-pipelines.yml", f"{text}  e: 1\n  e: 2\n")


UNDECIDED = [
    ("a.json", "[" * 20_000, "nested too deeply"),
    ("a.json", '{"Action": "run"}\n{"Action": "pass"}\n', "several JSON texts"),
    ("a.json", "[" + " " * MAX_SCANNED + "]", "over the limit of 1,048,576"),
    ("a.py", " " * MAX_PARSED + "x", "over the limit of 262,144"),
    ("a.py", "%timeit f(x)\n", "commands of IPython"),
    ("a.toml", "a." * 400 + "b = 1", "keys of too many parts"),
    ("a.yaml", "".join(f"%TAG !a{n}! x\n" for n in range(6_000)) + "--- a\n", "%TAG"),
    ("a.xyz", "{{{", "no parser for .xyz files"),
]


@pytest.mark.parametrize(("name", "text", "reason"), UNDECIDED, ids=lambda value: repr(value[:9]))
def test_what_a_parser_cannot_decide_is_not_checked(name, text, reason):
    with soon(), pytest.raises(NotChecked, match=reason):
        syntax_problems(name, text)


HOSTILE = [
    ("a.json", "[" * MAX_SCANNED),
    ("a.json", '{"a":' * 100_000 + "1" + "}" * 100_000),
    ("a.json", '"' + "\\" * 500_000),
    ("a.yaml", "[" * 100_000),
    ("a.yaml", "- " * 500_000),
    ("a.yaml", "? " * 100_000),
    ("a.toml", "a = " + "[" * 100_000),
    ("a.toml", "a." * 400_000 + "b = 1"),
    ("a.py", "(" * 100_000),
    ("a.py", "1+" * 100_000 + "1"),
    ("a.py", "-" * 200_000 + "1"),
    ("a.py", "x" + ".y" * 200_000),
    ("a.py", "not " * 100_000 + "x"),
    ("a.py", "x = 9" + "**9" * 50),
    ("a.ts", "a<" * 500_000),
    ("a.tsx", "<a>" * 100_000),
    ("a.js", "(" * 100_000),
    ("a.js", "`${" * 100_000),
    ("a.py", "\n" * (MAX_PARSED - 2) + "(("),
    ("a.jsonc", '"\\' * (HUGE // 2)),
]


@pytest.mark.parametrize(("name", "text"), HOSTILE, ids=lambda value: repr(value[:12]))
def test_hostile_documents_neither_crash_nor_hang(name, text):
    with soon(), suppress(NotChecked):
        syntax_problems(name, text)
        syntax_problems(name, text[:MAX_PARSED])


JUDGED = [
    ("def f():\n    return 1\n", True),
    ("class A:\n    def f():\n        pass\n    return 1\n", False),
    ("for a in b:\n    break\nelse:\n    break\n", False),
    ("while a:\n    if b:\n        continue\n", True),
    ("match a:\n    case 1:\n        return\n", False),
    ("a = '\\d'\nb = f'{a}\\d'\n", True),
    ("a = \\d\n", False),
    ("x = \\{1}\n", False),
    ('x = rf"\\{a}"\n', True),
    ("%matplotlib inline\n", None),
    ("(" * 900, False),
]


@pytest.mark.parametrize(("text", "right"), JUDGED)
def test_python_is_judged_without_a_warning(text, right):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lint.judge("a.py")(text.encode()) is right


@pytest.mark.parametrize("name", ["a.py", "a.ts", "a.json", "a.yaml", "a.toml"])
def test_whether_a_text_parses_is_told_up_to_a_size(name):
    text = {"a.py": "a = 1", "a.ts": "f(1);", "a.toml": "a = 1"}.get(name, "[1]")
    large = "\n" * (1 << 17) + text
    assert lint.judge(name)(large.encode()) is True
    assert lint.judge(name)(large.replace("1", "1 [", 1).encode()) is False
    assert lint.judge(name)(b"\n" * (1 << 21) + text.encode()) == "beyond"


SLIPS = [
    "else:\n", "x = 1; \\\n", "\\\n", "  y\n", "return\n", "'''\n", "@d\n", "(\n", ")\n", "if x:\n",
    "# c \\\n", "\x0c\n", "def f(): return 1\n", "break\n", "\x00\n", "a; b = '\\d'\n", "\n\n",
    "\r", "class C:\n    return 1\n", "async def f():\n    await x\n", "\u2028\n", '"""\n',
]  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_parts_of_a_text_tell_what_the_whole_does(seed, monkeypatch):
    """By a pattern that splits nothing, the whole text is parsed."""
    pick = random.Random(seed)
    sources = sorted(Path(lint.__file__).parents[1].rglob("*.py"))
    lines = pick.choice(sources).read_text().splitlines(keepends=True)[:200]
    for _ in range(60):
        at = pick.randrange(len(lines) + 1)
        changed = [*lines[:at], pick.choice(SLIPS), *lines[at + pick.randrange(2) :]]
        text = "".join(changed)
        in_parts = python_problems("a.py", text)
        with monkeypatch.context() as whole:
            whole.setattr("fsagent_tools.lint.python._STATEMENT", _NEVER)
            assert bool(in_parts) == bool(python_problems("a.py", text)), text
        lines = changed if not in_parts else lines


_NEVER = __import__("re").compile("(?!)")
