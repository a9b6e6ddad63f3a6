"""Which servers check a file: by its suffix, what is installed and what the host has set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from fsagent_tools.errors import InvalidArguments, NoLanguageServer
from fsagent_tools.lsp.languages import (
    LanguageSettings,
    language_of,
    languages,
    specs,
)
from fsagent_tools.lsp.programs import runnable
from fsagent_tools.lsp.settings import first_text, folders_above
from fsagent_tools.lsp.spec import Fits, Language, Spec
from fsagent_tools.lsp.table import LANGUAGES
from fsagent_tools.policy.programs import ALL_PROGRAMS, Programs

_Group = Sequence[Spec]  # alternatives: the first installed one is used


@dataclass(frozen=True)
class Plan:
    """A server to ask about a file, startable as it stands.
    left: what it does not check of the file; unchecked: why it checks none of it; absent: that it
    lacks a program, so that it is not even asked.
    """

    spec: Spec
    language: Language
    root: Path
    left: tuple[str, ...] = ()
    unchecked: str = ""
    absent: bool = False

    @property
    def key(self) -> object:
        """Plans with the same one are served by one server at a time."""
        return self.root, self.spec.command


def any_installed(settings: LanguageSettings) -> bool:
    """Whether there is a server for any language; the machine is asked once in a process."""
    groups = [group for each in languages(settings).values() for group in each.servers]
    return any(_is_installed(spec.command, spec.fits) for group in groups for spec in specs(group))


@cache
def _is_installed(command: tuple[str, ...], fits: Fits) -> bool:
    return runnable(Spec("", command, "", fits=fits), ALL_PROGRAMS) is not None


def choose(  # noqa: PLR0913
    file: Path,
    text: str,
    root: Path,
    among: Mapping[str, Language],
    programs: Programs,
    *,
    only: str | None = None,
) -> list[Plan]:
    """The installed servers for `file`, which holds `text`, in the workspace `root`: at least one.

    `only` picks one server by name. Raises `NoLanguageServer`, which says what to install, and
    `InvalidArguments` for an `only` that does not fit.
    """
    language = language_of(file, among, text)
    groups: list[_Group] = [specs(group) for group in language.servers]
    if only is not None:
        groups = [_named(only, language, groups)]
    base = project_of(file, root, language)
    usable = [
        next(filter(None, (runnable(spec, programs) for spec in group)), None) for group in groups
    ]
    plans = [_limited(Plan(spec, language, base), file, root, programs) for spec in usable if spec]
    if not plans:
        raise _nothing(language, groups)
    if usable[0] is None:  # those of the other groups check less
        first = groups[0][0]
        why = f"it is not installed ({first.install})"
        plans.insert(0, Plan(first, language, base, unchecked=why, absent=True))
    return plans


def _limited(plan: Plan, file: Path, root: Path, programs: Programs) -> Plan:
    limits = [limit for limit in plan.spec.limits if limit.holds(file, root)]
    left = tuple(limit.leaves for limit in limits if not limit.whole)
    unchecked = next((limit.leaves for limit in limits if limit.whole), "")
    plan = replace(plan, left=left, unchecked=unchecked)
    if not plan.spec.helper:
        return plan
    if (helper := programs.find(plan.spec.helper)) is None:
        return replace(plan, unchecked=f"{plan.spec.helper} is not installed", absent=True)
    outdated = plan.spec.outdated(file, root, helper) if plan.spec.outdated else ""
    return replace(plan, unchecked=outdated) if outdated else plan


def _named(name: str, language: Language, groups: Sequence[_Group]) -> _Group:
    """The server `name` as it is set, else as the table has it."""
    usual = LANGUAGES.get(language.name, language)
    known = [specs(group) for group in usual.servers]
    named = {spec.name: spec for group in (*known, *groups) for spec in group}
    if name not in named:
        raise InvalidArguments(
            f"server: {name[:40]!r} does not check {language.name}.",
            hint=f"Allowed: {', '.join(named)}.",
        )
    return [named[name]]


def project_of(file: Path, root: Path, language: Language) -> Path:
    """The nearest directory above `file` that holds a marker, or the outermost one of several
    projects that are one; but never above `root`.
    """
    if not (above := folders_above(file, root)):
        return file.parent
    for folder in reversed(above):
        if any(word in first_text(folder / name) for name, word in language.workspaces):
            return folder
    marked = (f for f in above if any((f / marker).exists() for marker in language.markers))
    return next(marked, root)


def _nothing(language: Language, groups: Sequence[_Group]) -> NoLanguageServer:
    if not groups:
        return NoLanguageServer(f"The `servers` setting turns {language.name} off.")
    ways = [(Path(spec.command[0]).name, spec.install) for spec in groups[0]]
    way = f"Install {ways[0][0]}: {ways[0][1]}."
    if len(ways) > 1:
        way = f"Install one: {' or '.join(f'{name} ({how})' for name, how in ways)}."
    if language.name == "python":
        way += " Or ty and ruff: pip install 'fsagent-tools[lsp]'."
    return NoLanguageServer(f"No language server for {language.name} is installed.", hint=way)
