"""The table of language servers, and which of them check a file, by its name and first line."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.lint.checks import may_have_comments
from fsagent_tools.policy.programs import ALL_PROGRAMS, Programs, default_toolchain, is_rustup


@dataclass(frozen=True)
class ServerSpec:
    """One language server, as a row of the table; patterns are searched for, "" for none."""

    name: str
    command: tuple[str, ...]  # a program's bare name, and arguments
    install: str = ""  # what a person types to get it
    settings: Mapping[str, Any] = field(default_factory=dict)  # by section, when it asks for them
    options: Mapping[str, Any] = field(default_factory=dict)  # `initializationOptions`
    across: bool = True  # a change of one file can change the problems of another
    pulls: bool = False  # it answers `textDocument/diagnostic`, though it does not offer to
    settles: bool = True  # its first answers may come before it has read the whole project
    final_push: bool = False  # it names versions, and the first word of one is its last
    quiet: float = 0.2  # seconds without news after which another one is taken to be done
    reports_loading: bool = False  # by `experimental/serverStatus` it says when it is ready
    opens: bool = False  # it knows uses of a name only in open files
    helper: str = ""  # a program without which it checks nothing
    trouble: str = ""  # what it logs, shows or tells of its work when it does not know the project
    trouble_per_text: bool = False  # or does not know one text
    strange: str = ""  # a problem, as `severity code: message`, that means the same
    fine: str = ""  # a problem that is none
    died: str = ""  # what it logs when the process that checks for it has ended
    packages: tuple[str, str] | None = None  # where its settings take `extraPaths`: it must not ask
    # a Python that lies in the project


@dataclass(frozen=True)
class Language:
    """A language that servers check.

    Args:
        suffixes: File suffix, or whole name, -> language ID of the protocol.
        markers: Files that make a directory the root of a project.
        servers: Groups of alternatives; the first installed one of each group is asked.
        settings: Names of files after whose change the servers are started anew.
    """

    name: str
    suffixes: Mapping[str, str]
    markers: tuple[str, ...]
    servers: tuple[tuple[ServerSpec, ...], ...]
    settings: tuple[str, ...] = ()


LanguageSettings = Mapping[str, Language | Sequence[str]]
_RUNS = re.compile(r"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)")
_SCRIPT_SUFFIXES = {  # what a script's first line names -> the suffix of such files
    **dict.fromkeys(("python", "uv"), ".py"),
    **dict.fromkeys(("sh", "bash", "dash", "ksh"), ".sh"),
    **{"node": ".js", "deno": ".ts", "bun": ".ts"},
}
_PYRIGHT = {"typeCheckingMode": "standard", "diagnosticMode": "openFilesOnly"}
_NO_TYPINGS = {  # TypeScript servers fetch them from npm unless told not to
    "disableAutomaticTypeAcquisition": True,
    "tsserver": {"automaticTypeAcquisition": {"enabled": False}},
}
_NO_SCHEMA = r"(Unable to load schema from '[^']*')"
_BROKEN_TSCONFIG = r"^\w+ (?:5\d{3}|6053|6059|18003|1005): (.*tsconfig.*)"
_RUFF = {  # rules count that the project's own settings select, and without any these
    "settings": {
        "configurationPreference": "filesystemFirst",
        "lint": {"select": ["E4", "E7", "E9", "F"]},
    }
}
TY = ServerSpec("ty", ("ty", "server"), "pip install ty", settles=False,
                trouble=r"(?i)(.*(?:failed to load|invalid|not a valid).*)")  # fmt: skip
RUFF = ServerSpec(
    "ruff", ("ruff", "server"), "pip install ruff", across=False, settles=False, options=_RUFF,
    trouble=r"(?i)(.*(?:failed to (?:parse|load|resolve)|error while resolving).*)",
)  # fmt: skip
BASEDPYRIGHT = ServerSpec(
    "basedpyright", ("basedpyright-langserver", "--stdio"), "pip install basedpyright",
    settings={"basedpyright": {"analysis": _PYRIGHT}}, packages=("basedpyright", "analysis"),
)  # fmt: skip
PYREFLY = ServerSpec(
    "pyrefly", ("pyrefly", "lsp"), "pip install pyrefly", pulls=True,
    settings={"python": {"pyrefly": {"displayTypeErrors": "force-on"}}},
    packages=("python", "pyrefly"),
)  # fmt: skip
TSC = ServerSpec(
    "typescript", ("tsc", "--lsp", "--stdio"), "npm install -g typescript@7", opens=True,
    settings=dict.fromkeys(("js/ts", "typescript", "javascript"), _NO_TYPINGS),
    options={"disableAutomaticTypingAcquisition": True},
)  # fmt: skip
TSSERVER = ServerSpec(
    "typescript-language-server", ("typescript-language-server", "--stdio"),
    "npm install -g typescript-language-server@5 typescript@5", opens=True, quiet=0.5,
    options={"disableAutomaticTypingAcquisition": True}, strange=_BROKEN_TSCONFIG,
    died=r"\[tsserver\] Exited",
)  # fmt: skip
GOPLS = ServerSpec(
    "gopls", ("gopls",), "go install golang.org/x/tools/gopls@latest", helper="go",
    options={"verboseWorkDoneProgress": True, "diagnosticsDelay": "0s"},
    final_push=True, trouble=r"Error loading workspace: (.*)",
    strange=r"(No packages found for open file [^:]*|.*go(?:\.mod|\.work).*requires go.*)",
)  # fmt: skip
RUST_ANALYZER = ServerSpec(
    "rust-analyzer", ("rust-analyzer",), "rustup component add rust-analyzer",
    options={  # each of these would build and run code of the project
        "cargo": {"buildScripts": {"enable": False}},
        "procMacro": {"enable": False},
        "checkOnSave": False,
    },
    reports_loading=True, strange=r"^\w+ unlinked-file: (.*)",
)  # fmt: skip
CLANGD = ServerSpec(
    "clangd", ("clangd", "--background-index=false"),
    "apt install clangd, or https://clangd.llvm.org/installation",
    final_push=True, opens=True, strange=r"^\w+ pp_file_not_found: (.*)",
)  # fmt: skip
JSON_SERVER = ServerSpec(
    "vscode-json", ("vscode-json-language-server", "--stdio"),
    "npm install -g vscode-langservers-extracted", settles=False, across=False,
    settings={"json": {"validate": {"enable": True}}},
    options={"handledSchemaProtocols": ["file"], "provideFormatter": False},
    strange=_NO_SCHEMA, fine="^warning 519:",  # a comma after the last value
)  # fmt: skip
YAML_SERVER = ServerSpec(
    "yaml", ("yaml-language-server", "--stdio"), "npm install -g yaml-language-server",
    settings={
        "yaml": {"validate": True, "schemaStore": {"enable": False, "url": ""}},
        "http": {"proxy": "http://127.0.0.1:9", "proxyStrictSSL": True},
    },
    across=False, strange=_NO_SCHEMA, fine="^error : Unresolved tag: ",
)  # fmt: skip
TOMBI = ServerSpec("tombi", ("tombi", "lsp"), "pip install tombi", across=False)
BASH_SERVER = ServerSpec(
    "bash", ("bash-language-server", "start"), across=False, helper="shellcheck",
    install="npm install -g bash-language-server, and apt install shellcheck",
    trouble="Error while linting: (?:Error: )?(.*)", trouble_per_text=True,
    strange="(ShellCheck only supports .*)",
)  # fmt: skip
_SCRIPTS = {
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".js", ".mjs", ".cjs"), "javascript"),
    **{".tsx": "typescriptreact", ".jsx": "javascriptreact"},
}
_C = {
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".ipp"), "cpp"),
}
_LANGUAGES = (
    Language(
        "python", dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
        ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"),
        ((TY, BASEDPYRIGHT, PYREFLY), (RUFF,)),
        ("pyproject.toml", "ty.toml", "ruff.toml", ".ruff.toml", "pyrightconfig.json",
         "pyrefly.toml", "pyvenv.cfg"),
    ),
    Language(
        "typescript", _SCRIPTS, ("tsconfig.json", "jsconfig.json", "package.json"),
        ((TSC, TSSERVER),), ("tsconfig.json", "jsconfig.json", "package.json", "node_modules"),
    ),
    Language("go", {".go": "go"}, ("go.mod",), ((GOPLS,),), ("go.mod", "go.sum", "go.work")),
    Language("rust", {".rs": "rust"}, ("Cargo.toml",), ((RUST_ANALYZER,),),
             ("Cargo.toml", "Cargo.lock", "rust-project.json")),
    Language("c", _C, ("compile_commands.json", "compile_flags.txt", "CMakeLists.txt"),
             ((CLANGD,),), ("compile_commands.json", "compile_flags.txt", ".clangd")),
    Language("json", {".json": "json", ".jsonc": "jsonc"}, (), ((JSON_SERVER,),)),
    Language("yaml", {".yaml": "yaml", ".yml": "yaml"}, (), ((YAML_SERVER,),)),
    Language("toml", {".toml": "toml"}, (), ((TOMBI,),)),
    Language("shell", dict.fromkeys((".sh", ".bash", ".ksh"), "shellscript"), (), ((BASH_SERVER,),),
             (".shellcheckrc",)),
)  # fmt: skip
LANGUAGES: Mapping[str, Language] = {language.name: language for language in _LANGUAGES}
SPECS: Mapping[str, ServerSpec] = {s.name: s for e in _LANGUAGES for g in e.servers for s in g}


def languages_of(settings: LanguageSettings) -> Mapping[str, Language]:
    """The known languages as `settings` change them: name -> a `Language` that is new or replaces
    one, the name of a server in the table, a whole command, or nothing for none.

    Raises:
        ConfigInvalid: A command for a language that is not known.
    """
    known = dict(LANGUAGES)
    for name, value in settings.items():
        if isinstance(value, Language):
            known[name] = value
        elif name not in known:
            raise ConfigInvalid(
                f"servers: the language {name!r} is not known, so a command is not enough.",
                hint=f"Give a Language with its suffixes, or one of: {', '.join(known)}.",
            )
        else:
            known[name] = replace(known[name], servers=((_server(value),),) if value else ())
    return known


def _server(command: Sequence[str]) -> ServerSpec:
    program, *arguments = command
    if program in SPECS and not arguments:
        return SPECS[program]
    name = Path(program).name
    known = next((spec for spec in SPECS.values() if spec.command[0] == name), ServerSpec(name, ()))
    whole = (program, *(arguments or known.command[1:]))
    install = f"put it at {program}, or correct the `servers` setting"
    return replace(known, command=whole, install=install)


def language_id(file: Path, language: Language, text: str = "") -> str:
    """The protocol's ID of the file in that language, "" for a file of another one.

    A file without a suffix goes by the program that its first line names.
    """
    suffix = file.suffix.lower()
    if not suffix and (runs := _RUNS.match(text)):
        suffix = _SCRIPT_SUFFIXES.get(runs[1], "")
    found = language.suffixes.get(suffix) or language.suffixes.get(file.name, "")
    return "jsonc" if found == "json" and may_have_comments(file.as_posix()) else found


def any_installed(settings: LanguageSettings) -> bool:
    """Whether there is a server for any language; the machine is asked once in a process."""
    groups = (group for each in languages_of(settings).values() for group in each.servers)
    return any(_is_installed(spec.name, spec.command) for group in groups for spec in group)


@cache
def _is_installed(name: str, command: tuple[str, ...]) -> bool:
    return runnable(ServerSpec(name, command), ALL_PROGRAMS) is not None


def runnable(spec: ServerSpec, programs: Programs) -> ServerSpec | None:
    """`spec` with the absolute file of its program, None without one outside the project."""
    program = programs.find(spec.command[0])
    if program and is_rustup(program):  # it would run what the project asks for
        own = (default_toolchain() or Path("/none")) / "bin" / Path(program).name
        program = programs.find(str(own)) if own.is_file() else None
    if program is None:
        return None
    spec, real = replace(spec, command=(program, *spec.command[1:])), Path(program).resolve()
    if spec.name == TSC.name:  # TypeScript speaks the protocol itself from 7 on
        try:
            package = json.loads((real.parents[1] / "package.json").read_bytes())
            return spec if int(str(package["version"]).partition(".")[0]) >= 7 else None
        except (OSError, ValueError, LookupError, TypeError):
            return None
    if spec.name != TSSERVER.name:
        return spec
    starts = real, Path(programs.find("tsserver") or real).resolve()
    for folder in (parent for start in starts for parent in start.parents):
        library = folder / "node_modules/typescript/lib/tsserver.js"
        if library.is_file() and programs.is_outside(str(library)):  # not that of the project
            tsserver = {"path": str(library), "useSyntaxServer": "never"}  # one process, not two
            return replace(spec, options={**spec.options, "tsserver": tsserver})
    return None


def with_packages(spec: ServerSpec, python: str) -> ServerSpec:
    """`spec` with the packages of a virtual environment, "" for none, in its settings."""
    if not (python and spec.packages):
        return spec
    outer, inner = spec.packages
    paths = [str(path) for path in Path(python).glob("lib*/python3*/site-packages")]
    group = {**spec.settings[outer], inner: {**spec.settings[outer][inner], "extraPaths": paths}}
    return replace(spec, settings={**spec.settings, outer: group})
