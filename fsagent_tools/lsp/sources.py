"""Where a Python file of a project finds what it imports from the project."""

import re
from contextlib import suppress
from itertools import islice
from pathlib import Path

from fsagent_tools.lsp.environment import table

_MEMBERS = 200  # packages of one uv workspace
_IMPORTED = re.compile(r"(?m)^[ \t]*(?:from|import)[ \t]+([^\W\d]\w*)")


def import_roots(base: Path) -> list[Path]:
    """The directories that packages of the project `base` are imported from."""
    packages = [base]
    for pattern in table(base / "pyproject.toml", "tool", "uv", "workspace").get("members", ()):
        if isinstance(pattern, str) and ".." not in pattern and pattern.count("**") < 2:
            with suppress(ValueError, NotImplementedError, OSError):
                packages += islice(base.glob(pattern), _MEMBERS)
    inside = [p for p in packages if p.is_dir() and p.resolve().is_relative_to(base)]
    return [source for p in inside for source in (p / "src", p) if source.is_dir()]


def script_roots(file: Path, text: str, root: Path) -> list[Path]:
    """The directories outside all packages, from that of `file` up to `root`, which hold what it
    imports: Python adds that of a script to its path, pytest that of a test, Django that of
    `manage.py`.
    """
    names = {*_IMPORTED.findall(text)}
    above = [folder for folder in file.parents if folder.is_relative_to(root)]
    outside = [folder for folder in above if not (folder / "__init__.py").exists()]
    starts = [f for f in outside[1:] if (f / "manage.py").exists() or (f / "conftest.py").exists()]
    return [f for f in (*outside[:1], *starts) if any(_is_in(f, name) for name in names)]


def _is_in(folder: Path, module: str) -> bool:
    return (folder / f"{module}.py").exists() or (folder / module).is_dir()
