"""Broken set-ups, each around a fault: the first words are never that there is no problem."""

import os
import re
import shutil
import sys

import pytest

from fsagent_tools import Policy
from fsagent_tools.lsp.servers import SPECS, Language, ServerSpec

from .conftest import FAKE, only_server

pytestmark = pytest.mark.full

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
    "ty: its settings": ("ty", {"ty.toml": "[x\n", **PYTHON}),
    "ty: pyproject.toml": ("ty", {"pyproject.toml": "[project\n", **PYTHON}),
    "ruff: its settings": ("ruff", {"ruff.toml": "select = [\n", **UNKNOWN}),
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
    "shell: zsh by its first line": ("bash", {"a.sh": f"#!/bin/zsh\n{SHELL}"}),
    "yaml: a schema on the network": ("yaml", {"a.yaml": YAML.format("https://e.com/s.json")}),
    "yaml: a schema that is gone": ("yaml", {"a.yaml": YAML.format("./nope.json")}),
    "json: a schema on the network": ("vscode-json", {"a.json": JSON.format("https://e.com/s")}),
    "json: a schema that is gone": ("vscode-json", {"a.json": JSON.format("./nope.json")}),
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


def test_a_header_that_is_not_found_is_why_c_is_not_checked(asked):
    text = '#include "nope.h"\nint f(void) {\n    return g(1);\n}\n'
    ask = asked(["clangd"], {"a.c": text, "b.c": "int b;\n"})
    assert ask("a.c").startswith("Not checked: a.c by clangd: 'nope.h' file not found")
    assert ask("b.c").startswith("No problems in b.c")


RULES = {  # settings of a project -> the rules that count
    "": ["F401", "F821"],
    "extend-select = ['I']\n": ["F401", "F821", "I001"],
    "select = ['I']\n": ["I001"],
}


@pytest.mark.parametrize("settings", RULES)
def test_rules_that_the_project_does_not_select_do_not_count(settings, asked):
    files = {"ruff.toml": f"[lint]\n{settings}", "a.py": "import os\nx = nope\n#\n"}
    told = asked(["ruff"], files, servers=only_server("ruff", "a.py"))("a.py")
    assert sorted(set(re.findall(r"\[Ruff (\w+)\]", told))) == RULES[settings]


def test_only_what_this_session_made_is_told_as_new(asked, tmp_path):
    files = {"a.py": "import os\nx = 1\n", "b.py": "import os\n"}
    ask = asked(["ruff"], files, servers=only_server("ruff", "a.py"))
    asked.workspaces[-1].write("a.py", b"import os\nx = 1\ny = nope\n")
    told = ask("a.py", new=True)
    assert "F821" in told
    assert "F401" not in told
    asked.workspaces[-1].write("a.py", b"import os\nx = 2\n")
    assert ask("a.py", new=True) == "No new problems in a.py (ruff)."
    assert "has not changed b.py: all its problems are shown" in ask("b.py", new=True)


@pytest.mark.parametrize("name", [".venv", "venv"])
@pytest.mark.parametrize("server", ["ty", "basedpyright", "pyrefly"])
def test_packages_of_the_projects_environment_are_found(server, name, asked, tmp_path):
    places = f"{name}/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    files = {
        f"{name}/pyvenv.cfg": f"home = {sys.base_prefix}/bin\nversion_info = 3.11.2\n",
        f"{places}/thing/__init__.py": "n: int = 1\n",
        f"{places}/thing/py.typed": "",
        "a.py": "from thing import n\n\nx: str = n\n",
    }
    told = asked(SPECS[server].command[:1], files, servers=only_server(server, "a.py"))("a.py")
    assert told.startswith("a.py:3:"), told


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
    assert told.startswith(f"Not checked: {path} by {server}: {lacking} is not installed")


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
        assert ask(path).startswith(f"Not checked: {path} by bash: ShellCheck")


FAILING = {
    "absent": (
        ServerSpec("checker", ("no-such-checker",), "make it"),
        "is not installed (make it)",
    ),
    "dying": (
        ServerSpec("checker", (sys.executable, str(FAKE), "dies-at-start"), "make it"),
        "ended",
    ),
}


@pytest.mark.parametrize("failing", FAILING)
def test_what_the_first_checker_leaves_is_told_before_what_the_next_one_says(failing, asked):
    spec, why = FAILING[failing]
    python = Language("python", {".py": "python"}, (), ((spec,), (SPECS["ruff"],)))
    told = asked(["ruff"], PYTHON, servers={"python": python})("a.py").splitlines()
    assert told[0].startswith("Not checked: a.py by checker")
    assert why in told[0]
    assert told[1:] == ["No problems in a.py (ruff)."]


ONLY_RUFF = only_server("ruff", "a.py")


@pytest.mark.parametrize("actions", [None, ["diagnostics"]])
def test_no_server_runs_unconfined_where_bash_may_not(actions, asked, lacking):
    lacking("bubblewrap", "landlock")
    ask = asked(["ruff"], UNKNOWN, servers=ONLY_RUFF, policy=Policy(allowed_actions=actions))
    if actions:
        assert "lacks bubblewrap and Landlock" in ask("a.py")
    else:
        assert ask("a.py").startswith("a.py:1:7: error")
