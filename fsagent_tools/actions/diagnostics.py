"""Ask the language servers what is wrong with a file."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fsagent_tools.encoding import decode
from fsagent_tools.errors import ToolError
from fsagent_tools.problems import SEVERITIES, Problem
from fsagent_tools.session.texts import whole_bytes
from fsagent_tools.text import newline_of
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.workspace import lazy
from fsagent_tools.workspace.services import lacks_machine

if TYPE_CHECKING:
    from fsagent_tools.lsp.checked import Checked

_TIMEOUT = 15.0  # seconds, a cold start of the slowest server included
MAX_PROBLEMS = 50  # problems in one answer
_LONGEST = 200  # characters of a line that is shown, whole, below its problem
_REASONS = {  # by the state of what a server told
    "unchecked": ", at most its syntax: {why}.",
    "old": ", which has said nothing since the last change: its problems are from before.",
    "unfinished": " to the end, which was still at work after {timeout:g} s: problems may remain.",
    "silent": ", which did not answer within {timeout:g} s: problems may remain.",
    "failed": ": {why}",
}


class DiagnosticsParams(Params):
    path: str = Field(description="File to check.")
    severity: Literal["error", "warning", "information", "hint"] = Field(
        "information", description="Least severity that is reported."
    )
    timeout: float = Field(
        _TIMEOUT, gt=0, le=600, description=f"Seconds to wait (default {_TIMEOUT:g})."
    )
    server: str | None = Field(None, description="Ask only this server, such as 'ruff'.")


@dataclass(frozen=True)
class Diagnostics:
    """Problems, errors first; `count` is how many there are, `diagnostics` holds at most `SHOWN`.

    Lines and columns count from 1, columns in characters. `silent` names servers that said
    nothing within `timeout` seconds, `old` those whose problems are from before the last change,
    `unfinished` those that were still at work, `failed` tells of those that broke, `unchecked`
    names those that did not check the file, at most its syntax, or whose problems do not count.
    """

    output: str
    diagnostics: list[dict[str, Any]]
    count: int
    path: str
    servers: list[str]
    silent: list[str]
    old: list[str]
    unfinished: list[str]
    failed: list[str]
    unchecked: list[str]

    def render(self) -> str:
        return self.output


def lacks_server(workspace: Workspace) -> str:
    """Why no language server can be asked here, "" if one can."""
    services = workspace.services
    if lacking := lacks_machine(services):
        return lacking
    if lazy.choice.any_installed(services.server_settings):
        return ""
    return "no language server is installed: pip install 'fsagent-tools[lsp]' brings Python's"


@action(effect=Effect.EXECUTE, lacks=lacks_server)
def diagnostics(workspace: Workspace, p: DiagnosticsParams) -> Diagnostics:
    """Errors and warnings of a file from its language server (types, lint, syntax)."""
    services = workspace.services
    with workspace.files.open(p.path) as file:
        place, name = file.place, file.place.told
        utf8 = decode(whole_bytes(file), name).utf8
    text = utf8.decode()
    checked = services.servers.check(Path(place.absolute), text, p.timeout, p.server)
    if not checked.problems and len(checked.unchecked) == len(checked.told):
        until = time.monotonic() + p.timeout
        means = lazy.lint.Means(programs=services.programs, until=until)
        problems = lazy.lint.report(name, None, utf8, means).problems
        checked = replace(checked, problems=problems)
    least = SEVERITIES.index(p.severity)
    problems = [q for q in checked.problems if SEVERITIES.index(q.severity) <= least]
    shown = problems[:MAX_PROBLEMS]
    tagged = _tagged(workspace, place.relative, shown, utf8)
    return Diagnostics(
        "\n".join(
            [
                *_unchecked(name, checked, p.timeout),
                *_rows(name, shown, tagged),
                *_notes(name, checked, problems),
            ]
        ),
        [problem.to_dict() for problem in shown],
        len(problems),
        name,
        [told.server for told in checked.told],
        checked.those("silent"),
        checked.those("old"),
        checked.those("unfinished"),
        [f"{told.server}: {told.why}" for told in checked.told if told.state == "failed"],
        checked.unchecked,
    )


def _tagged(
    workspace: Workspace, name: str, problems: Sequence[Problem], utf8: bytes
) -> Mapping[int, str]:
    """Line number -> the line with its ID, for lines that can be shown whole."""
    newline = newline_of(utf8)
    lines = utf8.split(newline)
    wanted = {}
    for number in {problem.line for problem in problems if problem.line <= len(lines)}:
        line = lines[number - 1].removesuffix(b"\r" if newline == b"\n" else b"")
        if len(line) <= _LONGEST and (line or number < len(lines)):
            wanted[number] = line
    if not wanted:
        return {}
    ids: Mapping[int, str] = {}
    with suppress(ToolError):  # gone, changed or unreadable for an editor: told without IDs
        ids = workspace.tag_lines(name, wanted)
    return {n: workspace.style.lines(ids[n], wanted[n]) for n in ids}


def _rows(name: str, problems: Sequence[Problem], tagged: Mapping[int, str]) -> list[str]:
    """`path:line:col: severity: message [source code]`, and its line the first time it occurs."""
    rows, lines = [], dict(tagged)
    for problem in problems:
        rows.append(f"{name}:{problem}")
        if line := lines.pop(problem.line, ""):
            rows.append(line)
    return rows


def _unchecked(name: str, checked: "Checked", timeout: float) -> list[str]:
    """First, since what an agent acts on is the first line."""
    servers: dict[str, list[str]] = {}
    for told in checked.told:
        if told.state != "checked":
            reason = _REASONS[told.state].format(why=told.why, timeout=timeout)
            servers.setdefault(reason, []).append(told.server)
    return [f"Not checked: {name} by {', '.join(they)}{why}" for why, they in servers.items()]


def _notes(name: str, checked: "Checked", problems: Sequence[Problem]) -> list[str]:
    notes = []
    if len(problems) > MAX_PROBLEMS:
        notes.append(f"({len(problems) - MAX_PROBLEMS} more, {len(problems)} in all)")
    if not problems and (answered := checked.those("checked")):
        notes.append(f"No problems in {name} ({', '.join(answered)}).")
    if not checked.told:
        notes.append(f"Nothing to check in {name}: {Path(name).suffix} files have no server.")
    return [*notes, *(f"({left}.)" for left in checked.left)]
