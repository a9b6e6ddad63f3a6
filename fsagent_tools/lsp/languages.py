"""The languages of a session: those of the table, and what the host has set."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fsagent_tools.errors import ConfigInvalid, NoLanguageServer
from fsagent_tools.lint.jsons import may_have_comments
from fsagent_tools.lsp.spec import Language, Spec
from fsagent_tools.lsp.table import LANGUAGES, SPECS

LanguageSettings = Mapping[str, Language | Sequence[str]]
_PLAIN = frozenset((".md", ".rst", ".txt", ".csv", ".tsv", ".sql", ".log", ".svg"))
_RUNS = re.compile(r"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)")
_SCRIPTS = {  # what a script's first line names -> the suffix of such files
    **dict.fromkeys(("python", "uv"), ".py"),
    **dict.fromkeys(("sh", "bash", "dash", "ksh"), ".sh"),
    **{"node": ".js", "deno": ".ts", "bun": ".ts"},
}


def languages(settings: LanguageSettings) -> Mapping[str, Language]:
    """The known languages as `settings` change them: name -> a `Language` that is new or replaces
    one, the name of a server in the table, a whole command, a path of a program in the table, or
    nothing for none.

    Raises `ConfigInvalid` for a command for a language that nobody knows.
    """
    known = dict(LANGUAGES)
    for name, value in settings.items():
        if isinstance(value, Language):
            known[name] = value
        elif name in known:
            known[name] = replace(known[name], servers=_servers(value))
        else:
            raise ConfigInvalid(
                f"servers: the language {name!r} is not known, so a command is not enough.",
                hint=f"Give a Language with its suffixes, or one of: {', '.join(known)}.",
            )
    return known


def language_of(file: Path, among: Mapping[str, Language], text: str = "") -> Language:
    """By suffix or name, or by the first line of a script. Raises `NoLanguageServer`."""
    for language in among.values():
        if protocol_id(file, language, text):
            return language
    raise NoLanguageServer(
        f"No language server is known for {file.suffix or 'files without a suffix'}.",
        hint=f"Languages: {', '.join(among)}.",
    )


def nothing_to_check(file: Path, among: Mapping[str, Language]) -> bool:
    """Whether `file` is of a kind that has no problems, rather than no server."""
    suffix = file.suffix.lower()
    return suffix in _PLAIN and not any(suffix in each.suffixes for each in among.values())


def protocol_id(file: Path, language: Language, text: str = "") -> str:
    """ "" for a file of another language."""
    found = next((language.suffixes[k] for k in _keys(file, text) if k in language.suffixes), "")
    return "jsonc" if found == "json" and may_have_comments(file.as_posix()) else found


def _keys(file: Path, text: str) -> tuple[str, ...]:
    """What tells the language."""
    suffix = file.suffix.lower()
    if not suffix and (runs := _RUNS.match(text)):
        suffix = _SCRIPTS.get(runs[1], "")
    return suffix, file.name


def specs(group: Sequence[str | Spec]) -> list[Spec]:
    return [SPECS[each] if isinstance(each, str) else each for each in group]


def _servers(command: Sequence[str]) -> tuple[tuple[str | Spec, ...], ...]:
    if not command:
        return ()
    program, *arguments = command
    if program in SPECS and not arguments:
        return ((program,),)
    name = Path(program).name
    known = next((spec for spec in SPECS.values() if spec.command[0] == name), None)
    install = f"put it at {program}, or correct the `servers` setting"
    spec = known or Spec(name, (), install)
    whole = (program, *(arguments or spec.command[1:]))
    return ((replace(spec, command=whole, install=install),),)
