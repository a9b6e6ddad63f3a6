"""Git repositories of packages' releases: real edits of many hands.

python -m benchmark releases [--set seen|held-out] [--out FILE]: each version is one commit, and
`mine` takes the hunks. Nobody looks at a hunk of "held-out", and nothing is tuned on one; a package
of which somebody saw a hunk while repairing goes to "seen", or leaves.
"""

import argparse
import shutil
import subprocess
import tarfile
import tempfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from benchmark.environments import BASE, CACHE, told
from benchmark.mine import SOURCES, git, mine

EACH = 16  # hunks of a release


class Package(NamedTuple):
    """A package of a registry, and versions that followed one another."""

    registry: str
    name: str
    versions: tuple[str, ...]

    @property
    def folder(self) -> str:
        return f"{self.registry}-{self.name.replace('/', '-')}"


SEEN = (
    Package("pypi", "attrs", ("23.1.0", "23.2.0", "24.2.0")),
    Package("pypi", "click", ("8.1.6", "8.1.7", "8.1.8")),
    Package("pypi", "httpx", ("0.27.0", "0.27.2", "0.28.0", "0.28.1")),
    Package("pypi", "jinja2", ("3.1.2", "3.1.3", "3.1.4", "3.1.5")),
    Package("pypi", "rich", ("13.7.0", "13.7.1", "13.8.0")),
    Package("pypi", "psutil", ("5.9.7", "5.9.8", "6.0.0")),
    Package("pypi", "werkzeug", ("3.0.1", "3.0.2", "3.0.3", "3.0.4")),
    Package("pypi", "flask", ("2.3.3", "3.0.0", "3.0.3")),
    Package("pypi", "urllib3", ("2.0.7", "2.1.0", "2.2.1")),
    Package("pypi", "sphinx", ("7.2.6", "7.3.7", "7.4.7")),
    Package("pypi", "jpype1", ("1.4.1", "1.5.0", "1.5.2")),
    Package("npm", "commander", ("11.0.0", "11.1.0", "12.0.0")),
    Package("npm", "express", ("4.18.2", "4.19.2", "4.20.0", "4.21.0")),
    Package("npm", "rxjs", ("7.5.7", "7.8.0", "7.8.1", "7.8.2")),
    Package("npm", "fastify", ("4.26.0", "4.26.2", "4.28.0")),
    Package("pypi", "tornado", ("6.3.3", "6.4", "6.4.1")),
    Package("pypi", "markdown", ("3.4.4", "3.5.2", "3.6")),
    Package("pypi", "greenlet", ("2.0.2", "3.0.0", "3.0.3")),
    Package("pypi", "pillow", ("10.1.0", "10.2.0", "10.3.0")),
    Package("pypi", "ujson", ("5.7.0", "5.9.0", "5.10.0")),
    Package("npm", "axios", ("1.6.0", "1.6.8", "1.7.2")),
    Package("npm", "ws", ("8.15.0", "8.17.0", "8.18.0")),
    Package("npm", "undici", ("6.13.0", "6.15.0", "6.18.0")),
    Package("npm", "knex", ("2.5.1", "3.0.1", "3.1.0")),
    Package("npm", "preact", ("10.19.0", "10.20.0", "10.22.0")),
    Package("npm", "svelte", ("4.2.8", "4.2.15", "4.2.18")),
    Package("npm", "mongoose", ("8.2.0", "8.3.0", "8.4.0")),
    Package("npm", "@tanstack/query-core", ("5.28.0", "5.32.0", "5.40.0")),
    Package("npm", "@capacitor/ios", ("5.5.0", "6.0.0", "7.0.0")),
    Package("npm", "@capacitor/android", ("5.5.0", "6.0.0", "7.0.0")),
    Package("npm", "node-addon-api", ("7.0.0", "7.1.0", "8.0.0")),
    Package("npm", "react-native-webview", ("13.8.1", "13.10.0", "13.12.0")),
)
HELD_OUT = (
    Package("pypi", "simplejson", ("3.18.4", "3.19.1", "3.19.3")),
    Package("pypi", "paramiko", ("3.2.0", "3.3.1", "3.4.0")),
    Package("pypi", "kiwisolver", ("1.4.4", "1.4.5", "1.4.7")),
    Package("pypi", "pymongo", ("4.5.0", "4.6.0", "4.6.3")),
    Package("pypi", "ansible-core", ("2.16.0", "2.16.5", "2.17.0")),
    Package("pypi", "maturin", ("1.4.0", "1.5.1", "1.6.0")),
    Package("pypi", "python-openstackclient", ("6.3.0", "6.5.0", "6.6.0")),
    Package("pypi", "bitarray", ("2.8.0", "2.9.0", "2.9.2")),
    Package("pypi", "jupyterhub", ("4.0.2", "4.1.5", "5.0.0")),
    Package("npm", "immer", ("9.0.21", "10.0.4", "10.1.1")),
    Package("npm", "@reduxjs/toolkit", ("2.0.1", "2.2.0", "2.2.5")),
    Package("npm", "@trpc/server", ("11.0.0", "11.1.0", "11.4.0")),
    Package("npm", "mysql2", ("3.11.3", "3.12.0", "3.14.0")),
    Package("npm", "winston", ("3.8.2", "3.11.0", "3.14.0")),
    Package("npm", "semantic-release", ("22.0.12", "23.1.1", "24.1.0")),
    Package("npm", "better-sqlite3", ("9.4.0", "10.1.0", "11.3.0")),
    Package("npm", "isolated-vm", ("4.5.0", "4.6.0", "4.7.2")),
    Package("npm", "lottie-ios", ("4.4.0", "4.4.3", "4.5.0")),
    Package("npm", "react-native-svg", ("14.1.0", "15.2.0", "15.6.0")),
    Package("npm", "tree-sitter-swift", ("0.5.0", "0.6.0", "0.7.0")),
)
SETS = {"held-out": HELD_OUT, "seen": SEEN}


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


