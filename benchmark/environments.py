"""An environment for each peer, below the user's cache: a venv, or a folder of npm packages."""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from benchmark.packs import DRIVERS, Peer

ROOT = Path(__file__).parents[1]
BASE = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "fsagent-bench")
LONGEST = 900  # seconds for one installation


class Missing(Exception):
    """A peer that cannot be installed here; the text is the reason."""


def wanted(peer: Peer) -> list[str]:
    """What is installed: the peer's dependency group, or its npm packages."""
    if peer.npm:
        return list(peer.npm)
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    return [str(each) for each in groups[peer.group]]


def environment(peer: Peer) -> Path:
    """The folder of the peer's environment, made when it is not there; raises `Missing`."""
    packages = wanted(peer)
    stamp = hashlib.sha256("\n".join([*packages, sys.version]).encode()).hexdigest()[:10]
    folder = CACHE / f"{peer.environment}-{stamp}"
    done = folder / "installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        print(f"Installing {', '.join(packages)} ...", file=sys.stderr, flush=True)
        npm(folder, packages) if peer.npm else venv(folder, packages)
        done.touch()
    for driver in DRIVERS.glob("*.ts"):  # bun looks for packages beside a script
        shutil.copy(driver, folder)
    return folder


def venv(folder: Path, packages: list[str]) -> None:
    told("python", BASE, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    told("pip", BASE, "-m", "pip", "--python", python, "install", "--quiet", *packages)


def npm(folder: Path, packages: list[str]) -> None:
    folder.mkdir(parents=True)
    quiet = ("--no-audit", "--no-fund", "--silent")
    told("npm", "npm", "install", "--prefix", folder, *quiet, *packages)


def told(what: str, *command: str | Path) -> None:
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{what}: {type(error).__name__}") from None
    if run.returncode:
        errors = [line for line in run.stderr.splitlines() if "rror" in line]
        raise Missing(f"{what}: {(errors or run.stderr.splitlines() or ['failed'])[-1]}")
