"""Files that make other programs run something: no tool writes, moves or removes them."""

from fsagent_tools.globs import quoted
from fsagent_tools.runtime.own_python import OWN_PYTHON

REPOSITORIES = (".git", ".bare")  # the latter is the usual name beside a `.git` that is a file
GIT_OF_COMMANDS = ("hooks", "config", "config.worktree", "commondir", "info/attributes")
FOLDERS = (".vscode", ".config")  # a link of that name brings what is protected below it
BUILT = ("node_modules", ".venv", "venv", "vendor", "target", "site-packages", ".tox", ".nox")
GIT = (*(f"**/{name}" for name in REPOSITORIES), "**/.gitconfig", "**/.config/git")
SHELL = (
    "**/.{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile,inputrc,envrc}",
    "**/.{zshrc,zshenv,zprofile,zlogin,zlogout,kshrc,cshrc,tcshrc,login}",
    "**/.config/fish",
)
TOOLS = (
    "**/.{ssh,netrc,pypirc}",
    "**/.mcp.json",
    "**/.vscode/{settings,tasks,launch,mcp}.json",
    "**/.{idea,cursor,claude,codex,gemini}",
    "**/.fsagent.yaml",
    "**/.config/fsagent",
)


RUN_BY_OTHERS = (*GIT, *SHELL, *TOOLS)  # commands may change it, and what it would run is put back


class _Named(tuple[str, ...]):
    """Shown by its name, since it holds paths of this machine."""

    def __repr__(self) -> str:
        return "PROTECTED"


PROTECTED = _Named((*RUN_BY_OTHERS, *map(quoted, OWN_PYTHON)))
