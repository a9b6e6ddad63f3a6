"""Which servers check a file: by its suffix, what is installed and what the host has set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fsagent_tools.errors import InvalidArguments, NoLanguageServer
from fsagent_tools.lsp.programs import fit
from fsagent_tools.lsp.table import BY_SUFFIX, SPECS, Language, Spec

Settings = Mapping[str, Sequence[str]]
Group = Sequence[Spec]  # alternatives: the first installed one is used


@dataclass(frozen=True)
class Plan:
    """A server to ask about a file, startable as it stands; `path` is the PATH it gets."""

    spec: Spec
    language: Language
    root: Path
    path: str

    @property
    def key(self) -> tuple[Path, tuple[str, ...]]:
        return self.root, self.spec.command


def language_of(file: Path) -> Language:
    """By suffix. Raises `NoLanguageServer`."""
    try:
        return BY_SUFFIX[file.suffix.lower()]
    except KeyError:
        raise NoLanguageServer(
            f"No language server is known for {file.suffix or 'files without a suffix'}.",
            hint=f"Known: {', '.join(BY_SUFFIX)}.",
        ) from None


def choose(
    file: Path, root: Path, settings: Settings, path: str, only: str | None = None
) -> list[Plan]:
    """The installed servers for `file` in the workspace `root`, at least one.

    `settings` maps a language to its server: the name of one in the table, or a whole command;
    nothing for none. `path` is where programs are looked for. `only` picks one server by name.
    Raises `NoLanguageServer`, which says what to install, and `InvalidArguments` for an `only`
    that does not fit.
    """
    language = language_of(file)
    groups = _groups(language, settings)
    if only is not None:
        groups = [_named(only, language, groups)]
    base = _project(file, root, language.markers)
    usable = [next(filter(None, (fit(spec, path) for spec in group)), None) for group in groups]
    plans = [Plan(spec, language, base, path) for spec in usable if spec]
    if not plans:
        raise _nothing(language, groups)
    return plans


def _groups(language: Language, settings: Settings) -> list[Group]:
    command = settings.get(language.name)
    if command is None:
        return [[SPECS[name] for name in group] for group in language.servers]
    if not command:
        return []
    name = Path(command[0]).name
    if len(command) == 1 and name in SPECS:
        return [[SPECS[name]]]
    known = next((spec for spec in SPECS.values() if spec.command[0] == name), None)
    install = f"install {command[0]}, or correct the `servers` setting"
    spec = known or Spec(name, (), install)
    return [[replace(spec, command=tuple(command), install=install)]]


def _named(name: str, language: Language, groups: Sequence[Group]) -> Group:
    """The server `name` as it is set, else as the table has it."""
    known = [SPECS[other] for group in language.servers for other in group]
    specs = {spec.name: spec for spec in (*known, *(s for group in groups for s in group))}
    if name not in specs:
        raise InvalidArguments(
            f"server: {name[:40]!r} does not check {language.name}.",
            hint=f"Allowed: {', '.join(specs)}.",
        )
    return [specs[name]]


def _project(file: Path, root: Path, markers: Sequence[str]) -> Path:
    """The nearest directory above `file` that holds a marker, but never above `root`."""
    if not file.is_relative_to(root):
        return file.parent
    for folder in file.parents:
        if folder == root or any((folder / marker).exists() for marker in markers):
            return folder
    return root


def _nothing(language: Language, groups: Sequence[Group]) -> NoLanguageServer:
    if not groups:
        return NoLanguageServer(f"The `servers` setting turns {language.name} off.")
    ways = "; or ".join(spec.install for spec in groups[0])
    if language.name == "python":
        ways = f"pip install 'fsagent-tools[lsp]'; or {ways}"
    return NoLanguageServer(
        f"No language server for {language.name} is installed.", hint=f"Install one: {ways}."
    )
