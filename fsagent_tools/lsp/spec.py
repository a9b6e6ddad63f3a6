"""What a language server and a language are, as rows of a table."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fsagent_tools.lsp.limits import Limit
from fsagent_tools.policy.programs import Programs

# Patterns. In `severity code: message` of a problem: that the file is of nothing it has read
# ("stranger"); what is no problem ("fine"); from which the others follow, where its limits hold
# ("blind"). In a text: what has it pass over all problems ("mute"). In its log: why it told nothing
# ("ailing").
Sign = Literal["stranger", "fine", "blind", "mute", "ailing"]
# Of the absolute file of a program: more for `initializationOptions`, None where it will not do.
Fits = Callable[[str, Programs], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Spec:
    """One language server.

    command: the program's bare name (looked up by `programs.runnable`) and its arguments, in which
    `{own}` is a directory of its own for the project. fits: what the program must be beyond that.
    install: what a person types to get it.
    settings: answers to `workspace/configuration`, by section.
    options: `initializationOptions`, with what `fits` adds.
    across: a change of one file can change the problems of another. opens: of other files it knows
    the uses only in those that are open, at least without settings.
    pushes: when it publishes without being asked: after "changes" of the text, or "finally", the
    last word on a version being the first not followed by work; what it publishes is passed over
    for "rechecks", which answers though it does not offer to, and tells of its work on files that
    changed.
    loads: how it says that it has read the project, and only then knows anything: by "status"
    (`experimental/serverStatus`).
    limits: what it does not check as it is set here. helper: a program without which it checks
    nothing; outdated: finds why the one at a path is too old for a file in a workspace.
    signs: see `Sign`.
    """

    name: str
    command: tuple[str, ...]
    install: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    fits: Fits = lambda program, programs: {}
    across: bool = True
    opens: bool = False
    pushes: Literal["changes", "finally", "rechecks"] = "changes"
    loads: Literal["", "status"] = ""
    limits: tuple[Limit, ...] = ()
    helper: str = ""
    outdated: Callable[[Path, Path, str], str] | None = None
    signs: Mapping[Sign, str] = field(default_factory=dict)

    def sign(self, kind: Sign, said: str) -> str:
        """What the pattern finds, "" for nothing."""
        found = kind in self.signs and re.search(self.signs[kind], said)
        return found[found.lastindex or 0] if found else ""


@dataclass(frozen=True)
class Language:
    """suffixes: file suffix, or whole name, -> language ID of the protocol. markers: files that
    make a directory the root of a project. servers: groups of alternatives, by name or as a `Spec`;
    the first installed one of each group is used. watched: names, or patterns of them, of what
    servers read when they start; they are started anew when it changes. workspaces: file name and a
    word in it, which make a directory the root of all projects beneath. reads: suffixes of what
    servers read besides.
    """

    name: str
    suffixes: Mapping[str, str]
    markers: tuple[str, ...]
    servers: tuple[tuple[str | Spec, ...], ...]
    watched: tuple[str, ...] = ()
    workspaces: tuple[tuple[str, str], ...] = ()
    reads: tuple[str, ...] = ()
