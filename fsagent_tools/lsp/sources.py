"""Where a Python file of a project finds what it imports from the project."""

import re
from contextlib import suppress
from itertools import islice
from pathlib import Path

from fsagent_tools.lsp.environment import first_text, folders_above, table

_MEMBERS = 200  # packages of one uv workspace
_PYTEST = re.compile(r"(?m)^pythonpath\s*=((?:.*\n[ \t]+)*.*)$")
_IMPORTED = re.compile(r"(?m)^[ \t]*(?:from|import)[ \t]+([^\W\d]\w*)")


def import_roots(base: Path) -> list[Path]:
    """The directories that packages of the project `base` are imported from."""
    packages = [base]
    for pattern in table(base / "pyproject.toml", "tool", "uv", "workspace").get("members", ()):
        if isinstance(pattern, str) and ".." not in pattern and pattern.count("**") < 2:
            with suppress(ValueError, NotImplementedError, OSError):
                packages += islice(base.glob(pattern), _MEMBERS)
    sources = [source for p in packages for source in (p / "src", p)]
    found = (*sources, *(base / path for path in _of_pytest(base)))
    return [p for p in dict.fromkeys(found) if p.is_dir() and p.resolve().is_relative_to(base)]


def _of_pytest(base: Path) -> list[str]:
    """The directories that pytest adds to the path, as its settings name them."""
    named = table(base / "pyproject.toml", "tool", "pytest", "ini_options").get("pythonpath")
    if isinstance(named, list):
        return [str(path) for path in named]
    said = _PYTEST.search(first_text(base / "pytest.ini"))
    return (named if isinstance(named, str) else said[1] if said else "").split()


def script_roots(file: Path, text: str, root: Path) -> list[Path]:
    """The directories outside all packages, from that of `file` up to `root`, which hold what it
    imports: Python adds that of a script to its path, pytest that of a test, Django that of
    `manage.py`.
    """
    names = {*_IMPORTED.findall(text)}
    above = folders_above(file, root)
    outside = [folder for folder in above if not (folder / "__init__.py").exists()]
    starts = [f for f in outside[1:] if (f / "manage.py").exists() or (f / "conftest.py").exists()]
    return [f for f in (*outside[:1], *starts) if any(_is_in(f, name) for name in names)]


def _is_in(folder: Path, module: str) -> bool:
    return (folder / f"{module}.py").exists() or (folder / module).is_dir()
