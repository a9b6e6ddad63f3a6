"""Broken set-ups, each around a fault: the first words are never that there is no problem."""

import os
import shutil
import sys

import pytest

from fsagent_tools import Policy
from fsagent_tools.lsp.table import SPECS, Language, Spec

from .conftest import FAKE, only_server

PYTHON = {"a.py": "def f(x: int) -> int:\n    return x\n\n\nf('s')\n"}
UNKNOWN = {"a.py": "print(nope)\n"}
MODULE = "module e.com/p\n\ngo 1.19\n"
GO = {"go.mod": MODULE, "b.go": "package p\n"}
BAD_GO = 'package p\n\nvar X int = "s"\n'
TYPESCRIPT = {"a.ts": "export const x: number = 's';\n"}
CARGO = "[package]\nname = 'p'\nversion = '0.1.0'\nedition = '2021'\n"
RUST = {"Cargo.toml": CARGO, "src/lib.rs": "fn f(x: i32) {}\nfn g() { f(1, 2); }\n"}
C = {"a.c": "int x(int);\nint y(void) { return x(); }\n"}
SHELL = "if true; then\necho\n"
YAML = "# yaml-language-server: $schema={}\na: 1\n"
JSON = '{{"$schema": "{}", "a": 1}}\n'
EXCLUDED = "[tool.ty.src]\nexclude = ['a.py']\n"
WITHIN_SRC = "[tool.ty.src]\ninclude = ['src']\n"
TAGGED = f"//go:build mytag\n\n{BAD_GO}"
BROKEN_WORK = "go 1.19\nuse ./nope\n"
NO_DEPENDENCY = f"{MODULE}\nrequire e.com/nope v1.0.0\n"
ELSEWHERE = '[{"directory": "/nope", "file": "/nope/a.c", "command": "cc a.c"}]'
EXTENDS = '{"extends": "./no.json"}'
SETUPS = {  # what is broken -> server, files but the last one, which is asked about
    "ty: the project is left out": ("ty", {"pyproject.toml": EXCLUDED, **PYTHON}),
    "ty: only others are taken in": ("ty", {"pyproject.toml": WITHIN_SRC, **PYTHON}),
    "ty: its settings": ("ty", {"ty.toml": "[x\n", **PYTHON}),
    "ty: pyproject.toml": ("ty", {"pyproject.toml": "[project\n", **PYTHON}),
    "ruff: left out": ("ruff", {"ruff.toml": "extend-exclude = ['*.py']\n", **UNKNOWN}),
    "ruff: left out by a hidden file": ("ruff", {".ruff.toml": "exclude = ['a.py']\n", **UNKNOWN}),
    "ruff: left out of its rules": (
        "ruff",
        {"ruff.toml": "[lint]\nexclude = ['a.py']\n", **UNKNOWN},
    ),
    "ruff: left out by what its settings extend": (
        "ruff",
        {"base.toml": "exclude = ['a.py']\n", "ruff.toml": "extend = 'base.toml'\n", **UNKNOWN},
    ),
    "ruff: left out unasked": ("ruff", {"_build/a.py": UNKNOWN["a.py"]}),
    "ty: left out unasked": ("ty", {"dist/a.py": PYTHON["a.py"]}),
    "ty: left out unasked, beside settings": (
        "ty",
        {"ty.toml": "[src]\nexclude = ['gen']\n", ".tox/a.py": PYTHON["a.py"]},
    ),
    "ruff: its settings": ("ruff", {"ruff.toml": "select = [\n", **UNKNOWN}),
    "basedpyright: ignored": (
        "basedpyright",
        {"pyrightconfig.json": '{"ignore": ["a.py"]}', **PYTHON},
    ),
    "pyrefly: left out": ("pyrefly", {"pyrefly.toml": "project-excludes = ['a.py']\n", **PYTHON}),
    "tsconfig": ("typescript-language-server", {"tsconfig.json": "{", **TYPESCRIPT}),
    "tsconfig extends nothing": (
        "typescript-language-server",
        {"tsconfig.json": EXTENDS, **TYPESCRIPT},
    ),
    "tsconfig extends what is not installed": (
        "typescript-language-server",
        {"tsconfig.json": '{"extends": "@tsconfig/node20/tsconfig.json"}', "a.ts": "export {};\n"},
    ),
    "tsconfig names no library": (
        "typescript-language-server",
        {"tsconfig.json": '{"compilerOptions": {"lib": ["nope"]}}', "a.ts": "export {};\n"},
    ),
    "go.mod": ("gopls", {"go.mod": "module\nbla bla\n", "a.go": BAD_GO}),
    "go: a dependency": ("gopls", {"go.mod": NO_DEPENDENCY, "a.go": BAD_GO}),
    "go: a newer version": ("gopls", {"go.mod": MODULE.replace("19", "99"), "a.go": BAD_GO}),
    "go.work": ("gopls", {**GO, "go.work": BROKEN_WORK, "a.go": BAD_GO}),
    "go: no module": ("gopls", {"b.go": "package p\n", "a.go": "package p\n"}),
    "go: a build tag": ("gopls", {**GO, "a.go": TAGGED}),
    "go: another system": ("gopls", {**GO, "a_windows.go": BAD_GO}),
    "go: testdata": ("gopls", {**GO, "testdata/a.go": BAD_GO}),
    "rust: no manifest": ("rust-analyzer", {"a.rs": RUST["src/lib.rs"]}),
    "rust: a broken manifest": ("rust-analyzer", {**RUST, "Cargo.toml": "[package\n"}),
    "rust: a dependency": (
        "rust-analyzer",
        {**RUST, "Cargo.toml": f"{CARGO}[dependencies]\nnope-dep = '1'\n"},
    ),
    "rust: no lock": ("rust-analyzer", RUST),
    "rust: a file of no crate": ("rust-analyzer", {**RUST, "src/lone.rs": RUST["src/lib.rs"]}),
    "c: broken flags": ("clangd", {"compile_commands.json": "[{", **C}),
    "c: flags of others": ("clangd", {"compile_commands.json": ELSEWHERE, **C}),
    "shell: zsh by name": ("bash", {"a.zsh": SHELL}),
    "shell: zsh by its first line": ("bash", {"a.sh": f"#!/bin/zsh\n{SHELL}"}),
    "yaml: a schema on the network": ("yaml", {"a.yaml": YAML.format("https://e.com/s.json")}),
    "yaml: a schema that is gone": ("yaml", {"a.yaml": YAML.format("./nope.json")}),
    "json: a schema on the network": ("vscode-json", {"a.json": JSON.format("https://e.com/s")}),
    "json: a schema that is gone": ("vscode-json", {"a.json": JSON.format("./nope.json")}),
    "ty: told to ignore": ("ty", {"a.py": f"# a\n\n# type: ignore\n{PYTHON['a.py']}"}),
    "ruff: told to ignore": ("ruff", {"a.py": f"{UNKNOWN['a.py']}# ruff: noqa\n"}),
    "typescript: told to ignore": (
        "typescript-language-server",
        {"tsconfig.json": "{}", "a.ts": f"/* a */\n// @ts-nocheck\n{TYPESCRIPT['a.ts']}"},
    ),
    "typescript: told to check nothing": (
        "typescript-language-server",
        {"tsconfig.json": '{"compilerOptions": {"noCheck": true}}', **TYPESCRIPT},
    ),
    "typescript: declarations left out": (
        "typescript-language-server",
        {
            "base.json": '{"compilerOptions": {"skipLibCheck": true}}',
            "tsconfig.json": '{"extends": "./base", "compilerOptions": {"strict": true}}',
            "a.d.ts": "export const x: Nope;\n",
        },
    ),
    "typescript: declarations left out by a project it refers to": (
        "typescript-language-server",
        {
            "tsconfig.app.json": '{"compilerOptions": {"skipLibCheck": true, "composite": true}}',
            "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
            "a.d.ts": "export const x: Nope;\n",
        },
    ),
    "basedpyright: turned off": (
        "basedpyright",
        {"pyrightconfig.json": '{"typeCheckingMode": "off"}', **PYTHON},
    ),
    "ty: told to ignore in its own words": ("ty", {"a.py": f"# ty: ignore\n{PYTHON['a.py']}"}),
    "pyrefly: told to ignore": ("pyrefly", {"a.py": f"# pyrefly: ignore-errors\n{PYTHON['a.py']}"}),
}


