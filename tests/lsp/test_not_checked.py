"""Broken set-ups, each around a fault: the first words are never that there is no problem."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fsagent_tools import Policy
from fsagent_tools.lsp.languages import language_of
from fsagent_tools.lsp.table import LANGUAGES, SPECS, Language, Spec

from .conftest import FAKE, NODE_BIN, TIMEOUT, only_server, write

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
    "html: its elements": ("vscode-html", {"a.html": "<p><b>one</p>\n"}),
}


def test_a_file_that_no_tsconfig_takes_in_is_told_as_such(asked):
    settings = {"tsconfig.json": '{"include": ["src"]}', "src/a.ts": "export {};\n"}
    ask = asked(["typescript-language-server"], {**settings, "b.ts": "export {};\n"})
    assert "tsconfig" not in ask("src/a.ts")
    assert ask("b.ts").startswith("No problems in b.ts")
    assert ask("b.ts").endswith("no tsconfig.json takes it in.)")


@pytest.mark.parametrize("setup", SETUPS)
def test_a_broken_set_up_is_no_clean_bill(setup, asked):
    server, files = SETUPS[setup]
    *_, path = files
    told = asked(SPECS[server].command[:1], files, servers=only_server(server, path))(path)
    assert told.startswith(("Not checked: ", f"{path}:"))


@pytest.mark.parametrize("setup", ["told to ignore", "declarations left out"])
def test_what_the_project_leaves_out_no_command_is_asked_about(setup, pool, tmp_path):
    server, files = SETUPS[f"typescript: {setup}"]
    *_, path = files
    if not (NODE_BIN / server).exists():
        pytest.skip(f"{server} is not installed")
    write(tmp_path, files)
    run, servers = [], pool(only_server(server, path))
    file = tmp_path.resolve() / path
    checked = servers.check_or_run(file, files[path], TIMEOUT, lambda *asked: run.append(asked))
    assert checked.unchecked == [server]
    assert run == []


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


@pytest.mark.parametrize("value", ["{{1, nope}, {2, 3}}", "{{nope, 1}}", "{{nope}, {1}}"])
def test_braces_in_braces_of_cpp_are_no_template(value, asked):
    text = f"struct p {{ int x[2]; }};\nint nope_ = 0;\np v[2] = {value};\n"
    told = asked(["clangd"], {"a.cpp": text})("a.cpp")
    assert told.startswith("a.cpp:3:")
    assert "undeclared identifier 'nope'" in told


def test_cpp_with_marks_of_a_template_is_one(asked):
    told = asked(["clangd"], {"a.cpp": "int {{ name }} = 1;\nint {{ cookie.x | upper }};\n"})(
        "a.cpp"
    )
    assert told.startswith("Not checked: a.cpp by clangd, at most its syntax: it is a template")


COMPONENT = "<script setup lang='ts'>\ndefineProps<{ n: number }>()\n</script>\n"
USES = "import one from './A.vue'\nimport two from '@/B.vue'\nimport no from './C.vue'\n"


def test_components_that_typescript_cannot_read_are_no_errors(asked, tmp_path_factory, monkeypatch):
    ask = asked(["typescript-language-server"], {"A.vue": COMPONENT, "a.ts": USES})
    programs = tmp_path_factory.mktemp("programs")  # without that of Vue
    for name in ("typescript-language-server", "tsserver", "node"):
        (programs / name).symlink_to(os.path.realpath(shutil.which(name)))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/usr/bin")
    told = [line for line in ask("a.ts").splitlines() if "[LID:" not in line]
    assert told[0].startswith("a.ts:3:16: error: Cannot find module './C.vue'")
    assert told[1:] == [
        "(typescript-language-server does not read ./A.vue.)",
        "(typescript-language-server does not read @/B.vue.)",
    ]


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
    for path, more in (("a.sh", 1), ("b.sh", 0)):
        first, *told = ask(path).splitlines()
        assert first.startswith(f"Not checked: {path} by bash, at most its syntax: ShellCheck: ")
        assert sum("a.sh:3:1: error: syntax error" in line for line in told) == more


SCRIPTS = {  # name -> text, the first words
    "off.sh": (f"# shellcheck disable=all\n{SHELL}", "off.sh:4:1: error: syntax error"),
    "glob.sh": ("#!/bin/bash\nshopt -s extglob\ncase $1 in !(a|b)) echo ;; esac\n", "No problems"),
    "fish.sh": ("#!/usr/bin/fish\nif true\n echo x\nend\n", "Not checked: fish.sh by bash"),
    "helm.sh": ("{{ if .Values.x }}\necho hi\n{{ end }}\n", "Not checked: helm.sh by bash"),
    "quoted.sh": ("#!/bin/sh\ndocker ps --format '{{.ID}}' $x\n", "quoted.sh:2:30: warning"),
    "dash.sh": ("#!/bin/dash\nif true; then\n", "dash.sh:2:10: error"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_bash_looks_at_what_shellcheck_passes_and_not_at_other_languages(name, asked):
    text, wanted = SCRIPTS[name]
    told = asked(["bash-language-server", "shellcheck"], {name: text})(name)
    assert told.startswith(wanted)
    if "Not" in wanted:
        assert len(told.splitlines()) == 1


SYNTAX = {
    "a.toml": "a = 1\na = 2\n",
    "A.java": "class A {\n",
    "a.rb": "def a(\n",
    "a.php": "<?php (;\n",
}
GRAMMARS = {
    "a.toml": "tomllib",
    "A.java": "tree_sitter_java",
    "a.rb": "tree_sitter_ruby",
    "a.php": "tree_sitter_php",
}


@pytest.mark.parametrize("name", SYNTAX)
def test_where_no_server_is_installed_the_syntax_is_checked(name, asked):
    pytest.importorskip(GRAMMARS[name])
    language = language_of(Path(name), LANGUAGES)
    absent = replace(language, servers=((Spec("absent", ("no-such-server",), "make it"),),))
    ask = asked([], {name: SYNTAX[name]}, servers={language.name: absent})
    first, second, *_ = ask(name).splitlines()
    assert first.startswith(f"Not checked: {name} by absent")
    assert f"No language server for {language.name}" in first
    assert "Install no-such-server: make it" in first
    assert second.startswith(f"{name}:")


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


RIGHT_RUST = "pub fn f() -> i32 {\n    1\n}\n"
BY_COMMAND = {  # what no server checks -> program, files but the last one, what is told of it
    "rust without a lock": ("cargo", RUST, "2:10: error: this function takes 1 argument but 2"),
    "right rust": ("cargo", {**RUST, "src/lib.rs": RIGHT_RUST}, "No problems in src/lib.rs (cargo"),
    "rust, a test": (
        "cargo",
        {**RUST, "src/lib.rs": f"{RIGHT_RUST}#[test]\nfn t() {{ g() }}\n"},
        "5:10: error: cannot find function `g`",
    ),
    "rust, a file of no crate": ("cargo", {**RUST, "src/lone.rs": RIGHT_RUST}, ""),
    "rust, another file is wrong": (
        "cargo",
        {**RUST, "src/lib.rs": "mod a;\nfn f() {\n", "src/a.rs": RIGHT_RUST},
        "",
    ),
    "go": ("go", {**GO, "a.go": BAD_GO}, "3:13: error: cannot use"),
    "go, beyond ASCII": (
        "go",
        {**GO, "a.go": 'package p\n\nvar X = "é" + nope\n'},
        "3:15: error:",
    ),
    "right go": ("go", {**GO, "a.go": "package p\n"}, "No problems in a.go (go vet)"),
    "go, a build tag": ("go", {**GO, "a.go": TAGGED}, ""),
    "go, another file is wrong": ("go", {**GO, "b.go": BAD_GO, "a.go": "package p\n"}, ""),
    "typescript": ("tsc", {"tsconfig.json": "{}", **TYPESCRIPT}, "1:14: error: Type 'string'"),
    "typescript, incremental": (
        "tsc",
        {"tsconfig.json": '{"compilerOptions": {"incremental": true}}', "a.ts": "export {}\n"},
        "No problems in a.ts (tsc --noEmit)",
    ),
    "typescript without settings": ("tsc", TYPESCRIPT, "1:14: error: Type 'string'"),
    "typescript, left out": (
        "tsc",
        {"tsconfig.json": '{"include": ["src"]}', "src/b.ts": "export {}\n", **TYPESCRIPT},
        "",
    ),
    "shell": ("bash", {"a.sh": SHELL}, "3:1: error: syntax error"),
}


@pytest.fixture
def by_command(asked, tmp_path, monkeypatch):
    """A function: program, files, options -> the answer of `lsp` about the last file, whose server
    cannot be started. TypeScript is the project's own.
    """

    def answer(program, files, **options):
        *_, path = files
        ((language, _),) = only_server("", path).items()
        ask = asked([program], files, servers={language: ("/no/such-server",)}, **options)
        if program == "tsc":
            beneath = tmp_path / "node_modules/.bin"
            beneath.mkdir(parents=True)
            own = Path(shutil.which("tsc")).resolve().parents[1]
            files_of_it = shutil.ignore_patterns("??", "??-??", "tsserver*", "typescript.js")
            shutil.copytree(own, tmp_path / "node_modules/typescript", ignore=files_of_it)
            (beneath / "tsc").symlink_to("../typescript/bin/tsc")
            monkeypatch.setenv("PATH", f"{Path(shutil.which('node')).parent}:/usr/bin:/bin")
        return ask(path)

    return answer


@pytest.mark.parametrize("case", BY_COMMAND)
def test_what_no_server_checks_is_checked_by_a_command(case, by_command, tmp_path):
    program, files, wanted = BY_COMMAND[case]
    if not wanted:
        with pytest.raises(AssertionError, match="no/such-server"):
            by_command(program, files)
    else:
        first, *told = by_command(program, files).splitlines()
        *_, path = files
        assert first.startswith(f"Not checked: {path} by ")
        assert wanted in told[0]
    there = {p.relative_to(tmp_path).parts[0] for p in tmp_path.rglob("*")} - {"node_modules"}
    assert there - {".ai"} == {name.split("/")[0] for name in files}


UTIL = "pub fn f() {}\n"
BAD_UTIL = 'pub fn g() -> i32 { "s" }\n'
OF_ANOTHER = {  # what cargo compiled before -> files, then what changes; src/util.rs is of no crate
    "of another project": (
        {"p/Cargo.toml": CARGO, "p/src/lib.rs": "pub mod util;\n", "p/src/util.rs": UTIL}
        | {"q/Cargo.toml": CARGO, "q/src/lib.rs": "", "q/src/util.rs": BAD_UTIL},
        {},
        "q/src/util.rs",
    ),
    "of another version": (
        {"p/Cargo.toml": CARGO, "p/src/lib.rs": "pub mod util;\n", "p/src/util.rs": UTIL},
        {
            "p/Cargo.toml": CARGO.replace("0.1.0", "0.2.0"),
            "p/src/lib.rs": "",
            "p/src/util.rs": BAD_UTIL,
        },
        "p/src/util.rs",
    ),
}


@pytest.mark.parametrize("case", OF_ANOTHER)
def test_what_cargo_compiled_before_is_no_check_of_a_file(case, asked, tmp_path):
    files, later, path = OF_ANOTHER[case]
    ask = asked(["cargo"], files, servers={"rust": ("/no/such-server",)})
    for _ in range(2):
        assert "No problems in p/src/util.rs (cargo check)" in ask("p/src/util.rs")
    write(tmp_path, later)
    with pytest.raises(AssertionError, match="no/such-server"):
        ask(path)


def test_what_cargo_switches_off_is_told_and_a_stale_lock_is_no_hindrance(asked):
    lib = "#[cfg(windows)]\nfn g() -> i32 { nope() }\n"
    lock = 'version = 3\n\n[[package]]\nname = "p"\nversion = "0.0.9"\n'
    files = {"Cargo.toml": CARGO, "Cargo.lock": lock, "src/lib.rs": lib}
    told = asked(["cargo"], files, servers={"rust": ("/no/such-server",)})("src/lib.rs")
    assert "No problems in src/lib.rs (cargo check)" in told
    assert told.endswith("(cargo check checks nothing that cfg switches off.)")


ONLY_RUFF = only_server("ruff", "a.py")
CLOSED = {
    "by the policy": {"policy": Policy(allowed_actions=["diagnostics", "read"])},
    "until somebody agrees": {"approve": lambda request: True},
}


@pytest.mark.parametrize("closed", CLOSED)
def test_a_command_runs_only_where_bash_would(closed, asked):
    files = {**GO, "testdata/a.go": BAD_GO}
    told = asked(["gopls", "go"], files, servers=only_server("gopls", "a.go"), **CLOSED[closed])
    (only,) = told("testdata/a.go").splitlines()
    assert only.endswith("begin with a dot or _; run `go vet`.")


@pytest.mark.parametrize("actions", [None, ["diagnostics"]])
def test_no_server_runs_unconfined_where_bash_may_not(actions, asked, lacking):
    lacking("landlock")
    ask = asked(["ruff"], UNKNOWN, servers=ONLY_RUFF, policy=Policy(allowed_actions=actions))
    if actions:
        with pytest.raises(AssertionError, match="lacks Landlock"):
            ask("a.py")
    else:
        assert ask("a.py").startswith("a.py:1:7: error")


BUILD = 'fn main() { std::fs::write("%s", "").or_else(|_| std::fs::write("src/x", "")).unwrap() }'


def test_what_a_check_builds_cannot_write(by_command, tmp_path, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "f"
    files = {"build.rs": BUILD % outside, **RUST}
    with pytest.raises(AssertionError, match="no/such-server"):
        by_command("cargo", files)
    assert not outside.exists()
    assert not (tmp_path / "src/x").exists()
