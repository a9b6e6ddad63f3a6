"""Broken set-ups, each around a fault: the first words are never that there is no problem."""

import os
import shutil
import sys

import pytest

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
    "ty: the environment": ("ty", {".venv/pyvenv.cfg": "home = /nope\n", **PYTHON}),
    "ruff: left out": ("ruff", {"ruff.toml": "extend-exclude = ['*.py']\n", **UNKNOWN}),
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
    "go.mod": ("gopls", {"go.mod": "module\nbla bla\n", "a.go": BAD_GO}),
    "go: a dependency": ("gopls", {"go.mod": NO_DEPENDENCY, "a.go": BAD_GO}),
    "go: a newer version": ("gopls", {"go.mod": MODULE.replace("19", "99"), "a.go": BAD_GO}),
    "go.work": ("gopls", {**GO, "go.work": BROKEN_WORK, "a.go": BAD_GO}),
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
    "html: its elements": ("vscode-html", {"a.html": "<p><b>one</p>\n"}),
}


@pytest.mark.parametrize("setup", SETUPS)
def test_a_broken_set_up_is_no_clean_bill(setup, asked):
    server, files = SETUPS[setup]
    *_, path = files
    told = asked(SPECS[server].command[:1], files, servers=only_server(server, path))(path)
    assert told.startswith(("Not checked: ", f"{path}:"))


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


def test_a_server_that_is_not_installed_leaves_the_command_that_checks(asked, monkeypatch):
    ask = asked([], RUST)
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(AssertionError, match="Or run `cargo check`"):
        ask("src/lib.rs")
