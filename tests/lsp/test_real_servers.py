"""The real servers: right diagnostics, none after the fix, after an outside change too."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from fsagent_tools.errors import NoLanguageServer
from tests.conftest import eventually

from .conftest import BIN, NODE_BIN, NODE_TS7, RUST, TIMEOUT, gone, manager_of, processes

pytestmark = pytest.mark.full

NO_TIME = 0.001


@dataclass(frozen=True)
class Case:
    """`bad` has its one error at `at`; `other`, imported by `user`, matters to `user`."""

    name: str
    language: str
    program: Path
    file: str
    bad: str
    good: str
    at: tuple[int, int]
    settings: tuple[str, ...] = ()
    other: tuple[str, str, str, str] | None = None  # file, good, bad, the user's text
    project: tuple[str, str] = ("none.txt", "")  # a file that the server needs


PYTHON = ("a.py", "é = '𝄞'\nx: int = (é, 's')\n", "x: int = 1\n", (2, 10))
IMPORTED = ("b.py", "n: int = 1\n", "n: str = ''\n", "from b import n\ny: int = n\n")
SCRIPT = ("a.ts", "const é = '𝄞';\nconst x: number = é;\n", "export const x = 1;\n", (2, 7))
MODULE = (
    "b.ts",
    "export const n = 1;\n",
    "export const n = 's';\n",
    "import {n} from './b';\nexport const y: number = n;\n",
)
CASES = [
    Case("ty", "python", BIN / "ty", *PYTHON, other=IMPORTED),
    Case("ruff", "python", BIN / "ruff", "a.py", "é = '𝄞'; print(nope)\n", "x = 1\n", (1, 16)),
    Case("basedpyright", "python", BIN / "basedpyright-langserver", *PYTHON, other=IMPORTED),
    Case("pyrefly", "python", BIN / "pyrefly", *PYTHON, other=IMPORTED),
    Case("typescript", "typescript", NODE_TS7 / "node_modules/.bin/tsc", *SCRIPT, other=MODULE,
         settings=(str(NODE_TS7 / "node_modules/.bin/tsc"), "--lsp", "--stdio")),
    Case("typescript-language-server", "typescript", NODE_BIN / "typescript-language-server",
         *SCRIPT, other=MODULE),
    Case("vscode-json", "json", NODE_BIN / "vscode-json-language-server", "a.json",
         '{"é𝄞": 1,}\n', '{"é𝄞": 1}\n', (1, 9)),
    Case("yaml", "yaml", NODE_BIN / "yaml-language-server", "a.yaml",
         "é: '𝄞'\nb: 1\nb: 2\n", "a: 1\n", (3, 1)),
    Case("clangd", "c", Path("/usr/bin/clangd"), "a.c",
         'char *é = "𝄞";\nint x = "s";\n', "int x;\n", (2, 9),
         other=("b.h", "int n(int);\n", "int n(void);\n",
                '#include "b.h"\nint y(void) {return n(1);}\n')),
    Case("gopls", "go", Path("/usr/bin/gopls"), "a.go",
         'package p\nvar é = "𝄞"\nvar X int = é\n', "package p\n", (3, 13),
         other=("b.go", "package p\nvar N = 1\n", "package p\nvar N = ``\n",
                "package p\nvar Y int = N\n")),
    Case("rust-analyzer", "rust", RUST / "rust-analyzer", "main.rs",
         'fn f(é: i32) {}\nfn main() { let _ = "𝄞"; f(1, 2); }\n', "fn main() {}\n", (2, 31),
         other=("b.rs", "pub fn n(a: i32) {}\n", "pub fn n() {}\n",
                "mod b;\nfn main() { b::n(1); }\n"),
         project=(  # without Cargo, which the machine need not have
             "rust-project.json",
             '{"crates": [{"root_module": "main.rs", "edition": "2021", "deps": []}]}')),
    Case("bash", "shell", NODE_BIN / "bash-language-server", "a.sh",
         "#!/bin/sh\né='𝄞'\nif true; then echo; fi }\n", "#!/bin/sh\necho\n", (3, 24)),
    Case("tombi", "toml", BIN / "tombi", "a.toml", '"é" = "𝄞"\na = 1\na = 2\n', "a = 1\n",
         (3, 1)),
]  # fmt: skip
QUICK = [case for case in CASES if case.name in ("clangd", "gopls", "ty", "pyrefly")]
PUSHING = [case for case in CASES if case.name in ("clangd", "gopls", "yaml", "bash")]


# Node.js, and a cold type checker
SLOW = {"basedpyright", "typescript-language-server"}
PARAMS = [
    pytest.param(case, id=case.name, marks=[pytest.mark.slow] * (case.name in SLOW))
    for case in CASES
]


@pytest.fixture(params=PARAMS)
def case(request):
    if not request.param.program.exists():
        pytest.skip(f"{request.param.name} is not installed ({request.param.program})")
    return request.param


def errors(servers, file):
    found = servers.diagnose(file, file.read_text(), TIMEOUT)
    assert not found.missing
    return [(p.line, p.column) for p in found.problems if p.severity == "error"]


def test_it_finds_the_error_and_sees_the_fix_an_outside_change_and_its_own_death(
    case, servers, tmp_path
):
    file = tmp_path.resolve() / case.file
    file.with_name(case.project[0]).write_text(case.project[1])
    servers = servers({case.language: case.settings or (case.name,)})
    for text, expected in [(case.bad, [case.at]), (case.good, []), (case.bad, [case.at])]:
        file.write_text(text)
        assert errors(servers, file) == expected
    if case.other:
        name, good, bad, user = case.other
        other = file.with_name(name)
        other.write_text(good)
        file.write_text(user)
        assert errors(servers, file) == []
        other.write_text(bad)
        assert len(errors(servers, file)) == 1
    place = servers.directory
    for number in processes(place):
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    file.write_text(case.bad)
    assert errors(servers, file) == [case.at]
    servers.close()
    assert gone(place)


@pytest.mark.parametrize("case", PUSHING, ids=lambda case: case.name)
def test_a_server_that_publishes_changes_is_not_waited_for_without_one(case, servers, tmp_path):
    if not case.program.exists():
        pytest.skip(f"{case.name} is not installed ({case.program})")
    file = tmp_path.resolve() / case.file
    file.write_text(case.bad)
    servers = servers({case.language: (case.name,)})
    first = servers.diagnose(file, case.bad, TIMEOUT)
    assert first.problems
    assert servers.diagnose(file, case.bad, NO_TIME) == first
    file.with_name("note.txt").write_text("no source")
    assert servers.diagnose(file, case.bad, NO_TIME) == first


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_the_first_answer_is_of_the_text_and_not_of_the_disk(case, servers, tmp_path):
    if not case.program.exists():
        pytest.skip(f"{case.name} is not installed ({case.program})")
    file = tmp_path.resolve() / case.file
    file.write_text(case.bad)
    checked = servers({case.language: (case.name,)}).diagnose(file, case.good, TIMEOUT)
    assert (checked.problems, checked.missing) == ([], {})


def test_two_projects_and_eight_files_at_once_are_not_mixed_up(tmp_path):
    if not ((BIN / "ty").exists() and (BIN / "ruff").exists()):
        pytest.skip("ty or ruff is not installed")
    pools = [manager_of(tmp_path / name) for name in "ab"]
    files = [pool.root / f"m{n}.py" for pool in pools for n in range(8)]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"import {file.parent.name}_{file.stem}\n")  # not found, and unused

    def told(file):
        pool = pools[file.parent.name == "b"]
        return {p.message for p in pool.diagnose(file, file.read_text(), TIMEOUT).problems}

    with ThreadPoolExecutor(16) as threads:
        for _ in range(3):
            for file, messages in zip(files, threads.map(told, files), strict=True):
                name = f"{file.parent.name}_{file.stem}"
                assert len(messages) == 2, messages
                assert all(f"`{name}`" in message for message in messages)
    for pool in pools:
        pool.close()


def test_an_error_that_two_servers_find_is_told_once(servers, tmp_path):
    if not ((BIN / "ty").exists() and (BIN / "ruff").exists()):
        pytest.skip("ty or ruff is not installed")
    file = tmp_path.resolve() / "a.py"
    (problem,) = servers({}).diagnose(file, "print(nope)\n", TIMEOUT).problems
    assert (problem.source, problem.line, problem.column) == ("ty", 1, 7)


@pytest.mark.parametrize("name", ["ty", "ruff", "basedpyright", "pyrefly"])
def test_programs_inside_the_project_are_never_run(name, servers, tmp_path, monkeypatch):
    if not (BIN / CASES[[c.name for c in CASES].index(name)].program.name).exists():
        pytest.skip(f"{name} is not installed")
    trap, sprung = tmp_path / ".venv/bin", tmp_path / "sprung"
    trap.mkdir(parents=True)
    (tmp_path / ".venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    for program in ("ruff", "ty", "python", "python3", "node", "git"):
        (trap / program).write_text(f"#!/bin/sh\necho {program} >> {sprung}\n")
        (trap / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{trap}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "a.py").write_text("x = 1\n")
    servers({"python": (name,)}).diagnose(tmp_path.resolve() / "a.py", "x = 1\n", TIMEOUT)
    assert not sprung.exists(), sprung.read_text()


CRATE = "[package]\nname = 'p'\nversion = '0.1.0'\nedition = '2021'\n"
LOCK = 'version = 3\n\n[[package]]\nname = "p"\nversion = "0.1.0"\n'
RUST_FILES = {"Cargo.toml": CRATE, "Cargo.lock": LOCK, "src/lib.rs": "pub fn f() {}\n"}
BUILD = "[cargo.buildScripts]\nenable = true\noverrideCommand = ['{trap}']\n"
NAMED = {  # what settings name as a program -> server, program, files, the last one is asked about
    "rustc-wrapper": {".cargo/config.toml": "[build]\nrustc-wrapper = '{trap}'\n", **RUST_FILES},
    "rustc-workspace-wrapper": {
        ".cargo/config.toml": "[build]\nrustc-workspace-wrapper = '{trap}'\n",
        **RUST_FILES,
    },
    "rustc": {".cargo/config.toml": "[build]\nrustc = '{trap}'\n", **RUST_FILES},
    "build scripts": {"rust-analyzer.toml": BUILD, **RUST_FILES},
    "python-interpreter-path": {
        "pyrefly.toml": "python-interpreter-path = 'trap'\n",
        "a.py": "x: int = ''\n",
    },
}


@pytest.mark.parametrize("setting", NAMED)
def test_a_program_that_settings_of_the_project_name_is_not_run(setting, servers, tmp_path):
    server = "pyrefly" if "a.py" in NAMED[setting] else "rust-analyzer"
    if not ((RUST if server == "rust-analyzer" else BIN) / server).exists():
        pytest.skip(f"{server} is not installed")
    trap = tmp_path / "trap"
    for name, text in NAMED[setting].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("{trap}", str(trap)))
    trap.write_text('#!/bin/sh\ntouch "$TMPDIR/sprung"\nexec "$@"\n')
    trap.chmod(0o755)
    servers = servers({"python" if server == "pyrefly" else "rust": (server,)})
    with suppress(NoLanguageServer):
        servers.diagnose(tmp_path.resolve() / name, text, TIMEOUT)
    assert not (Path(servers.directory) / "sprung").exists()


def test_a_typescript_inside_the_project_is_never_run(servers, tmp_path):
    if not (NODE_BIN / "typescript-language-server").exists():
        pytest.skip("typescript-language-server is not installed")
    sprung = tmp_path / "sprung"
    library = tmp_path / "node_modules/typescript/lib"
    library.mkdir(parents=True)
    trap = f"require('fs').writeFileSync({str(sprung)!r}, '');"
    for name in ("tsserver.js", "typescript.js", "_tsserver.js"):
        (library / name).write_text(trap)
    (library.parent / "package.json").write_text('{"name": "typescript", "version": "5.9.3"}')
    (tmp_path / "tsconfig.json").write_text('{"compilerOptions": {"plugins": [{"name": "evil"}]}}')
    evil = tmp_path / "node_modules/evil"
    evil.mkdir()
    (evil / "index.js").write_text(trap)
    (evil / "package.json").write_text('{"name": "evil", "main": "index.js"}')
    file = tmp_path.resolve() / "a.ts"
    file.write_text("const x: number = 's';\n")
    checked = servers({"typescript": ("typescript-language-server",)}).diagnose(
        file, file.read_text(), TIMEOUT
    )
    assert len(checked.problems) == 1
    assert not sprung.exists()


def tsservers(servers):
    place, found = servers.directory, []
    for number in processes(place):
        with suppress(OSError):
            if b"tsserver.js" in Path(f"/proc/{number}/cmdline").read_bytes():
                found.append(number)
    return found


def test_a_typescript_that_died_beneath_its_server_is_replaced(servers, tmp_path):
    if not (NODE_BIN / "typescript-language-server").exists():
        pytest.skip("typescript-language-server is not installed")
    file, text = tmp_path.resolve() / "a.ts", "export const x: number = 's';\n"
    servers = servers({"typescript": ("typescript-language-server",)})
    for more in ("", "// more\n"):
        assert len(servers.diagnose(file, text + more, TIMEOUT).problems) == 1
        (number,) = tsservers(servers)
        os.kill(number, signal.SIGKILL)
        assert eventually(lambda: not tsservers(servers))
    assert len(servers.diagnose(file, text + more, TIMEOUT).problems) == 1


@pytest.mark.slow
def test_one_typescript_runs_and_not_two(servers, tmp_path):
    if not (NODE_BIN / "typescript-language-server").exists():
        pytest.skip("typescript-language-server is not installed")
    servers = servers({"typescript": ("typescript-language-server",)})
    servers.diagnose(tmp_path.resolve() / "a.ts", "const x: number = 's';\n", TIMEOUT)
    assert len(tsservers(servers)) == 1
