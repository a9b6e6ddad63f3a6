"""Which language server checks which file, how it is started and how it is installed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fsagent_tools.errors import ConfigInvalid


@dataclass(frozen=True)
class ServerSpec:
    """One language server, as a row of the table.

    Args:
        command: The program's bare name and its arguments.
        install: What a person types to get it.
        settings: Answers to `workspace/configuration`, by section.
        options: `initializationOptions`.
        across: Whether a change of one file can change the problems of another.
        pulls: It answers `textDocument/diagnostic`, though it does not offer to.
        settles: Its first answers may come before it has read the whole project.
        has_versions: What it publishes says of which version of a text it is.
        final_push: The first it publishes of a version, without work under way, is its last word.
        quiet: Seconds without news after which another one is taken to be done.
        reports_loading: It says by `experimental/serverStatus` when it has read the project.
        opens: It knows uses of a name only in open files.
        helper: A program without which it checks nothing.
        trouble: A pattern of what it logs, shows or tells of its work, when it does not know the
            project, or one text (`trouble_per_text`).
        strange: The same of a problem, as `severity code: message`.
        died: A pattern of what it logs when the process that checks for it has ended.
        packages: Where its settings take `extraPaths`, the packages of a virtual environment: it
            must not ask a Python that lies in the project.
        fine: A pattern of what it calls a problem and is none.
    """

    name: str
    command: tuple[str, ...]
    install: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    across: bool = True
    pulls: bool = False
    settles: bool = True
    has_versions: bool = False
    final_push: bool = False
    quiet: float = 0.2
    reports_loading: bool = False
    opens: bool = False
    helper: str = ""
    trouble: str = ""
    trouble_per_text: bool = False
    strange: str = ""
    died: str = ""
    fine: str = ""
    packages: tuple[str, str] | None = None


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
    has_versions=True, final_push=True, trouble=r"Error loading workspace: (.*)",
    strange=r"(No packages found for open file [^:]*|.*go(?:\.mod|\.work).*requires go.*)",
)  # fmt: skip
RUST_ANALYZER = ServerSpec(
    "rust-analyzer", ("rust-analyzer",), "rustup component add rust-analyzer",
    options={  # each of these would build and run code of the project
        "cargo": {"buildScripts": {"enable": False}},
        "procMacro": {"enable": False},
        "checkOnSave": False,
    },
    reports_loading=True, has_versions=True, strange=r"^\w+ unlinked-file: (.*)",
)  # fmt: skip
CLANGD = ServerSpec(
    "clangd", ("clangd", "--background-index=false"),
    "apt install clangd, or https://clangd.llvm.org/installation",
    has_versions=True, final_push=True, opens=True, strange=r"^\w+ pp_file_not_found: (.*)",
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
SPECS: Mapping[str, ServerSpec] = {
    spec.name: spec for each in _LANGUAGES for group in each.servers for spec in group
}


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
        elif name in known:
            known[name] = replace(known[name], servers=_servers(value))
        else:
            raise ConfigInvalid(
                f"servers: the language {name!r} is not known, so a command is not enough.",
                hint=f"Give a Language with its suffixes, or one of: {', '.join(known)}.",
            )
    return known


def _servers(command: Sequence[str]) -> tuple[tuple[ServerSpec, ...], ...]:
    if not command:
        return ()
    program, *arguments = command
    if program in SPECS and not arguments:
        return ((SPECS[program],),)
    name = Path(program).name
    known = next((spec for spec in SPECS.values() if spec.command[0] == name), None)
    spec = known or ServerSpec(name, ())
    whole = (program, *(arguments or spec.command[1:]))
    install = f"put it at {program}, or correct the `servers` setting"
    return ((replace(spec, command=whole, install=install),),)


def with_packages(spec: ServerSpec, environment: str) -> ServerSpec:
    """`spec` with the packages of a virtual environment of Python, "" for none, in its settings."""
    if not (environment and spec.packages):
        return spec
    outer, inner = spec.packages
    paths = [str(path) for path in Path(environment).glob("lib*/python3*/site-packages")]
    group = spec.settings[outer]
    changed = {**group, inner: {**group[inner], "extraPaths": paths}}
    return replace(spec, settings={**spec.settings, outer: changed})
