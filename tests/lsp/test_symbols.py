"""`rename` beside the answers of the servers themselves."""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from fsagent_tools import Workspace, toolset
from tests.conftest import PATIENCE, eventually
from tests.lsp.conftest import BIN, NODE_BIN, NODE_TS7, write
from tests.lsp.raw import RawServer

pytestmark = pytest.mark.full

PYTHON = {
    "a.py": 'def total(items):\n    """total of"""\n    return sum(items)\n\n\n'
    'é = "𝄞"; x = total([1]); y = "total"\n',
    "pkg/__init__.py": "",
    "pkg/b.py": "from a import total\n\nprint(total([2]), total)\n",
    "c.py": "import a\n\nprint('𝄞', a.total([]))\n\n\n"
    "def other():\n    total = 1\n    return total\n",
}
SCRIPT = {
    "tsconfig.json": '{"include": ["**/*"]}',
    "a.ts": "export function total(items: number[]) { return items.length; }\n"
    'export const é = "𝄞", z = total([1]);\nexport const o = {total};\n',
    "b.ts": "import {total} from './a';\nconsole.log('total', total([2]));\n",
    "sub/c.ts": "import * as a from '../a';\na.total([]); a.o.total;\n",
}
GO = {
    "go.mod": "module example.org/p\n\ngo 1.19\n",
    "a.go": "package p\n\n// total counts.\nfunc total(items []int) int { return len(items) }\n",
    "b.go": 'package p\n\nvar é = "𝄞"; var Y = total(nil)\n\n'
    "func other() int { total := 1; return total }\n",
    "a_test.go": 'package p\n\nimport "testing"\n\n'
    "func TestTotal(t *testing.T) { if total(nil) != 0 { t.Fail() } }\n",
}
C = {
    "a.h": "int total(int);\n",
    "a.c": '#include "a.h"\nint total(int n) { return n; }\n',
    "sub/b.c": '#include "../a.h"\nint main(void) { char *e = "é𝄞"; (void)e; return total(1); }\n',
    "c.c": "static int other(void) { int total = 1; return total; }\n",
}


@dataclass(frozen=True)
class Case:
    """`declared` is where the one symbol `total` of all files is declared."""

    name: str
    language: str
    command: tuple
    files: dict
    declared: str
    setting: tuple = ()
    uses: dict = field(default_factory=dict)  # path -> lines, from 1


PYTHON_USES = {"a.py": [1, 6], "pkg/b.py": [1, 3], "c.py": [3]}
SCRIPT_USES = {"a.ts": [1, 2, 3], "b.ts": [1, 2], "sub/c.ts": [2]}
CASES = [
    *(
        Case(name, "python", (str(BIN / command[0]), *command[1:]), PYTHON, "a.py", (name,),
             uses=PYTHON_USES)
        for name, *command in (
            ("ty", "ty", "server"),
            ("basedpyright", "basedpyright-langserver", "--stdio"),
            ("pyrefly", "pyrefly", "lsp"),
        )
    ),
    Case("typescript-language-server", "typescript",
         (str(NODE_BIN / "typescript-language-server"), "--stdio"), SCRIPT, "a.ts",
         uses=SCRIPT_USES),
    Case("typescript", "typescript", (str(NODE_TS7 / "node_modules/.bin/tsc"), "--lsp", "--stdio"),
         SCRIPT, "a.ts", (str(NODE_TS7 / "node_modules/.bin/tsc"), "--lsp", "--stdio"),
         uses=SCRIPT_USES),
    Case("gopls", "go", ("gopls",), GO, "a.go", uses={"a.go": [4], "b.go": [3], "a_test.go": [5]}),
    Case("clangd", "c", ("clangd",), C, "a.c", uses={"a.h": [1], "a.c": [2], "sub/b.c": [2]}),
]  # fmt: skip
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A function: case -> its directory, and a function: tool, arguments -> the outcome."""
    made = []
    monkeypatch.setenv("PATH", f"{NODE_BIN}:{shutil.os.environ['PATH']}")

    def make(case, **options):
        if not shutil.which(case.command[0]):
            pytest.skip(f"{case.command[0]} is not installed")
        root = tmp_path.resolve() / "p"
        root.mkdir()
        write(root, case.files)
        if case.language == "c":
            units = [{"directory": str(root), "command": f"cc -c {name}", "file": name}
                     for name in case.files if name.endswith(".c")]  # fmt: skip
            (root / "compile_commands.json").write_text(json.dumps(units))
        servers = {case.language: case.setting} if case.setting else None
        made.append(Workspace(root, servers=servers, **options))
        tools = toolset("refactor").showing({"rename": ["timeout"]}).bind(made[-1])
        return root, lambda tool, /, **args: tools[tool].call({"timeout": PATIENCE, **args})

    yield make
    for each in made:
        each.close()


def raw(case, root, new):
    """The text of each file after the rename."""
    file = root / case.declared
    others = [root / name for name in case.uses if name != case.declared]
    server = RawServer(case.command, root, [file, *others], case.language)
    try:
        if case.language == "c":
            assert all(server.published(other, PATIENCE) for other in others)
        before, _, _ = file.read_text().partition("total(")
        line = before.count("\n")
        column = len(before[before.rfind("\n") + 1 :])
        at = {"line": line, "character": column}
        asked = {"textDocument": {"uri": file.as_uri()}, "position": at}
        wanted = {"context": {"includeDeclaration": True}}
        assert eventually(  # it has read the project
            lambda: (
                {
                    relative(one["uri"], root)
                    for one in server.ask("textDocument/references", {**asked, **wanted})
                }
                >= case.uses.keys()
            )
        )
        edits = server.ask("textDocument/rename", {**asked, "newName": new})
    finally:
        server.close()
    parts = edits.get("documentChanges") or [
        {"textDocument": {"uri": uri}, "edits": some} for uri, some in edits["changes"].items()
    ]
    return {relative(p["textDocument"]["uri"], root): changed(root, p) for p in parts}


def relative(uri, root):
    return Path(unquote(urlsplit(uri).path)).relative_to(root).as_posix()


def changed(root, part):
    """The text of a file with edits of the protocol, in UTF-16."""
    text = (root / relative(part["textDocument"]["uri"], root)).read_text()
    lines = [line.encode("utf-16-le") for line in text.split("\n")]
    for edit in sorted(part["edits"], key=lambda e: tuple(e["range"]["start"].values()))[::-1]:
        start, end = edit["range"]["start"], edit["range"]["end"]
        assert start["line"] == end["line"]
        line, new = lines[start["line"]], edit["newText"].encode("utf-16-le")
        head, tail = line[: 2 * start["character"]], line[2 * end["character"] :]
        lines[start["line"]] = head + new + tail
    return "\n".join(line.decode("utf-16-le") for line in lines)


@cases
def test_a_rename_changes_what_the_server_tells_and_nothing_else(project, case):
    root, call = project(case)
    own = raw(case, root, "add")
    before = {path: (root / path).read_text() for path in case.files}
    answer = call(
        "rename", file_path=case.declared, name="total", line=line_of(case), new_name="add"
    )
    assert answer.ok, answer.text
    after = {path: (root / path).read_text() for path in before}
    assert after == {**before, **own}
    assert own.keys() == {*answer.data["files"]} == case.uses.keys()


def line_of(case):
    before, _, _ = case.files[case.declared].partition("total(")
    return before.count("\n") + 1
