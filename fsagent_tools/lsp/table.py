"""Which language server checks which file, how it is started and how it is installed."""

from collections.abc import Mapping

from fsagent_tools.lsp import limits, programs
from fsagent_tools.lsp.limits import Limit
from fsagent_tools.lsp.spec import Language, Sign, Spec

__all__ = ["LANGUAGES", "SPECS", "Language", "Spec"]

_NO_DOWNLOADS = {  # TypeScript servers fetch typings from npm unless told not to
    "disableAutomaticTypeAcquisition": True,
    "tsserver": {"automaticTypeAcquisition": {"enabled": False}},
}
_NPM_TYPESCRIPT = "npm install -g typescript-language-server@5 typescript@5"


def _muted_by(said: str) -> Mapping[Sign, str]:
    """A comment before all else."""
    return {"mute": rf"(?m)\A(?:[ \t]*(?:#.*)?\n)*?[ \t]*({said})[ \t]*$"}


_OF_SCRIPTS: Mapping[Sign, str] = {
    "mute": r"\A(?:[ \t]*(?:(?://|/?\*).*)?\n)*?[ \t]*(?://|/\*+)[ \t]*(@ts-nocheck)\b",
}
_PYRIGHT = {"typeCheckingMode": "standard", "diagnosticMode": "openFilesOnly"}
_NO_SCHEMAS = (Limit("fetches no schemas: it knows those that are files"),)
_NO_SCHEMA = r"(Unable to load schema from '[^']*')"
_VSCODE = "npm install -g vscode-langservers-extracted"
_TAPLO = "cargo install taplo-cli --locked --features lsp"
_SPECS = (
    Spec("ty", ("ty", "server"), "pip install ty", signs=_muted_by("# (?:type|ty): ignore")),
    Spec(
        "ruff",
        ("ruff", "server"),
        "pip install ruff",
        across=False,
        signs={"mute": r"(?m)^[ \t]*(# (?:ruff|flake8): noqa)[ \t]*$"},
    ),
    Spec(
        "basedpyright",
        ("basedpyright-langserver", "--stdio"),
        "pip install basedpyright",
        settings={"basedpyright": {"analysis": _PYRIGHT}},
        signs=_muted_by("# type: ignore"),
    ),
    Spec(
        "pyrefly",
        ("pyrefly", "lsp"),
        "pip install pyrefly",
        settings={"python": {"pyrefly": {"displayTypeErrors": "force-on"}}},
        pushes="rechecks",
        signs=_muted_by("# pyrefly: ignore-errors"),
    ),
    Spec(
        "typescript",
        ("tsc", "--lsp", "--stdio"),
        "npm install -g typescript@7",
        settings=dict.fromkeys(("js/ts", "typescript", "javascript"), _NO_DOWNLOADS),
        options={"disableAutomaticTypingAcquisition": True},
        fits=programs.typescript7,
        opens=True,
        limits=limits.JAVASCRIPT,
        signs=_OF_SCRIPTS,
    ),
    Spec(
        "typescript-language-server",
        ("typescript-language-server", "--stdio"),
        _NPM_TYPESCRIPT,
        options={"disableAutomaticTypingAcquisition": True},
        fits=programs.tsserver,
        opens=True,
        limits=limits.JAVASCRIPT,
        signs=_OF_SCRIPTS,
    ),
    Spec(
        "vscode-json",
        ("vscode-json-language-server", "--stdio"),
        _VSCODE,
        settings={"json": {"validate": {"enable": True}}},
        options={"handledSchemaProtocols": ["file"], "provideFormatter": False},
        limits=_NO_SCHEMAS,
        # A comma after the last value, where there may be one.
        signs={"stranger": _NO_SCHEMA, "fine": "^warning 519:"},
    ),
    Spec(
        "yaml",
        ("yaml-language-server", "--stdio"),
        "npm install -g yaml-language-server",
        settings={
            "yaml": {"validate": True, "schemaStore": {"enable": False, "url": ""}},
            "http": {"proxy": "http://127.0.0.1:9", "proxyStrictSSL": True},
        },
        limits=_NO_SCHEMAS,
        # What a tag means, only programs know.
        signs={"stranger": _NO_SCHEMA, "fine": "^error : Unresolved tag: "},
    ),
    Spec(
        "gopls",
        ("gopls",),
        "go install golang.org/x/tools/gopls@latest",
        options={"verboseWorkDoneProgress": True, "diagnosticsDelay": "0s"},
        pushes="finally",
        limits=limits.GO,
        helper="go",
        outdated=limits.newer_go,
        signs={"stranger": "(No packages found for open file [^:]*)"},
    ),
    Spec(
        "rust-analyzer",
        ("rust-analyzer",),
        "rustup component add rust-analyzer",
        options={  # each of these would build and run code of the project
            "cargo": {"buildScripts": {"enable": False}},
            "procMacro": {"enable": False},
            "checkOnSave": False,
        },
        loads="status",
        limits=(Limit("checks neither borrowing nor lifetimes: cargo check does"),),
        signs={"stranger": r"^\w+ unlinked-file: (.*)"},
    ),
    Spec(
        "clangd",
        ("clangd", "--background-index=false"),  # what holds a name is opened instead
        "apt install clangd, or https://clangd.llvm.org/installation",
        pushes="finally",
        opens=True,
        limits=limits.C,
        signs={"blind": r"^\w+ pp_file_not_found: (.*)"},
    ),
    Spec(
        "bash",
        ("bash-language-server", "start"),
        "npm install -g bash-language-server, and apt install shellcheck",
        limits=limits.ZSH,
        helper="shellcheck",
        signs={
            "stranger": "(ShellCheck only supports .*)",
            "ailing": "Error while linting: (?:Error: )?(.*)",
        },
    ),
    Spec("taplo", ("taplo", "lsp", "stdio"), _TAPLO, across=False),
    Spec("tombi", ("tombi", "lsp"), "pip install tombi", across=False),
)
SPECS: Mapping[str, Spec] = {spec.name: spec for spec in _SPECS}

