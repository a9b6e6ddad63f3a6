"""Which servers check a file: by its suffix or first line, what is installed, what the host set."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from fsagent_tools.errors import InvalidArguments, NoLanguageServer
from fsagent_tools.lint.checks import may_have_comments
from fsagent_tools.lsp.servers import (
    LANGUAGES,
    TSC,
    TSSERVER,
    Language,
    LanguageSettings,
    ServerSpec,
    languages_of,
)
from fsagent_tools.policy.programs import ALL_PROGRAMS, Programs, default_toolchain, is_rustup

_RUNS = re.compile(r"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)")
_SCRIPT_SUFFIXES = {  # what a script's first line names -> the suffix of such files
    **dict.fromkeys(("python", "uv"), ".py"),
    **dict.fromkeys(("sh", "bash", "dash", "ksh"), ".sh"),
    **{"node": ".js", "deno": ".ts", "bun": ".ts"},
}


@dataclass(frozen=True)
class Selection:
    """The servers to ask about a file with its text, startable as they are; at least one.

    folder: the root of the file's project. absent: the first server of the language, if neither it
    nor an alternative is installed.
    """

    file: Path
    text: str
    language: Language
    language_id: str
    folder: Path
    specs: tuple[ServerSpec, ...]
    absent: ServerSpec | None = None


def select(  # noqa: PLR0913
    file: Path,
    text: str,
    root: Path,
    among: Mapping[str, Language],
    programs: Programs,
    *,
    only: str | None = None,
) -> Selection:
    """The installed servers for `file` in the workspace `root`.

    Raises:
        NoLanguageServer: None is known or installed; the hint says how to install one.
        InvalidArguments: `only`, a server's name, does not check such files.
    """
    named = ((each, language_id(file, each, text)) for each in among.values())
    language, identifier = next((found for found in named if found[1]), (None, ""))
    if language is None:
        kind = file.suffix or "files without a suffix"
        raise NoLanguageServer(
            f"No language server is known for {kind}.", hint=f"Languages: {', '.join(among)}."
        )
    groups = [*language.servers]
    if only is not None:
        usual = LANGUAGES.get(language.name, language)
        known = {spec.name: spec for group in (*usual.servers, *groups) for spec in group}
        if only not in known:
            message = f"server: {only[:40]!r} does not check {language.name}."
            raise InvalidArguments(message, hint=f"Allowed: {', '.join(known)}.")
        groups = [(known[only],)]
    if not groups:
        raise NoLanguageServer(f"The `servers` setting turns {language.name} off.")
    found = [
        next(filter(None, (runnable(spec, programs) for spec in group)), None) for group in groups
    ]
    if not any(found):
        ways = [f"{Path(spec.command[0]).name} ({spec.install})" for spec in groups[0]]
        message = f"No language server for {language.name} is installed."
        raise NoLanguageServer(message, hint=f"Install {' or '.join(ways)}.")
    above = [folder for folder in file.parents if folder.is_relative_to(root)]
    marked = (f for f in above if any((f / marker).exists() for marker in language.markers))
    folder = next(marked, root if above else file.parent)
    plain = text.removeprefix("\ufeff")  # which some servers count as a column
    absent = None if found[0] else groups[0][0]
    specs = tuple(filter(None, found))
    return Selection(file, plain, language, identifier, folder, specs, absent)


def language_id(file: Path, language: Language, text: str = "") -> str:
    """The protocol's ID of the file in that language, "" for a file of another one.

    A file without a suffix goes by the program that its first line names.
    """
    suffix = file.suffix.lower()
    if not suffix and (runs := _RUNS.match(text)):
        suffix = _SCRIPT_SUFFIXES.get(runs[1], "")
    found = next((language.suffixes[k] for k in (suffix, file.name) if k in language.suffixes), "")
    return "jsonc" if found == "json" and may_have_comments(file.as_posix()) else found


def any_installed(settings: LanguageSettings) -> bool:
    """Whether there is a server for any language; the machine is asked once in a process."""
    groups = (group for each in languages_of(settings).values() for group in each.servers)
    return any(_is_installed(spec.name, spec.command) for group in groups for spec in group)


@cache
def _is_installed(name: str, command: tuple[str, ...]) -> bool:
    return runnable(ServerSpec(name, command), ALL_PROGRAMS) is not None


def runnable(spec: ServerSpec, programs: Programs) -> ServerSpec | None:
    """`spec` with the absolute file of its program, None without one outside the project."""
    program = programs.find(spec.command[0])
    if program and is_rustup(program):  # it would run what the project asks for
        own = (default_toolchain() or Path("/none")) / "bin" / Path(program).name
        program = programs.find(str(own)) if own.is_file() else None
    if program is None:
        return None
    spec = replace(spec, command=(program, *spec.command[1:]))
    real = Path(program).resolve()
    if spec.name == TSC.name:  # TypeScript speaks the protocol itself from 7 on
        try:
            package = json.loads((real.parents[1] / "package.json").read_bytes())
            return spec if int(str(package["version"]).partition(".")[0]) >= 7 else None
        except (OSError, ValueError, LookupError, TypeError):
            return None
    if spec.name != TSSERVER.name:
        return spec
    starts = real, Path(programs.find("tsserver") or real).resolve()
    for folder in (parent for start in starts for parent in start.parents):
        library = folder / "node_modules/typescript/lib/tsserver.js"
        if library.is_file() and programs.is_outside(str(library)):  # not that of the project
            tsserver = {"path": str(library), "useSyntaxServer": "never"}  # one process, not two
            return replace(spec, options={**spec.options, "tsserver": tsserver})
    return None
