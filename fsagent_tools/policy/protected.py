"""Files that make other programs run something: no tool and no command changes them."""

from fsagent_tools.globs import quoted
from fsagent_tools.runtime import OWN_PYTHON


class _Named(tuple[str, ...]):
    """Shown by its name, since it is long and holds paths."""

    name: str

    def __repr__(self) -> str:
        return self.name


def _named(name: str, items: tuple[str, ...]) -> tuple[str, ...]:
    made = _Named(items)
    made.name = name
    return made


REPOSITORIES = (".git", ".bare")  # the latter is the usual name beside a `.git` that is a file
BUILT = ("node_modules", ".venv", "venv", "vendor", "target", "site-packages", ".tox", ".nox")
_SETTINGS = (  # of shells, editors, agents and other programs that a person starts in a project
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"),
    *(".inputrc", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc"),
    *(".tcshrc", ".login", ".config/fish", ".envrc", ".ssh", ".netrc", ".pypirc", ".gitconfig"),
    *(".config/git", ".fsagent.yaml", ".config/fsagent", ".hg/hgrc", ".jj/repo/config.toml"),
    *(".sl/config", ".husky", ".github/hooks", ".devcontainer"),
    *(f".vscode/{name}.json" for name in ("settings", "tasks", "launch", "mcp")),
    *(".idea", ".zed", "*.code-workspace", ".mcp.json", ".claude", ".cursor", ".codex", ".gemini"),
    *(".windsurf", ".kiro", ".roo", ".continue", ".qwen", ".amazonq", ".opencode"),
    *("opencode.json", ".crush.json", ".vimrc", ".exrc", ".tmux.conf", ".xprofile", ".xsession"),
    *(".pam_environment", ".config/autostart", ".config/systemd", ".config/nvim", ".config/zsh"),
    ".config/direnv",
)
SETTINGS = _named("SETTINGS", _SETTINGS)
GIT = tuple(f"**/{name}" for name in (*REPOSITORIES, ".gitconfig", ".config/git"))
RUN_BY_OTHERS = tuple(f"**/{name}" for name in (*REPOSITORIES, *SETTINGS))


PROTECTED = _named("PROTECTED", (*RUN_BY_OTHERS, *map(quoted, OWN_PYTHON)))