def commit(repository: Path, archive: Path, version: str) -> None:
    """The sources in one release's archive are all there is in the next commit."""
    for entry in repository.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            _, _, inner = member.name.partition("/")
            generated = "/dist/" in member.name or ".min." in inner
            if member.isfile() and Path(inner).suffix in SOURCES and not generated:
                place = (repository / inner).resolve()
                if not place.is_relative_to(repository.resolve()):
                    raise ValueError(f"{archive.name} has a file outside: {member.name}")
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("wb") as file, tar.extractfile(member) or BytesIO() as content:
                    shutil.copyfileobj(content, file)
    git(repository, "add", "--all")
    who = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")
    git(repository, *who, "commit", "--quiet", "--allow-empty", "--message", version)


def repository(package: Package) -> Path:
    """Below the cache, made once for these versions."""
    stamp = " ".join(package.versions)
    folder = CACHE / "releases" / package.folder
    whole = folder / ".git" / "whole"
    if not whole.exists() or whole.read_text() != stamp:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(("git", "init", "--quiet", folder), check=True)
        for version in package.versions:
            with tempfile.TemporaryDirectory() as place:
                commit(folder, archive(package, version, Path(place)), version)
        whole.write_text(stamp)
    return folder


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmark releases", description=__doc__)
    parser.add_argument("--set", choices=[*SETS], default="seen")
    parser.add_argument("--out", type=Path, default=Path("bench-results/releases.jsonl"))
    options = parser.parse_args(words)
    options.out.unlink(missing_ok=True)
    for package in SETS[options.set]:
        count = mine(repository(package), options.out, 1_000, EACH, options.set)
        print(f"{package.registry} {package.name}: {count} hunks", flush=True)
    digest = sha256(options.out.read_bytes()).hexdigest()[:16]
    print(f"{options.out}: SHA-256 begins with {digest}")
