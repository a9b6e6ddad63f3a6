"""Files that the settings of a Python checker leave out, of which it tells nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from fsagent_tools.lsp.environment import folders_above, table

_BOTH = (  # directories that ty and ruff leave out unless settings say something else
    *(".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".mypy_cache", ".nox", ".pants.d"),
    *(".pytype", ".ruff_cache", ".svn", ".tox", ".venv", "__pypackages__", "_build", "buck-out"),
    *("dist", "node_modules", "venv"),
)
_RUFF = (".ipynb_checkpoints", ".pyenv", ".pytest_cache", ".vscode", "site-packages")
_MOST_EXTENDED = 5  # settings of Ruff that extend others


@dataclass(frozen=True)
class _Leaves:
    """files: the checker's own settings, which go before pyproject.toml. inner: its table there.
    leaving, taking: keys of what it leaves out and takes in, `a.b` within another table. usual:
    what it leaves out besides, or where nothing has the key `instead`.
    """

    files: tuple[str, ...]
    leaving: tuple[str, ...]
    taking: str = ""
    inner: tuple[str, ...] = ()
    usual: tuple[str, ...] = ()
    instead: str = ""


_CHECKERS = {
    "ty": _Leaves(("ty.toml",), ("exclude",), "include", ("src",), _BOTH),
    "ruff": _Leaves(
        (".ruff.toml", "ruff.toml"),
        ("exclude", "extend-exclude", "lint.exclude"),
        usual=(*_BOTH, *_RUFF),
        instead="exclude",
    ),
    "basedpyright": _Leaves(("pyrightconfig.json",), ("ignore",)),
    "pyrefly": _Leaves(
        ("pyrefly.toml",), ("project-excludes", "project_excludes"), "project-includes"
    ),
}


def excluded(server: str, file: Path, root: Path) -> str:
    """By what the nearest settings of a Python checker leave `file` out, "" if nothing tells, or
    the file is outside the root.
    """
    if server not in _CHECKERS or not file.is_relative_to(root):
        return ""
    leaves = _CHECKERS[server]
    folder, name, settings = _nearest(server, file, root)
    near, usual = file.relative_to(folder), leaves.usual
    usual = usual if not leaves.instead or leaves.instead not in settings else ()
    patterns = [*usual, *(p for key in leaves.leaving for p in _listed(settings, key))]
    if _matches(near, patterns):
        return f"the settings in {name} leave it out" if name else "it leaves out such directories"
    if (taken := _listed(settings, leaves.taking)) and not _matches(near, taken):
        return f"`{leaves.taking}` in {name} does not name it"
    return ""


def _nearest(server: str, file: Path, root: Path) -> tuple[Path, str, Mapping[str, Any]]:
    """The directory and the name of the settings, and what they say with what they extend."""
    leaves = _CHECKERS[server]
    places = [(own, leaves.inner) for own in leaves.files]
    places.append(("pyproject.toml", ("tool", server, *leaves.inner)))
    for folder in folders_above(file, root):
        for name, path in places:
            if settings := table(folder / name, *path):
                for _ in range(_MOST_EXTENDED):
                    if isinstance(more := settings.get("extend"), str):
                        rest = {key: value for key, value in settings.items() if key != "extend"}
                        settings = {**table(folder / more), **rest}
                return folder, name, settings
    return root, "", {}


def _listed(settings: Mapping[str, Any], key: str) -> list[Any]:
    outer, _, inner = key.rpartition(".")
    found = settings.get(outer) if outer else settings
    value = found.get(inner) if isinstance(found, Mapping) else None
    return value if isinstance(value, list) else []


def _matches(near: Path, patterns: list[Any]) -> bool:
    """Whether the last of gitignore's patterns that fits a path, or a directory above it, says so;
    one without a slash fits a name at any depth.
    """
    said = False
    for pattern in patterns:
        plain = str(pattern).lstrip("!").removeprefix("./").removeprefix("**/").strip("/")
        plain = plain.removesuffix("/**") or "*"
        above = [near, *near.parents][:-1]
        if any(fnmatch(str(p), plain) or fnmatch(p.name, plain) for p in above):
            said = not str(pattern).startswith("!")
    return said