_C = {
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".ipp"), "cpp"),
    **{".cu": "cuda-cpp", ".cuh": "cuda-cpp", ".m": "objective-c", ".mm": "objective-cpp"},
}
_SHELL = dict.fromkeys((".sh", ".bash", ".zsh", ".ksh"), "shellscript")
_SCRIPTS = {
    **{".ts": "typescript", ".mts": "typescript", ".cts": "typescript"},
    **{".js": "javascript", ".mjs": "javascript", ".cjs": "javascript"},
    **{".tsx": "typescriptreact", ".jsx": "javascriptreact"},
}
_TYPESCRIPT = Language(
    "typescript",
    _SCRIPTS,
    ("tsconfig.json", "jsconfig.json", "package.json"),
    (("typescript", "typescript-language-server"),),
    (
        *("tsconfig*.json", "jsconfig*.json", "package.json", "pnpm-workspace.yaml"),
        *("node_modules", "node_modules/.package-lock.json"),
        *("node_modules/.modules.yaml", "node_modules/.yarn-state.yml"),
    ),
    (("package.json", '"workspaces"'), ("pnpm-workspace.yaml", "packages")),
    reads=(".json",),
)
_PYTHON_SETTINGS = (
    *("pyproject.toml", "ty.toml", "ruff.toml", ".ruff.toml", "pyrightconfig.json", "pyrefly.toml"),
)
_LANGUAGES = (
    Language(
        "python",
        dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
        ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"),
        (("ty", "basedpyright", "pyrefly"), ("ruff",)),
        _PYTHON_SETTINGS,
        (("pyproject.toml", "[tool.uv.workspace]"),),
    ),
    _TYPESCRIPT,
    Language("json", {".json": "json", ".jsonc": "jsonc"}, (), (("vscode-json",),)),
    Language("yaml", {".yaml": "yaml", ".yml": "yaml"}, (), (("yaml",),), reads=(".json",)),
    Language(
        "go",
        {".go": "go"},
        ("go.mod",),
        (("gopls",),),
        ("go.mod", "go.sum", "go.work"),
        (("go.work", "use"),),
    ),
    Language(
        "rust",
        {".rs": "rust"},
        ("Cargo.toml",),
        (("rust-analyzer",),),
        ("Cargo.toml", "Cargo.lock", "rust-project.json", ".cargo/config.toml"),
        (("Cargo.toml", "[workspace"),),
    ),
    Language(
        "c",
        _C,
        ("compile_commands.json", "compile_flags.txt", "CMakeLists.txt"),
        (("clangd",),),
        (*limits.FLAGS, ".clang-tidy"),
        reads=(".inc", ".inl", ".def", ".tcc", ".tpp"),
    ),
    Language("shell", _SHELL, (), (("bash",),), (".shellcheckrc", "shellcheckrc")),
    Language("toml", {".toml": "toml"}, (), (("taplo", "tombi"),)),
)
LANGUAGES: Mapping[str, Language] = {language.name: language for language in _LANGUAGES}
