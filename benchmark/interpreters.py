"""A Python of a certain version on this machine: this one, one on the PATH, pyenv's or uv's."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
BASE = Path(sys.base_prefix, "bin", f"python{HERE}")
ASK = "import sys; print(*sys.version_info[:2], sep='.'); print(sys.executable)"


def interpreter(version: str) -> Path | None:
    """The first that says when it runs that it is of this version, such as "3.12"."""
    if version == HERE:
        return BASE
    for command in candidates(version):
        said = answer(*command, "-c", ASK)
        if said[:1] == [version]:
            return Path(said[1])  # the program itself, where the command was a shim
    return None


def candidates(version: str) -> Iterator[tuple[str | Path, ...]]:
    yield (f"python{version}",)
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for folder in sorted(root.glob(f"versions/{version}.*")):
        yield (folder / "bin" / "python",)
    for found in answer("uv", "python", "find", "--no-python-downloads", version)[:1]:
        yield (found,)


def answer(*command: str | Path) -> list[str]:
    """The lines that a command prints; none where it fails or is not there."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return run.stdout.splitlines() if run.returncode == 0 else []
