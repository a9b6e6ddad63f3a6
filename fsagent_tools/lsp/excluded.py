"""Files that the settings of a Python checker leave out, of which it tells nothing."""

from fnmatch import fnmatch
from pathlib import Path

from fsagent_tools.lsp.environment import table

_KEYS = {  # checker -> its own settings file, its table in it, what it leaves out, what it takes in
    "ty": ("ty.toml", ("src",), ("exclude",), "include"),
    "ruff": ("ruff.toml", (), ("exclude", "extend-exclude"), ""),
    "basedpyright": ("pyrightconfig.json", (), ("ignore",), ""),
    "pyrefly": ("pyrefly.toml", (), ("project-excludes", "project_excludes"), "project-includes"),
}


def excluded(server: str, file: Path, root: Path) -> str:
    """By what the nearest settings of a Python checker leave `file` out, "" if nothing tells."""
    own, inner, leaving, taking = _KEYS.get(server, ("", (), (), ""))
    for folder in (f for f in file.parents if own and f.is_relative_to(root)):
        for name, path in ((own, inner), ("pyproject.toml", ("tool", server, *inner))):
            if found := table(folder / name, *path):
                near = file.relative_to(folder)
                if any(_matches(near, found.get(key)) for key in leaving):
                    return f"the settings in {name} leave it out"
                if found.get(taking) and not _matches(near, found.get(taking)):
                    return f"`{taking}` in {name} does not name it"
                return ""
    return ""


def _matches(near: Path, patterns: object) -> bool:
    """Whether the last of gitignore's patterns that fits a path, or a directory above it, says so;
    one without a slash fits a name at any depth.
    """
    said = False
    for pattern in patterns if isinstance(patterns, list) else ():
        plain = str(pattern).lstrip("!").removeprefix("./").removeprefix("**/").strip("/")
        plain = plain.removesuffix("/**") or "*"
        above = [near, *near.parents][:-1]
        if any(fnmatch(str(p), plain) or fnmatch(p.name, plain) for p in above):
            said = not str(pattern).startswith("!")
    return said
