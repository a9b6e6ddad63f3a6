"""The Python environment of a project, found and read as data: nothing in it is ever run."""

import base64
import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from tomllib import loads
from typing import Any

from fsagent_tools.lint.jsons import without_comments
from fsagent_tools.runtime.weight import is_slow_toml

_BYTES = 1 << 16  # of a project's file that are read
_ENTRIES = 1000  # of a directory in which environments of any name are looked for
_AT_LEAST = re.compile(r"requires-python\s*=\s*[\"'][^\"']*?(?:>=|==|~=)\s*(3\.\d{1,2})\b")
_VERSION = re.compile(r"(?m)^version(?:_info)?\s*=\s*(3\.\d{1,2})\b")
_FOLDER = re.compile(r"python(3\.\d{1,2})t?")  # t: without the interpreter's lock


@dataclass(frozen=True)
class Environment:
    """`packages`: its site-packages directory and the directories that its .pth files add.
    version: of Python, such as "3.12". stamp: another one after each installation. outside: what
    of all that really lies outside the workspace, where the host keeps environments.
    """

    folder: Path
    packages: tuple[Path, ...]
    version: str
    stamp: int
    outside: tuple[Path, ...] = ()


def folders_above(path: Path, root: Path) -> list[Path]:
    """Those in the workspace `root`, from the innermost to the root itself."""
    return [folder for folder in path.parents if folder.is_relative_to(root)]


def find_environment(file: Path, root: Path) -> Environment | None:
    """That of the project around `file`, in the workspace `root`.

    In this order: what a checker's settings name; VIRTUAL_ENV, unless it is that of this very
    process; `.venv`, `venv`, `env` and those of other names in the directories from the file up to
    `root`; those of uv, Poetry and conda. All of it really lies in `root` or where the host keeps
    environments: a project says which one it wants, never what else may be read.
    """
    candidates = _candidates(folders_above(file, root))
    found = (_readable(folder, root) for folder in candidates)
    return next(filter(None, found), None)


def minimal_python(file: Path, root: Path) -> str:
    """The least version in the `requires-python` nearest to `file`; empty when there is none."""
    for folder in folders_above(file, root):
        if least := _AT_LEAST.search(first_text(folder / "pyproject.toml")):
            return least[1]
    return ""


def python_of(file: Path, root: Path) -> str:
    """The version of Python that `file` is written for, empty when nothing tells."""
    if least := minimal_python(file, root):
        return least
    environment = find_environment(file, root)
    return environment.version if environment else ""


def is_gone(module: str, file: Path, root: Path) -> bool:
    """Whether the workspace `root` around `file` has the package of `module`, but not that."""
    places = [place for folder in folders_above(file, root) for place in (folder, folder / "src")]

    def has(*names: str) -> bool:
        return any(os.path.exists(place / name) for place in places for name in names)  # noqa: PTH110

    first, path = module.partition(".")[0], module.replace(".", "/")
    # A folder of files that are no package, such as alembic/, may be called as one that lacks.
    own = has(f"{first}/__init__.py", f"{first}/__init__.pyi", f"{first}.py")
    return own and not has(path, f"{path}.py", f"{path}.pyi")


