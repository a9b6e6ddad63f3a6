"""Git repositories of packages' releases: real edits of many hands, which nothing was tuned on.

python -m benchmark releases [--out FILE]: each version is one commit, and `mine` takes the hunks.
"""

import argparse
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmark.environments import CACHE, told
from benchmark.interpreters import BASE
from benchmark.mine import SOURCES, git, mine

EACH = 16  # hunks of a release


class Package(NamedTuple):
    """A package of a registry, and versions that followed one another."""

    registry: str
    name: str
    versions: tuple[str, ...]


PACKAGES = (
    Package("pypi", "click", ("8.1.6", "8.1.7", "8.1.8")),
    Package("pypi", "httpx", ("0.27.0", "0.27.2", "0.28.0", "0.28.1")),
    Package("pypi", "jinja2", ("3.1.2", "3.1.3", "3.1.4", "3.1.5")),
    Package("pypi", "rich", ("13.7.0", "13.7.1", "13.8.0")),
    Package("pypi", "psutil", ("5.9.7", "5.9.8", "6.0.0")),
    Package("pypi", "werkzeug", ("3.0.1", "3.0.2", "3.0.3", "3.0.4")),
    Package("npm", "commander", ("11.0.0", "11.1.0", "12.0.0")),
    Package("npm", "express", ("4.18.2", "4.19.2", "4.20.0", "4.21.0")),
    Package("npm", "rxjs", ("7.5.7", "7.8.0", "7.8.1", "7.8.2")),
    Package("npm", "fastify", ("4.26.0", "4.26.2", "4.28.0")),
)


def archive(package: Package, version: str, into: Path) -> Path:
    """The release's source archive."""
    wanted = f"{package.name}@{version}"
    if package.registry == "npm":
        told("npm", "npm", "pack", "--silent", "--pack-destination", into, wanted)
    else:
        pip = (BASE, "-m", "pip", "download", "--quiet", "--no-deps")
        source = ("--no-binary", ":all:", "--dest", into, f"{package.name}=={version}")
        told("pip", *pip, *source)
    return next(into.glob("*.t*gz"))


def commit(repository: Path, package: Package, version: str) -> None:
    """The files of one release are all there is in the next commit."""
    for entry in repository.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    with (
        tempfile.TemporaryDirectory() as folder,
        tarfile.open(archive(package, version, Path(folder))) as tar,
    ):
        for member in tar.getmembers():
            _, _, inner = member.name.partition("/")
            generated = "/dist/" in member.name or ".min." in inner
            if member.isfile() and Path(inner).suffix in SOURCES and not generated:
                member.name = inner
                tar.extract(member, repository, filter="data")
    git(repository, "add", "--all")
    who = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")
    git(repository, *who, "commit", "--quiet", "--allow-empty", "--message", version)


def repository(package: Package) -> Path:
    """Below the cache, made once."""
    folder = CACHE / "releases" / f"{package.registry}-{package.name}"
    if not (folder / ".git" / "whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(("git", "init", "--quiet", folder), check=True)
        for version in package.versions:
            commit(folder, package, version)
        (folder / ".git" / "whole").touch()
    return folder


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmark releases", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("bench-results/releases.jsonl"))
    options = parser.parse_args(words)
    options.out.unlink(missing_ok=True)
    for package in PACKAGES:
        count = mine(repository(package), options.out, 1_000, EACH)
        print(f"{package.registry} {package.name}: {count} hunks", flush=True)