@pytest.mark.parametrize("setup", SETUPS)
def test_a_broken_set_up_is_no_clean_bill(setup, asked):
    server, files = SETUPS[setup]
    *_, path = files
    told = asked(SPECS[server].command[:1], files, servers=only_server(server, path))(path)
    assert told.startswith(("Not checked: ", f"{path}:"))


def test_a_tag_of_yaml_that_only_programs_know_is_no_error(asked):
    ask = asked(["yaml-language-server"], {"a.yaml": "a: !Ref b\n"})
    assert ask("a.yaml").startswith("No problems in a.yaml (yaml).")


def test_a_line_that_ignores_its_own_type_does_not_mute_the_file(asked):
    ask = asked(["ty"], {"a.py": "x: int = 's'  # type: ignore\n"}, servers={"python": ["ty"]})
    assert ask("a.py").startswith("No problems in a.py (ty).")


def test_a_clean_file_is_clean_where_settings_take_it_in_again(asked):
    files = {"ruff.toml": "exclude = ['gen']\n", "dist/a.py": "x = 1\n", "b/a.py": "x = 1\n"}
    ask = asked(["ruff"], files, servers=only_server("ruff", "a.py"))
    for path in ("dist/a.py", "b/a.py"):
        assert ask(path).startswith(f"No problems in {path} (ruff).")


