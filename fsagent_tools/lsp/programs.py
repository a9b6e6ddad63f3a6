"""Finds the program of a language server: beside our interpreter or on PATH, never in a project."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from fsagent_tools.lsp.table import Spec


def search_path(root: Path) -> str:
    """Our interpreter's directory, then PATH without what is relative or beneath `root`.

    A project can bring its own `.venv/bin` or `node_modules/.bin`, and whoever wrote the project
    chose what is in there.
    """
    return _outside(root, os.environ.get("PATH", os.defpath))


@lru_cache(maxsize=64)
def _outside(root: Path, path: str) -> str:
    own = Path(sys.executable).parent
    real = root.resolve()
    given = [Path(entry) for entry in path.split(os.pathsep)]
    outside = [e for e in given if e.is_absolute() and not e.resolve().is_relative_to(real)]
    return os.pathsep.join(str(entry) for entry in dict.fromkeys([own, *outside]))


def find_program(name: str, path: str) -> str | None:
    """The absolute file of the program `name` on the search path `path`; None without one."""
    if Path(name).is_absolute():
        return name
    return shutil.which(name, path=path)


def fit(spec: Spec, path: str) -> Spec | None:
    """`spec` with the absolute file of its program; None when that is not there or will not do."""
    program = find_program(spec.command[0], path)
    if program is None or (extra := FITS[spec.needs](program, path)) is None:
        return None
    command = (program, *spec.command[1:])
    return replace(spec, command=command, options={**spec.options, **extra})


def _typescript7(program: str, path: str) -> Mapping[str, Any] | None:
    """TypeScript speaks the protocol itself from version 7 on."""
    package = Path(program).resolve().parents[1] / "package.json"
    try:
        version = str(json.loads(package.read_bytes())["version"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
    major = version.partition(".")[0]
    return {} if major.isdigit() and int(major) >= 7 else None


def _tsserver(program: str, path: str) -> Mapping[str, Any] | None:
    """The TypeScript beside the server or beside `tsserver` on the path, named explicitly:
    otherwise typescript-language-server runs the one in the project's node_modules.
    """
    starts = [Path(program).resolve()]
    if beside := find_program("tsserver", path):
        starts.append(Path(beside).resolve())
    for folder in (parent for start in starts for parent in start.parents):
        library = folder / "node_modules/typescript/lib/tsserver.js"
        if library.is_file():
            return {"tsserver": {"path": str(library)}}
    return None


# What a program must be beyond its name; the answer is merged into `initializationOptions`.
FITS: Mapping[str, Callable[[str, str], Mapping[str, Any] | None]] = {
    "": lambda program, path: {},
    "typescript7": _typescript7,
    "tsserver": _tsserver,
}
