"""Finds the programs that tools start: never one that a tool or a command could have written."""

import logging
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from fsagent_tools.errors import CommandFailed
from fsagent_tools.policy import Policy
from fsagent_tools.runtime import OWN_PYTHON

_MOST_LINKS = 40


@dataclass(frozen=True)
class Programs:
    """Programs outside `writable`, absolute paths of what tools and commands may change."""

    writable: tuple[str, ...] = ()

    @classmethod
    def of(cls, root: Path | None, policy: Policy) -> "Programs":
        """Those outside the root and what else `policy` opens for writing, if it is not all."""
        roots = () if root is None else (os.path.abspath(root),)
        opened = (place for place in policy.opened if place != "/")
        return _of((*roots, *opened, *policy.process.places))

    def find(self, name: str) -> str | None:
        """The file of the program `name`: beside our interpreter, else on PATH; None without one.

        An absolute `name` is itself. What really lies beneath `writable` is passed over.
        """
        if os.path.isabs(name):
            return name if self.is_outside(name) else None
        for place in self.path.split(os.pathsep):
            found = shutil.which(name, path=place) if place else None
            if found and self.is_outside(found):
                return found
        return None

    def is_outside(self, program: str) -> bool:
        """Neither the file nor a link on the way to it really lies beneath `writable`."""
        return not any(self._holds(step) for step in _steps(program))

    @property
    def path(self) -> str:
        """Our interpreter's directory, then PATH; what is relative or beneath `writable` is not
        in it: whoever writes the project chooses what is in its `.venv/bin`.
        """
        return self._outside(os.environ.get("PATH", os.defpath))

    @property
    def interpreter(self) -> str:
        """Python without packages: this process's, or what its environment was made from.

        Raises `CommandFailed` when both can be changed.
        """
        for program in (sys.executable, os.path.realpath(sys.executable)):
            if self.is_outside(program):
                return program
        raise CommandFailed(
            f"The Python interpreter {sys.executable} can be changed by the model.",
            hint="Ask the operator to install fsagent-tools outside the workspace.",
        )

    @cached_property
    def own(self) -> tuple[str, ...]:
        """Directories of this process's own Python that are beneath `writable`."""
        return tuple(filter(self._holds, OWN_PYTHON))

    @cached_property
    def _real(self) -> tuple[str, ...]:
        return tuple(os.path.realpath(path).rstrip(os.sep) + os.sep for path in self.writable)

    def _holds(self, path: str) -> bool:
        return f"{path}{os.sep}".startswith(self._real)

    @lru_cache(maxsize=16)  # noqa: B019  the instances are few and kept anyway
    def _outside(self, path: str) -> str:
        given = [os.path.dirname(sys.executable), *path.split(os.pathsep)]
        outside = [e for e in given if os.path.isabs(e) and not self._holds(os.path.realpath(e))]
        return os.pathsep.join(dict.fromkeys(outside))


ALL_PROGRAMS = Programs()


@lru_cache(maxsize=64)
def _of(writable: tuple[str, ...]) -> Programs:
    programs = Programs(writable)
    if programs.own:
        logging.getLogger("fsagent_tools").warning(
            "Our own Python environment lies in the workspace: tools and commands do not change %s "
            "(ProcessPolicy.developer() lets commands), and our helper programs are not taken from "
            "it. Commands use it if it is on PATH.",
            programs.own[0],
        )
    return programs


def default_toolchain() -> Path | None:
    """rustup's, that of the user: what a project asks for may be a program of its own."""
    import tomllib  # needed for nothing else

    home = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
    try:
        name = tomllib.loads((home / "settings.toml").read_text())["default_toolchain"]
        exact = home / "toolchains" / str(name)
        return exact if exact.is_dir() else next((home / "toolchains").glob(f"{name}-*"), None)
    except (OSError, ValueError, LookupError):
        return None


def is_rustup(program: str) -> bool:
    """Whether the file is rustup's proxy, which runs what the working directory asks for."""
    try:
        beside = os.path.join(os.path.dirname(program), "rustup")
        return os.path.basename(os.path.realpath(program)) == "rustup" or os.path.samefile(
            program, beside
        )
    except OSError:
        return False


def _steps(path: str) -> Iterator[str]:
    """The file, and what each link on the way leads to, in directories as they really are."""
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(path)
        path = os.path.join(os.path.realpath(folder), name)
        yield path
        if not os.path.islink(path):
            return
        path = os.path.join(os.path.dirname(path), os.readlink(path))
