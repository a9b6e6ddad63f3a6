"""What a server does not check is told, and never as a file without problems."""

import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import PATIENCE

from .conftest import TIMEOUT, write

CARGO = "[package]\nname = 'p'\nversion = '0.1.0'\nedition = '2021'\n"


@pytest.mark.parametrize(
    ("project", "reason"),
    [({}, "Failed to discover workspace"), ({"Cargo.toml": CARGO}, "not included anywhere")],
)
def test_a_rust_file_of_no_crate_is_not_checked(project, reason, asked):
    lone = {"src/lone.rs": "fn f(x: i32) {}\nfn g() { f(1, 2); }\n"}
    told = asked(["cargo", "rust-analyzer"], {"src/main.rs": "fn main() {}\n", **project, **lone})(
        "src/lone.rs"
    )
    assert told.startswith("Not checked: src/lone.rs by rust-analyzer, at most its syntax: ")
    assert reason in told
    assert "No problems" not in told
    assert len(told.splitlines()) == 1


def test_a_rust_crate_whose_dependencies_are_not_there_is_not_told_as_checked(asked):
    manifest = f"{CARGO}[dependencies]\nnope-dep = '1'\n"
    files = {"Cargo.toml": manifest, "src/lib.rs": "use nope_dep::Y;\npub fn f(y: Y) {}\n"}
    told = asked(["cargo", "rust-analyzer"], files)("src/lib.rs")
    head, _, _ = told.partition("\n")
    assert head.startswith(
        "Not checked: src/lib.rs by rust-analyzer, at most its syntax: Failed to"
    )
    assert "No problems" not in told


def test_a_server_that_could_not_read_all_of_the_project_says_why_and_waits_for_no_network(fake):
    pool, file = fake("ailing")
    (told,) = pool.check(file, "{}", PATIENCE).told
    assert (told.state, told.why) == ("unchecked", "cannot read deps: offline true")


@pytest.mark.parametrize("folder", ["testdata", "_old", "vendor/q"])
def test_go_directories_that_gopls_passes_over_are_not_checked(folder, asked):
    module = {"go.mod": "module e.com/p\n\ngo 1.19\n", "a.go": "package p\n"}
    told = asked(["gopls"], {**module, f"{folder}/a.go": 'package q\nvar X int = "s"\n'})(
        f"{folder}/a.go"
    )
    assert told.startswith(f"Not checked: {folder}/a.go by gopls")
    assert "No problems" not in told


def test_a_go_module_that_cannot_be_read_is_told_at_once_and_no_more_when_it_can(asked, tmp_path):
    ask = asked(["gopls"], {"go.mod": "nope nope\n", "a.go": 'package p\nvar X int = "s"\n'})
    began = time.monotonic()
    told = ask("a.go")
    assert time.monotonic() - began < TIMEOUT / 2
    reason = "go.mod:1: unknown directive: nope"
    assert told == (f"Not checked: a.go by gopls, at most its syntax: {reason}.")
    write(tmp_path, {"go.mod": "module e.com/p\n\ngo 1.19\n"})
    told = ask("a.go")
    assert told.startswith("a.go:2:13: error: ")
    assert "Not checked" not in told


def test_a_go_module_of_its_own_in_such_a_directory_is_checked(asked):
    module = {"go.mod": "module e.com/p\n\ngo 1.19\n", "main.go": 'package p\nvar X int = "s"\n'}
    files = {f"_examples/hello/{name}": text for name, text in module.items()}
    told = asked(["gopls"], files)("_examples/hello/main.go")
    assert "Not checked" not in told
    assert "error" in told


def test_a_go_file_of_no_module_may_lack_its_neighbours(asked):
    files = {"q/a.go": "package q\nvar X int = N\n", "q/b.go": "package q\nvar N = 1\n"}
    told = asked(["gopls"], files)("q/a.go")
    assert told.startswith(
        "Not checked: q/a.go by gopls, at most its syntax: the file is in no mod"
    )
    assert "it may miss the other files of its package" in told.splitlines()[0]


def test_clangd_guesses_until_there_are_flags_and_then_takes_the_new_ones(asked, tmp_path):
    ask = asked(["clangd"], {"a.c": '#ifdef ON\nint x = "s";\n#endif\n'})
    assert "(clangd guesses include paths and macros" in ask("a.c")
    for flags, error in ((["-DON"], True), ([], False)):
        command = {"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", *flags, "a.c"]}
        write(tmp_path, {"build/compile_commands.json": json.dumps([command])})
        told = ask("a.c")
        assert ("error" in told, "guesses" in told) == (error, False)


