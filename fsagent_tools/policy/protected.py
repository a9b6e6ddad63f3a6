"""Files that make other programs run something: no tool writes, moves or removes them."""

import os
import re
import sys
import sysconfig

_PLACES = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")

REPOSITORIES = (".git", ".bare")  # the latter is the usual name beside a `.git` that is a file
GIT_OF_COMMANDS = ("hooks", "config", "config.worktree", "commondir", "info/attributes")
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
OWN_PYTHON = tuple(  # of this very process, which would run at its next start what is written there
    dict.fromkeys(
        os.path.realpath(place)
        for place in (
            [sys.prefix]
            if sys.prefix != sys.base_prefix
            else [sysconfig.get_path(name) for name in _PLACES]
        )
    )
)
PROTECTED = (
    *GIT,
    *SHELL,
    *TOOLS,
    *(re.sub(r"([*?\[{\\])", r"\\\1", place) for place in OWN_PYTHON),
)
