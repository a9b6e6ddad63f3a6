"""The language itself says what is wrong, and a grammar that lags behind it does not."""

import json
import os
import shutil
from pathlib import Path

import pytest

from fsagent_tools import Workspace, lint, toolset
from fsagent_tools.errors import LintRejected
from fsagent_tools.lint.typescript import typescript_of
from fsagent_tools.process.programs import ALL_PROGRAMS, Programs
from tests.lsp.conftest import NODE

LIBRARY = NODE / "node_modules/typescript/lib/typescript.js"
with_typescript = pytest.mark.skipif(
    not (LIBRARY.exists() and shutil.which("node")), reason="TypeScript and node are not installed"
)
VALID = {
    "satisfies": "const a = { b: 1 } satisfies Record<string, number>;\n",
    "const type parameters": "function f<const T extends unknown[]>(a: T): T { return a; }\n",
    "using": "using a = b();\nawait using c = d();\nfor (using e of f) {}\n"
    "for await (using g of h) {}\nfor await (await using i of j) {}\n",
    "accessor": "class A { accessor b = 1; static accessor #c = 2; declare d: string }\n",
    "import attributes": "import a from './a' with { type: 'json' };\nexport * from 'b' with {};\n",
    "decorators": "@a.b() export class C { @d() accessor e = 1; @(f[g]) h() {} }\n",
    "variance": "interface A<in T, out U> {}\nclass B<in out T> {}\ntype C<out T> = D;\n",
    "variance, const and default": "class A<\n  const in T,\n  out U extends B = C,\n> {}\n",
    "asserts": "function f(a: B): asserts a is string {}\nfunction g(this: A): asserts this {}\n",
    "templates": "type A = `${B}`;\ntype D<E> = E extends `${infer F extends G}` ? F : never;\n",
    "labelled tuples": "type A = [first: string, second?: number, ...rest: B[]];\n",
    "instantiations": "const a = b<string>;\nnew C<D>;\ntype E = typeof f<string>;\n",
    "overloads": "export default function (): A;\nexport default function (b?: C) {}\n",
    "import types": "type A = typeof import('./a', { with: { 'resolution-mode': 'import' } });\n",
    "type-only names": "import { type A, type default as B } from 'c';\nexport { type D as E };\n",
    "static blocks": "class A { static #b; static { this.#b = 1; } c() { return #b in this; } }\n",
    "enums": "declare const enum A { B = 1 << 2, C = `d` }\n",
    "abstract constructors": "type A = abstract new (...b: any[]) => object;\n",
    "overloads beside arguments": (
        "interface A {\n  <B, C = D<B>>(e: B): C\n  /** f */\n  <B extends D>(e: B): B\n}\n"
        "f(\n  2,\n  <G>(g: G) =>\n    <H>(h: H) => g,\n);\n"
    ),
    "types of a tag": "const a = b<{ c: D }>`e ${f}`;\ntype G = H<`i>`>;\n",
    "modes of import": "import defer * as a from './a';\n",
}
INVALID = [
    ("a.ts", "const a = [1, 2;\nlet b = 3;\n", 1),
    ("a.ts", "if (x {\n  y();\n}\n", 1),
    ("a.ts", "const o = {a: 1 b: 2};\n", 1),
    ("a.ts", "\n\nlet y = 'é𝄞' +;\n", 3),
    ("a.tsx", "const a = <div>{b</div>;\n", 1),
    ("a.mts", "interface A<out T> { a: ; }\n", 1),
]


def reported(name, text, library=""):
    return lint.report(name, None, text.encode(), lint.Means(typescript=lambda: library))


@pytest.mark.parametrize("name", VALID)
def test_what_is_newer_than_the_grammar_is_not_wrong(name):
    assert reported("a.ts", VALID[name]) == lint.Report()


@with_typescript
@pytest.mark.parametrize("name", VALID)
def test_typescript_finds_nothing_in_it(name):
    assert reported("a.ts", VALID[name], str(LIBRARY)) == lint.Report()


@pytest.mark.parametrize(("name", "text", "line"), INVALID)
def test_without_typescript_what_the_grammar_cannot_read_is_undecided(name, text, line):
    assert reported(name, text).note.startswith(f"line {line} is wrong or newer than the grammar")


@with_typescript
@pytest.mark.parametrize(("name", "text", "line"), INVALID)
def test_with_typescript_it_is_an_error(name, text, line):
    problem, *_ = reported(name, text, str(LIBRARY)).problems
    assert (problem.line, problem.severity, problem.code) == (line, "error", "syntax")


@with_typescript
def test_columns_are_of_characters():
    (problem,) = reported("a.ts", "let y = 'é𝄞' +;\n", str(LIBRARY)).problems
    assert (problem.column, problem.end) == (15, (1, 16))


@with_typescript
def test_the_typescript_of_the_project_decides_and_what_it_refuses_is_not_written(tmp_path):
    own = tmp_path / "node_modules/typescript/lib"
    own.mkdir(parents=True)
    shutil.copy(LIBRARY, own)
    assert typescript_of(tmp_path / "src/a.ts", tmp_path, ALL_PROGRAMS) == str(own / LIBRARY.name)
    tools = toolset("workspace").bind(
        Workspace(tmp_path, lint="reject", servers={"typescript": ()})
    )
    written = tools["write"].call({"file_path": "a.ts", "content": VALID["variance"]})
    assert "lint" not in written.text
    refused = tools["write"].call({"file_path": "a.ts", "content": INVALID[0][1]})
    assert refused.code == LintRejected.code
    assert (tmp_path / "a.ts").read_text() == VALID["variance"]


def test_what_is_no_typescript_is_undecided_and_can_write_nothing(tmp_path):
    if not shutil.which("node"):
        pytest.skip("node is not installed")
    told = tmp_path / "told"
    own = tmp_path / "typescript.js"
    own.write_text(f"require('fs').writeFileSync({json.dumps(str(told))}, 'x')\n")
    assert reported("a.ts", INVALID[0][1], str(own)).note == "TypeScript's parser failed"
    assert not told.exists()


def test_one_beneath_the_root_is_not_taken_for_that_of_the_path(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    for file in ("bin/tsc", "lib/typescript.js"):
        (tmp_path / file).write_text("#!/bin/sh\n")
        (tmp_path / file).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin:/bin")
    found = typescript_of(Path("/none/a.ts"), Path("/none"), ALL_PROGRAMS)
    assert found == str(tmp_path / "lib/typescript.js")
    assert found != typescript_of(Path("/none/a.ts"), Path("/none"), Programs((str(tmp_path),)))
