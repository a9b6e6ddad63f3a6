"""Files that the settings of a checker leave out, of which it tells nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import Any

from fsagent_tools.lsp.settings import folders_above, table

_BOTH = (  # directories that ty and ruff leave out unless settings say something else
    *(".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".mypy_cache", ".nox", ".pants.d"),
    *(".pytype", ".ruff_cache", ".svn", ".tox", ".venv", "__pypackages__", "_build", "buck-out"),
    *("dist", "node_modules", "venv"),
)
_RUFF = (".ipynb_checkpoints", ".pyenv", ".pytest_cache", ".vscode", "site-packages")
_MOST_EXTENDED = 5  # settings that others extend, or refer to
_MOST_NAMED = 20  # in one of them


@dataclass(frozen=True)
class _Leaves:
    """files: the checker's own settings, which go before pyproject.toml. inner: its table there.
    leaving, taking: keys of what it leaves out and takes in, `a.b` within another table. usual:
    what it leaves out besides, or where nothing has the key `instead`. switches: a key, its value,
    and a pattern of the names of files of which it then tells nothing but their syntax.
    """

    files: tuple[str, ...]
    leaving: tuple[str, ...]
    taking: str = ""
    inner: tuple[str, ...] = ()
    usual: tuple[str, ...] = ()
    instead: str = ""
    switches: tuple[tuple[str, object, str], ...] = ()


_TYPESCRIPT = _Leaves(
    ("tsconfig.json", "jsconfig.json"),
    (),
    switches=(
        ("compilerOptions.noCheck", True, "*"),
        ("compilerOptions.skipLibCheck", True, "*.d.*ts"),
        ("compilerOptions.skipLibCheck", True, "*.d.ts"),
    ),
)
_CHECKERS = {
    **dict.fromkeys(("typescript", "typescript-language-server"), _TYPESCRIPT),
    "ty": _Leaves(("ty.toml",), ("exclude",), "include", ("src",), _BOTH),
    "ruff": _Leaves(
        (".ruff.toml", "ruff.toml"),
        ("exclude", "extend-exclude", "lint.exclude"),
        usual=(*_BOTH, *_RUFF),
        instead="exclude",
    ),
    "basedpyright": _Leaves(
        ("pyrightconfig.json",), ("ignore",), switches=(("typeCheckingMode", "off", "*"),)
    ),
    "pyrefly": _Leaves(
        ("pyrefly.toml",), ("project-excludes", "project_excludes"), "project-includes"
    ),
}


def excluded(server: str, file: Path, root: Path) -> str:
    """By what the nearest settings of a checker leave `file` out, "" if nothing tells, or the file
    is outside the root.
    """
    if server not in _CHECKERS or not file.is_relative_to(root):
        return ""
    leaves = _CHECKERS[server]
    folder, name, settings = _nearest(server, file, root)
    near, usual = file.relative_to(folder), leaves.usual
    usual = usual if not leaves.instead or _value(settings, leaves.instead) is None else ()
    patterns = [*usual, *(p for key in leaves.leaving for p in _listed(settings, key))]
    if _matches(near, patterns):
        return f"the settings in {name} leave it out" if name else "it leaves out such directories"
    if (taken := _listed(settings, leaves.taking)) and not _matches(near, taken):
        return f"`{leaves.taking}` in {name} does not name it"
    for key, value, names in leaves.switches:
        if fnmatch(file.name, names) and _value(settings, key) == value:
            return f"the settings in {name} have `{key}: {value}`".replace("True", "true")
    return ""


_Settings = Mapping[str, Any]


def _nearest(server: str, file: Path, root: Path) -> tuple[Path, str, Sequence[_Settings]]:
    """The directory and the name of the settings, and what they and those that they extend say."""
    leaves = _CHECKERS[server]
    places = [(own, leaves.inner) for own in leaves.files]
    places.append(("pyproject.toml", ("tool", server, *leaves.inner)))
    for folder in folders_above(file, root):
        for name, path in places:
            if settings := table(folder / name, *path):
                return folder, name, [*islice(_extended(folder, settings), _MOST_EXTENDED)]
    return root, "", ()


def _extended(folder: Path, settings: _Settings) -> Iterator[_Settings]:
    """These, which go first, and all that they extend or, of TypeScript, refer to."""
    yield settings
    for name in _others(settings):
        for path in (name, f"{name}.json", f"{name}/tsconfig.json", f"node_modules/{name}"):
            if more := table(folder / path):
                yield from _extended((folder / path).parent, more)
                break


def _others(settings: _Settings) -> list[str]:
    named = [settings.get("extend"), settings.get("extends"), settings.get("references")]
    flat = [one for each in named for one in (each if isinstance(each, list) else [each])]
    paths = (one.get("path") if isinstance(one, Mapping) else one for one in flat)
    return [path for path in paths if isinstance(path, str)][:_MOST_NAMED]


def _value(settings: Sequence[_Settings], key: str) -> object:
    """That of the first ones that have the key, None where none do."""
    outer, _, inner = key.rpartition(".")
    tables = (each.get(outer) if outer else each for each in settings)
    return next((t[inner] for t in tables if isinstance(t, Mapping) and inner in t), None)


def _listed(settings: Sequence[_Settings], key: str) -> list[Any]:
    value = _value(settings, key)
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
