"""The built-in validators: what is valid, what is not, and exactly where."""

import sys
from contextlib import suppress

import pytest

from fsagent_tools.lint import places, validators
from fsagent_tools.lint.places import Source, Undecided
from tests.conftest import USUAL_LINT_SECONDS, soon

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
    ("a.txt", "{{{"),
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


def problems_in(name, text):
    plain = text if isinstance(text, str) else validators.decoded(name, text)
    return validators.problems_of(Source(name, plain))


@pytest.mark.parametrize(("name", "text"), VALID)
def test_valid_documents_have_no_problems(name, text):
    assert problems_in(name, text) == []


@pytest.mark.parametrize(("name", "text", "places"), INVALID)
def test_invalid_documents_have_theirs_where_they_are(name, text, places):
    found = [(p.line, p.column, p.severity) for p in problems_in(name, text)]
    if places is None:  # the grammar's recovery decides where
        assert found
    else:
        assert found == places


HOSTILE = [
    ("a.json", "[" * validators.MAX_LINTED_BYTES),
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
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), HOSTILE, ids=lambda value: repr(value[:12]))
def test_hostile_documents_neither_crash_nor_hang(name, text, monkeypatch):
    monkeypatch.setattr(places, "LINT_SECONDS", USUAL_LINT_SECONDS)  # as users have it
    with soon(), suppress(Undecided):
        problems_in(name, text)


@pytest.mark.parametrize("text", ["[" * 20_000, "[" * 20_000 + "]" * 20_000])
def test_json_that_is_nested_too_deeply_is_not_checked(text):
    with pytest.raises(Undecided, match="nested too deeply"):
        problems_in("a.json", text)


def test_json_that_is_a_text_in_each_line_is_not_checked():
    with pytest.raises(Undecided, match="JSON in each line"):
        problems_in("events.json", '{"Action": "run"}\n{"Action": "pass"}\n')
    assert problems_in("a.json", '{"a": 1}\n{"b": 2\n')
    assert problems_in("a.json", '{"a": 1} {"b": 2}\n')


def test_more_than_a_megabyte_is_not_checked():
    with pytest.raises(Undecided, match="over the limit of 1,048,576"):
        problems_in("a.json", "[" + " " * validators.MAX_LINTED_BYTES + "]")
