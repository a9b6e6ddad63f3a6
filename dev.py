"""`python3 dev.py demo`, `test`, `check`, `slow`, `bench`: each builds .venv first if it must."""

import hashlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PYTHON = ROOT / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LINT = ["-m ruff format --check", "-m ruff check", "-m mypy"]
TEST = "-m pytest -m 'not slow'"
TASKS = {  # name: (what to install, commands to run)
    "demo": (".[demo]", ["examples/langchain_agent.py"]),
    "test": (".[dev]", [TEST]),
    "lint": (".[dev]", LINT),
    "check": (".[dev]", [*LINT, TEST]),
    "slow": (".[dev]", ["-m pytest -m slow"]),
    "bench": (".[bench]", ["examples/bench/speed.py"]),
}


def run(*command: object) -> None:
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True)


def install(what: str) -> None:
    stamp = PYTHON.parent.parent / f"{what.strip('.[]') or 'core'}.stamp"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    if not PYTHON.is_file():  # --without-pip: Debian ships venv but not ensurepip
        run(sys.executable, "-m", "venv", "--without-pip", ".venv")
    run(sys.executable, "-m", "pip", "--python", PYTHON, "install", "--quiet", "--editable", what)
    stamp.write_text(wanted)


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036
        sys.exit("fsagent-tools needs Python 3.11 or newer")
    name, *rest = sys.argv[1:] or ["help"]
    if name not in TASKS:
        sys.exit(f"usage: python3 dev.py {{{'|'.join(TASKS)}}} [args]")
    what, commands = TASKS[name]
    install(what)
    for command in commands[:-1]:
        run(PYTHON, *shlex.split(command))
    run(PYTHON, *shlex.split(commands[-1]), *rest)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as failure:
        sys.exit(failure.returncode)