def first_text(path: Path) -> str:
    """The first 64 kB of a file, empty when it cannot be read or is a pipe, which would wait."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        with open(fd, "rb", closefd=False) as stream:
            return stream.read(_BYTES).decode("utf-8-sig", errors="replace")
    except OSError:
        return ""
    finally:
        os.close(fd)


def _candidates(above: list[Path]) -> Iterator[Path]:
    for folder in above:
        yield from _of_settings(folder)
    if (active := os.environ.get("VIRTUAL_ENV")) and Path(active).resolve() != Path(sys.prefix):
        yield Path(active)
    for folder in above:
        yield from (folder / name for name in (".venv", "venv", "env"))
        yield from _of_any_name(folder)
    for folder in above:
        if named := os.environ.get("UV_PROJECT_ENVIRONMENT"):
            yield folder / named
        yield from _of_poetry(folder)
        yield from _of_conda(folder)
    if active := os.environ.get("CONDA_PREFIX"):
        yield Path(active)


def _of_any_name(folder: Path) -> Iterator[Path]:
    """Directories that say they are one, and those in which PDM keeps packages without one."""
    with suppress(OSError), os.scandir(folder) as entries:
        names = sorted(entry.name for entry in islice(entries, _ENTRIES))
        yield from (folder / name for name in names if (folder / name / "pyvenv.cfg").is_file())
    yield from sorted((folder / "__pypackages__").glob("3.*"), reverse=True)


def _of_settings(folder: Path) -> Iterator[Path]:
    """Named as a directory, or by the interpreter in it."""
    project = folder / "pyproject.toml"
    ty = table(folder / "ty.toml", "environment") or table(project, "tool", "ty", "environment")
    pyrefly = table(folder / "pyrefly.toml") or table(project, "tool", "pyrefly")
    named = [ty.get("python")]
    named += map(pyrefly.get, ("python-interpreter-path", "python-interpreter"))  # once called so
    for pyright in (
        table(folder / "pyrightconfig.json"),
        *(table(project, "tool", name) for name in ("basedpyright", "pyright")),
    ):
        if name := pyright.get("venv"):
            named.append(f"{pyright.get('venvPath') or '.'}/{name}")
    for name in named:
        if isinstance(name, str):
            path = Path(os.path.normpath(folder / os.path.expanduser(name)))  # noqa: PTH111  # never an error
            is_program = path.name.startswith("python") and not _is_dir(path)
            yield path.parent.parent if is_program else path


def _of_poetry(folder: Path) -> list[Path]:
    project = folder / "pyproject.toml"
    name = table(project, "tool", "poetry").get("name") or table(project, "project").get("name")
    if not isinstance(name, str):
        return []
    digest = base64.urlsafe_b64encode(hashlib.sha256(str(folder).encode()).digest()).decode()[:8]
    name = re.sub(r"[^\w.-]", "_", name.lower())[:42]
    return sorted(_poetry_cache().glob(f"{name}-{digest}-py*"), reverse=True)


def _poetry_cache() -> Path:
    if cache := os.environ.get("POETRY_CACHE_DIR"):
        return Path(cache, "virtualenvs")
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache, "pypoetry", "virtualenvs")


def _of_conda(folder: Path) -> list[Path]:
    texts = (first_text(folder / f"environment.{suffix}") for suffix in ("yml", "yaml"))
    name = re.search(r"(?m)^name:\s*['\"]?([^\s'\"]+)", "\n".join(texts))
    return [path for path in _known_to_conda() if name and path.name == name[1]]


def _known_to_conda() -> list[Path]:
    return [Path(line) for line in first_text(Path.home() / ".conda/environments.txt").splitlines()]


def _readable(folder: Path, root: Path) -> Environment | None:
    with suppress(OSError, ValueError):  # what cannot be looked at is no environment
        return _read(folder, _Allowed.for_project(root))
    return None


@dataclass(frozen=True)
class _Allowed:
    """Real directories: of the workspace, and those in which the host keeps environments."""

    root: Path
    hosts: tuple[Path, ...]

    @classmethod
    def for_project(cls, root: Path) -> "_Allowed":
        named = map(os.environ.get, ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT"))
        kept = [_poetry_cache(), *(Path(name) for name in named if name), *_known_to_conda()]
        real = [path.resolve() for path in kept if path.is_absolute()]
        home = Path.home().resolve()
        return cls(root.resolve(), tuple(top for top in real if not home.is_relative_to(top)))

    def takes(self, path: Path) -> bool:
        real = path.resolve()
        return any(map(real.is_relative_to, (self.root, *self.hosts)))

    def outside(self, paths: tuple[Path, ...]) -> tuple[Path, ...]:
        real = (path.resolve() for path in paths)
        return tuple(path for path in real if not path.is_relative_to(self.root))


def _is_dir(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  never an error, whatever the path


def _read(folder: Path, allowed: _Allowed) -> Environment | None:
    if not allowed.takes(folder):
        return None
    pdm = folder.parent.name == "__pypackages__"
    if not (pdm or (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()):
        return None
    for packages in (folder / "lib",) if pdm else folder.glob("lib/python3.*/site-packages"):
        if not (packages.is_dir() and allowed.takes(packages)):
            continue
        named = _FOLDER.fullmatch(f"python{folder.name}" if pdm else packages.parent.name)
        told = named or _VERSION.search(first_text(folder / "pyvenv.cfg"))
        found = (packages, *_added(packages, allowed))
        stamp = packages.stat().st_mtime_ns
        outside = allowed.outside((folder, *found))
        return Environment(folder, found, told[1] if told else "", stamp, outside)
    return None


def _added(packages: Path, allowed: _Allowed) -> list[Path]:
    """Directories of editable installations."""
    lines = (line.strip() for pth in sorted(packages.glob("*.pth")) for line in _lines(pth))
    paths = [packages / line for line in lines if not line.startswith(("import ", "import\t", "#"))]
    return [path for path in paths if _is_dir(path) and allowed.takes(path)]


def _lines(path: Path) -> list[str]:
    return [line for line in first_text(path).splitlines() if line.strip()]


@lru_cache(64)  # the same few files for each question
def _parsed(text: str, is_json: bool) -> Any:
    try:
        if is_json:  # as checkers read it: comments and a comma after the last one are no fault
            return json.loads(without_comments(text))
        return {} if is_slow_toml(text) else loads(text)
    except (ValueError, RecursionError):
        return {}


def table(file: Path, *names: str) -> Mapping[str, Any]:
    """A table of a settings file in TOML or JSON, empty when it is not there."""
    value = _parsed(first_text(file), file.suffix == ".json")
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
