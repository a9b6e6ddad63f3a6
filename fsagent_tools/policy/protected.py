"""Files that make other programs run something: no tool writes, moves or removes them."""

import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

REPOSITORIES = (".git", ".bare")  # the latter is the usual name beside a `.git` that is a file
GIT_OF_COMMANDS = ("hooks", "config", "config.worktree", "commondir", "info/attributes")
FOLDERS = (".vscode", ".config")  # a link of that name brings what is protected below it
BUILT = ("node_modules", ".venv", "venv", "vendor", "target", "site-packages", ".tox", ".nox")
GIT = (
    *(f"**/{name}" for name in REPOSITORIES),
    "**/.gitconfig",
    "**/.config/git",
)
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


def _own_python() -> Iterator[str]:
    """What this very process is made of, and would run at its next start."""
    yield str(Path(os.__file__).parent)
    if sys.prefix != sys.base_prefix:
        yield from (sys.prefix, os.path.realpath(sys.executable))
    else:
        yield from (*site.getsitepackages(), *map(sysconfig.get_path, ("platstdlib", "scripts")))
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()


OWN_PYTHON = tuple(dict.fromkeys(map(os.path.realpath, _own_python())))
RUN_BY_OTHERS = (*GIT, *SHELL, *TOOLS)  # commands may change it, and what it would run is put back
PROTECTED = (
    *RUN_BY_OTHERS,
    *(re.sub(r"([*?\[{\\])", r"\\\1", place) for place in OWN_PYTHON),
)