NEWER = "Not checked: {} by gopls, at most its syntax: {} wants Go 1.99, "
WANTING = {  # file that wants a newer Go -> files but the last one, which has no fault
    "go.mod": {"go.mod": MODULE.replace("19", "99"), "a.go": "package p\n"},
    "go.work": {"go.work": "go 1.99\nuse ./m\n", "m/go.mod": MODULE, "m/a.go": "package p\n"},
}


@pytest.mark.parametrize("file", WANTING)
def test_a_project_that_wants_a_newer_go_is_not_checked_by_an_older_one(file, asked):
    *_, path = WANTING[file]
    first, *more = asked(["gopls", "go"], WANTING[file])(path).splitlines()
    assert first.startswith(NEWER.format(path, file))
    assert "is installed" in first
    assert not more


def test_a_header_that_is_not_found_by_guessed_flags_is_why_c_is_not_checked(asked):
    text = '#include "nope.h"\nint f(void) {\n    struct t x = made();\n    return g(x);\n}\n'
    ask = asked(["clangd"], {"a.c": text, "b.c": "int b;\n"})
    first, second, *more = ask("a.c").splitlines()
    assert first.startswith("Not checked: a.c by clangd, at most its syntax: 'nope.h' file not fou")
    assert "compile_commands.json" in first
    assert second.startswith("a.c:1:10: error: 'nope.h' file not found")
    assert [line for line in more if "a.c:" in line] == []
    assert ask("b.c").startswith("No problems in b.c")


def test_a_header_that_is_not_found_by_the_flags_of_the_project_is_an_error(asked):
    flags = {"compile_flags.txt": "-Iinclude\n"}
    told = asked(["clangd"], {**flags, "a.c": '#include "nope.h"\nint x = "s";\n'})("a.c")
    assert told.startswith("a.c:1:10: error: 'nope.h' file not found")


LACKING = {  # server -> programs that are there, the file
    "bash": (("bash-language-server", "node"), {"a.sh": SHELL}),
    "gopls": (("gopls",), {**GO, "a.go": BAD_GO}),
}


@pytest.mark.parametrize("server", LACKING)
def test_a_server_without_its_helper_is_not_asked(server, asked, tmp_path_factory, monkeypatch):
    there, files = LACKING[server]
    programs = tmp_path_factory.mktemp("programs")
    for name in there:
        if found := shutil.which(name):
            (programs / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(programs))
    *_, path = files
    told = asked(there[:1], files)(path)
    lacking = SPECS[server].helper
    assert told.startswith(f"Not checked: {path} by {server}, at most its syntax: {lacking} is not")


SHELLCHECKS = {  # that fail, each in its way
    "with a code": "exit 2",
    "by a signal": "kill -9 $$",
    "without sense": "echo '<html>'",
}


@pytest.mark.parametrize("fails", SHELLCHECKS)
def test_a_helper_that_fails_is_no_clean_bill(fails, asked, tmp_path_factory, monkeypatch):
    helper = tmp_path_factory.mktemp("programs") / "shellcheck"
    helper.write_text(f"#!/bin/sh\n{SHELLCHECKS[fails]}\n")
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{helper.parent}{os.pathsep}{os.environ['PATH']}")
    ask = asked(["bash-language-server"], {"a.sh": SHELL, "b.sh": "echo\n"})
    monkeypatch.setenv("PATH", f"{helper.parent}{os.pathsep}{os.environ['PATH']}")
    for path in ("a.sh", "b.sh"):
        assert ask(path).startswith(f"Not checked: {path} by bash, at most its syntax: ShellCheck")


FAILING = {
    "absent": (Spec("checker", ("no-such-checker",), "make it"), "is not installed (make it)"),
    "dying": (Spec("checker", (sys.executable, str(FAKE), "dies-at-start"), "make it"), "ended"),
}


@pytest.mark.parametrize("failing", FAILING)
def test_what_the_first_checker_leaves_is_told_before_what_the_next_one_says(failing, asked):
    spec, why = FAILING[failing]
    python = Language("python", {".py": "python"}, (), ((spec,), ("ruff",)))
    told = asked(["ruff"], PYTHON, servers={"python": python})("a.py").splitlines()
    assert told[0].startswith("Not checked: a.py by checker")
    assert why in told[0]
    assert told[1:] == ["No problems in a.py (ruff)."]


ONLY_RUFF = only_server("ruff", "a.py")


@pytest.mark.parametrize("actions", [None, ["diagnostics"]])
def test_no_server_runs_unconfined_where_bash_may_not(actions, asked, lacking):
    lacking("landlock")
    ask = asked(["ruff"], UNKNOWN, servers=ONLY_RUFF, policy=Policy(allowed_actions=actions))
    if actions:
        with pytest.raises(AssertionError, match="lacks Landlock"):
            ask("a.py")
    else:
        assert ask("a.py").startswith("a.py:1:7: error")
