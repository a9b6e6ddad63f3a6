"""Files that make other programs run something: no tool writes, moves or removes them."""

GIT_OF_COMMANDS = ("hooks", "config", "config.worktree", "commondir", "info/attributes")
GIT = (
    "**/.git",
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
PROTECTED = (*GIT, *SHELL, *TOOLS)
