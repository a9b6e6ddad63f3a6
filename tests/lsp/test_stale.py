"""An edit of whatever a server has read besides the file itself leaves no old answer behind."""

import json
import os
import time
from pathlib import Path

import pytest

from fsagent_tools.lsp.extends import extended
from fsagent_tools.lsp.watch import DELETED, Watch

from .conftest import NODE_TS7, only_server, write

TSC = NODE_TS7 / "node_modules/.bin/tsc"
LIBRARY = "def n() -> int:\n    return 1\n"
USES = "from q import n\n\ns: int = n()\nprint(s)\n"
STRICT = {"compilerOptions": {"strict": True, "noImplicitAny": True}}
LOOSE = {"compilerOptions": {"strict": False, "noImplicitAny": False}}


@pytest.mark.parametrize(
    ("programs", "files", "path", "changed"),
    [
        pytest.param(
            ["clangd"],
            {
                "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nadd_subdirectory(src)\n",
                "src/CMakeLists.txt": "add_library(a a.c)\n",
                "src/a.c": '#include "../include/v.h"\nint f(void) { return V; }\n',
            },
            "src/a.c",
            {"include/v.h": ("#define V 1\n", '#define V "s"\n')},
            id="header-above",
        ),
        pytest.param(
            ["clangd"],
            {"compile_flags.txt": "", "a.c": "int f(int a) { if (a) return 0; return 1; }\n"},
            "a.c",
            {
                ".clang-tidy": (
                    "Checks: '-*,llvm-header-guard'\n",
                    "Checks: '-*,readability-braces-around-statements'\n",
                )
            },
            id="clang-tidy",
        ),
        pytest.param(
            ["ruff"],
            {"ruff.toml": 'extend = ".config/base.toml"\n', "a.py": "import os\n"},
            "a.py",
            {".config/base.toml": ("[lint]\nignore = ['F401']\n", "[lint]\nselect = ['F401']\n")},
            id="ruff-extend",
        ),
        pytest.param(
            ["basedpyright"],
            {"pyrightconfig.json": '{"extends": "./base.json"}', "a.py": "def f(a): return a\n"},
            "a.py",
            {
                "base.json": (
                    '{"typeCheckingMode": "basic"}',
                    '{"typeCheckingMode": "basic", "reportMissingParameterType": "error"}',
                )
            },
            id="pyright-extends",
        ),
        *(
            pytest.param(
                [program],
                {
                    "p/tsconfig.json": '{"extends": "../.config/base.json", "files": ["a.ts"]}',
                    "p/package.json": "{}",
                    "p/a.ts": "export function f(a) { return a; }\n",
                },
                "p/a.ts",
                {".config/base.json": (json.dumps(LOOSE), json.dumps(STRICT))},
                id=f"{Path(program).name}-extends",
            )
            for program in ("typescript-language-server", str(TSC))
        ),
        *(
            pytest.param(
                [program],
                {
                    "p/tsconfig.json": '{"compilerOptions": {"strict": true}}',
                    "p/a.ts": 'import { n } from "../shared/n";\nexport const m: number = n;\n',
                },
                "p/a.ts",
                {"shared/n.ts": ("export const n = 1;\n", "export const n = 's';\n")},
                id=f"{Path(program).name}-sibling",
            )
            for program in ("typescript-language-server", str(TSC))
        ),
        pytest.param(
            ["ty"],
            {
                "p/pyproject.toml": "[project]\nname = 'p'\nversion = '1'\n",
                "p/.venv/pyvenv.cfg": "home = /usr\nversion = 3.12.0\n",
                "p/.venv/lib/python3.12/site-packages/q.pth": "../../../../../q\n",
                "p/a.py": USES,
            },
            "p/a.py",
            {"q/q.py": (LIBRARY, LIBRARY.replace("int", "str"))},
            id="editable",
        ),
        pytest.param(
            ["gopls"],
            {
                "p/go.mod": "module p\n\ngo 1.19\n\nrequire q v0.0.0\n\nreplace q => ../q\n",
                "q/go.mod": "module q\n\ngo 1.19\n",
                "p/a.go": 'package p\n\nimport "q"\n\nvar X int = q.N\n',
            },
            "p/a.go",
            {"q/q.go": ("package q\n\nvar N = 1\n", 'package q\n\nvar N = "s"\n')},
            id="go-replace",
        ),
    ],
)
def test_what_lies_elsewhere_in_the_workspace_counts(
    programs,
    files,
    path,
    changed,
    asked,
    tmp_path,
):
    servers = only_server(programs[0], path)
    if programs == [str(TSC)]:
        servers = {"typescript": (str(TSC), "--lsp", "--stdio")}
    ((name, texts),) = changed.items()
    ask = asked(programs, {**files, name: texts[0]}, servers=servers)
    for text, clean in ((texts[0], True), (texts[1], False), (texts[0], True)):
        write(tmp_path, {name: text})
        told = ask(path)
        assert (f"No problems in {path}" in told) == clean, told