def test_all_who_ask_beside_each_other_get_the_server_with_the_new_flags(asked, tmp_path):
    names = ("a.c", "b.c")
    ask = asked(["clangd"], dict.fromkeys(names, '#ifdef ON\nint x = "s";\n#endif\n'))
    with ThreadPoolExecutor(2) as beside:
        for i in range(3):
            for flags in ("-DOFF", "-DON"):
                write(tmp_path, {"compile_flags.txt": f"{flags}\n" + " \n" * i})
                told = [*beside.map(ask, names)]
                assert ["error" in each for each in told] == [flags == "-DON"] * 2


def test_ty_sees_a_package_that_is_made_meanwhile(asked, tmp_path):
    ask = asked(["ty", "ruff"], {"a.py": "from q import n\n\nprint(n)\n"})
    assert "Cannot resolve imported module" in ask("a.py")
    write(tmp_path, {"q/__init__.py": "n = 1\n"})
    assert ask("a.py") == "No problems in a.py (ty, ruff)."


@pytest.mark.slow
def test_typescript_sees_an_installed_package_and_tells_what_it_leaves_of_javascript(
    asked, tmp_path
):
    files = {"a.ts": "import {n} from 'q';\nexport const m: string = n;\n", "b.js": "nope();\n"}
    ask = asked(["typescript-language-server"], {"package.json": "{}", **files})
    assert "Cannot find module" in ask("a.ts")
    types = {"index.d.ts": "export const n: string;\n", "package.json": '{"types": "index.d.ts"}'}
    write(tmp_path / "node_modules/q", types)
    assert ask("a.ts").startswith("No problems")
    assert "checks the types of JavaScript only where checkJs" in ask("b.js")


TS5 = "typescript-language-server"
CLEAN = f"No problems in a.ts ({TS5})."


@pytest.mark.slow
def test_typescript_is_asked_and_not_waited_for_where_a_clean_file_stays_clean(asked, tmp_path):
    options = {"strict": True, "resolveJsonModule": True, "esModuleInterop": True}
    uses = 'import d from "./d.json";\nimport { e } from "./e";\n'
    files = {
        "package.json": "{}",
        "tsconfig.json": json.dumps({"compilerOptions": options}),
        "a.ts": f"{uses}export const n: number = d.n + e;\n",
        "d.json": '{"n": 1}',
        "e.ts": "export const e: number = 1;\n",
    }
    ask = asked([TS5], files)
    assert ask("a.ts") == CLEAN
    write(tmp_path, {"a.ts": f"{uses}export const n: number = e + d.n;\n"})
    assert ask("a.ts") == CLEAN
    write(tmp_path, {"e.ts": "export const e: number = 2;\n"})
    assert ask("a.ts") == CLEAN
    write(tmp_path, {"d.json": '{"n": "s"}'})
    assert "'string' is not assignable to type 'number'" in ask("a.ts")
    write(tmp_path, {"a.ts": 'const s = "é𝄞" + zz;\n'})
    assert "a.ts:1:18: error: Cannot find name 'zz'. [typescript 2304]" in ask("a.ts")


RULE = '{"type": "object", "properties": {"n": {"type": "%s"}}}'


@pytest.mark.parametrize(
    ("program", "files", "name", "wrong", "right"),
    [
        (
            "clangd",
            {"a.c": '#include "v.inc"\nint f(void) { return V; }\n'},
            "v.inc",
            '#define V "s"\n',
            "#define V 1\n",
        ),
        (
            "bash-language-server",
            {"a.sh": "#!/bin/bash\necho $nobody\n"},
            ".shellcheckrc",
            "",
            "disable=SC2154,SC2086\n",
        ),
        (
            "vscode-json-language-server",
            {"a.json": '{"$schema": "./s.json", "n": 1}'},
            "s.json",
            RULE % "string",
            RULE % "integer",
        ),
        (
            "yaml-language-server",
            {"a.yaml": "# yaml-language-server: $schema=./s.json\nn: 1\n"},
            "s.json",
            RULE % "string",
            RULE % "integer",
        ),
    ],
)
def test_a_change_of_what_servers_read_besides_counts(
    program, files, name, wrong, right, asked, tmp_path
):
    if program == "bash-language-server" and not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed")
    (path,) = files
    ask = asked([program], {**files, name: wrong})
    for text, clean in ((wrong, False), (right, True), (wrong, False)):
        write(tmp_path, {name: text})
        assert (f"No problems in {path}" in ask(path)) == clean


def test_a_script_is_not_checked_without_shellcheck(asked, tmp_path_factory, monkeypatch):
    programs = tmp_path_factory.mktemp("programs")
    if node := shutil.which("node"):
        (programs / "node").symlink_to(node)
    monkeypatch.setenv("PATH", str(programs))
    ask = asked(["bash-language-server"], {"a.sh": "cd $1\n"})
    assert ask("a.sh").startswith(WITHOUT.format("a.sh"))


WITHOUT = "Not checked: {} by bash, at most its syntax: shellcheck is not installed."
