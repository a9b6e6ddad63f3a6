"""What a program must be to serve as a language server, beyond being found outside the project."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fsagent_tools.lsp.spec import Spec
from fsagent_tools.policy.programs import Programs, default_toolchain, is_rustup


def runnable(spec: Spec, programs: Programs) -> Spec | None:
    """`spec` with the absolute file of its program; None when that is not there or will not do."""
    program = programs.find(spec.command[0])
    if program and is_rustup(program):
        own = (default_toolchain() or Path("/none")) / "bin" / Path(program).name
        program = programs.find(str(own)) if own.is_file() else None
    if program is None or (extra := spec.fits(program, programs)) is None:
        return None
    command = (program, *spec.command[1:])
    return replace(spec, command=command, options={**spec.options, **extra})


def typescript7(program: str, programs: Programs) -> Mapping[str, Any] | None:
    """TypeScript speaks the protocol itself from version 7 on."""
    package = Path(program).resolve().parents[1] / "package.json"
    try:
        version = str(json.loads(package.read_bytes())["version"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
    major = version.partition(".")[0]
    return {} if major.isdigit() and int(major) >= 7 else None


def tsserver(program: str, programs: Programs) -> Mapping[str, Any] | None:
    """The TypeScript beside the server or beside `tsserver` on the path, named explicitly:
    otherwise typescript-language-server runs the one in the project's node_modules.
    """
    starts = [Path(program).resolve()]
    if beside := programs.find("tsserver"):
        starts.append(Path(beside).resolve())
    for folder in (parent for start in starts for parent in start.parents):
        library = folder / "node_modules/typescript/lib/tsserver.js"
        if library.is_file() and programs.is_outside(str(library)):
            alone = {"useSyntaxServer": "never"}  # a second process, for what editors want at once
            return {"tsserver": {"path": str(library), **alone}}
    return None