@pytest.mark.parametrize("linked", ["q", "q/__init__.py"])
@pytest.mark.parametrize("server", ["ty", "basedpyright"])
def test_a_change_behind_a_link_counts(linked, server, asked, tmp_path):
    files = {"p/pyproject.toml": "", "p/a.py": USES, "q/__init__.py": LIBRARY}
    ask = asked([server], files, servers=only_server(server, "a.py"))
    (tmp_path / "p" / linked).parent.mkdir(exist_ok=True)
    (tmp_path / "p" / linked).symlink_to(tmp_path / linked)
    for text, clean in ((LIBRARY, True), (LIBRARY.replace("int", "str"), False), (LIBRARY, True)):
        write(tmp_path, {"q/__init__.py": text})
        told = ask("p/a.py")
        assert ("No problems in p/a.py" in told) == clean, told


def test_links_are_followed_once_and_not_out_of_the_workspace(tmp_path):
    folders = ("out", "root/p/a", "root/q", "root/q/node_modules")
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
    for link, leads in (
        ("p/up", "."),
        ("p/a/q", "q"),
        ("q/a", "p/a"),
        ("p/out", "../out"),
        ("p/n", "q/node_modules"),
    ):
        (tmp_path / "root" / link).symlink_to(tmp_path / "root" / leads)
    watch = Watch([tmp_path / "root/p", tmp_path / "root"], (".py",), ())
    for folder in folders:
        (tmp_path / folder / "a.py").write_text("")
    found = [path for path, _ in watch.changes(time.monotonic()) if path.endswith("a.py")]
    names = ("p/a/a.py", "p/a/q/a.py", "q/a.py", "q/a/a.py")
    assert sorted(found) == [str(tmp_path / "root" / name) for name in names]


def test_settings_that_extend_each_other_are_found_once_and_only_beneath_the_root(tmp_path):
    texts = {
        "tsconfig.json": '{"extends": ["./a", "@tsconfig/node20", "../out.json"]}',
        "a.json": '{\n  "extends": "./tsconfig.json"\n}',
        "pyproject.toml": "[tool.ruff]\nextend = '.config/b.toml'\n",
        ".config/b.toml": 'extend = "./c.toml"  # not there yet\n',
    }
    write(tmp_path, texts)
    paths = [str(tmp_path / name) for name in texts]
    found = {os.path.relpath(path, tmp_path) for path in extended(paths, str(tmp_path))}
    assert {"a.json", ".config/b.toml", ".config/c.toml"} <= found
    assert not any(name.startswith("..") for name in found)


def test_too_many_files_around_a_project_are_not_looked_at_and_none_is_told_as_gone(
    tmp_path, monkeypatch
):
    for number in range(9):
        write(tmp_path, {f"{kind}/{number}.py": "" for kind in ("p", "q/0", "q/1")})
    watch = Watch([tmp_path / "p", tmp_path], (".py",), ())
    assert not watch.partial
    monkeypatch.setattr("fsagent_tools.lsp.watch.MOST_LISTED", 8)
    (tmp_path / "p/1.py").unlink()
    assert watch.changes(time.monotonic()) == [(str(tmp_path / "p/1.py"), DELETED)]
    assert watch.partial
