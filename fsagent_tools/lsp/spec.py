"""What a language server and a language are, as rows of a table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fsagent_tools.lsp.limits import Limit


@dataclass(frozen=True)
class Spec:
    """One language server.

    command: the program's bare name (looked up by `programs.find`) and its arguments, in which
    `{own}` is a directory of its own for the project.
    install: what a person types to get it.
    settings: answers to `workspace/configuration`, by section.
    options: `initializationOptions`. needs: a name known to `programs.FITS`.
    across: a change of one file can change the problems of another.
    pushes: when it publishes without being asked: after "changes" of the text, or "finally", the
    last word on a version being the first not followed by work; what it publishes is passed over
    for "tsserver", which is asked by a command, and "rechecks", which answers though it does not
    offer to, and tells of its work on files that changed.
    loads: how it says that it has read the project, and only then knows anything: by "status"
    (`experimental/serverStatus`), or by the end of the first work in progress. leaves: what it does
    not check as it is set here, for its answers; `limits` the same for some files. stranger: finds
    in `code: message` that the file is of nothing it has read; unread: finds there the name of a
    file that it takes for missing, as it cannot read such. opens: of other files it knows the uses
    only in those that are open, at least without settings. helper: a program without which it
    checks nothing; outdated: finds why the one at a path is too old for a file in a workspace;
    ailing: finds in what the server logs why that told nothing. fine: finds in `severity
    code: message` what is no problem. mutes: finds in a text what has it pass over all problems.
    """

    name: str
    command: tuple[str, ...]
    install: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    across: bool = True
    needs: str = ""
    pushes: Literal["changes", "finally", "tsserver", "rechecks"] = "changes"
    loads: Literal["", "status", "work"] = ""
    leaves: str = ""
    limits: tuple[Limit, ...] = ()
    stranger: str = ""
    unread: str = ""
    opens: bool = False
    helper: str = ""
    outdated: Callable[[Path, Path, str], str] | None = None
    fine: str = ""
    mutes: str = ""
    ailing: str = ""


@dataclass(frozen=True)
class Language:
    """suffixes: file suffix, or whole name, -> language ID of the protocol. markers: files that
    make a directory the root of a project. servers: groups of alternatives, by name or as a `Spec`;
    the first installed one of each group is used. watched: names, or patterns of them, of what
    servers read when they start; they are started anew when it changes. workspaces: file name and a
    word in it, which make a directory the root of all projects beneath. reads: suffixes of what
    servers read besides. checker: the command, of `checkers`, for what no server could check.
    """

    name: str
    suffixes: Mapping[str, str]
    markers: tuple[str, ...]
    servers: tuple[tuple[str | Spec, ...], ...]
    watched: tuple[str, ...] = ()
    workspaces: tuple[tuple[str, str], ...] = ()
    reads: tuple[str, ...] = ()
    checker: str = ""
