"""Ask the language servers what is wrong with a file."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fsagent_tools.encoding import decode
from fsagent_tools.errors import NoLanguageServer, TooLarge, ToolError
from fsagent_tools.files.guarded import ReadableFile
from fsagent_tools.problems import SEVERITIES, Problem, by_importance, introduced
from fsagent_tools.session.texts import whole_bytes
from fsagent_tools.text import newline_of
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.workspace import lazy
from fsagent_tools.workspace.services import lacks_machine

if TYPE_CHECKING:
    pass

_TIMEOUT = 15.0  # seconds, a cold start of the slowest server included
MAX_PROBLEMS = 50  # problems in one answer
MAX_CHECKED_BYTES = 4 << 20  # of a file that a server is asked about
_MAX_SHOWN = 200  # characters of a line that is shown, whole, below its problem
_NO_PROBLEMS = frozenset((".md", ".rst", ".txt", ".csv", ".tsv", ".sql", ".log", ".svg"))


class DiagnosticsParams(Params):
    path: str = Field(description="File to check.")
    severity: Literal["error", "warning", "information", "hint"] = Field(
        "information", description="Least severity that is reported."
    )
    timeout: float = Field(
        _TIMEOUT, gt=0, le=600, description=f"Seconds to wait (default {_TIMEOUT:g})."
    )
    server: str | None = Field(None, description="Ask only this server, such as 'ruff'.")
    new: bool = Field(False, description="Only problems that this session's edits made.")


@dataclass(frozen=True)
class Diagnostics:
    """Problems, errors first; `count` is how many there are, `diagnostics` holds at most 50.

    Lines and columns count from 1, columns in characters. `servers` names those that checked the
    file, `not_checked` says for each of the others why it did not.
    """

    output: str
    diagnostics: list[dict[str, Any]]
    count: int
    path: str
    servers: list[str]
    not_checked: list[str]

    def render(self) -> str:
        return self.output


def lacks_server(workspace: Workspace) -> str:
    """Why no language server can be asked here, "" if one can."""
    services = workspace.services
    if lacking := lacks_machine(services):
        return lacking
    if lazy.servers.any_installed(services.server_settings):
        return ""
    return "no language server is installed: pip install 'fsagent-tools[lsp]' brings Python's"


def text_for_server(file: ReadableFile) -> bytes:
    """The text of an open file as UTF-8. Raises `TooLarge` before it is read, `BinaryFile`."""
    if file.version.size > MAX_CHECKED_BYTES:
        raise TooLarge(
            f"{file.place.told} has {file.version.size:,} bytes; language servers are asked about "
            f"{MAX_CHECKED_BYTES:,} at most."
        )
    return decode(whole_bytes(file), file.place.told).utf8


@action(effect=Effect.EXECUTE, lacks=lacks_server)
def diagnostics(workspace: Workspace, p: DiagnosticsParams) -> Diagnostics:
    """Errors and warnings of a file from its language server (types, lint, syntax)."""
    deadline = time.monotonic() + p.timeout
    with workspace.files.open(p.path) as file:
        place, utf8 = file.place, text_for_server(file)
    name, path = place.told, Path(place.absolute)
    notes: list[str] = []
    if path.suffix.lower() in _NO_PROBLEMS:
        notes = [f"Nothing to check in {name}: {path.suffix} files have no server."]
        return Diagnostics("\n".join(notes), [], 0, name, [], [])
    servers, text = workspace.services.servers, utf8.decode()
    original = workspace.services.originals.get(place.absolute) if p.new else None
    unchecked = dict[str, str]()
    try:
        diagnosis = servers.diagnose(path, text, p.timeout, p.server)
        problems, answered = diagnosis.problems, diagnosis.answered
        if original is not None and problems:
            before = original.decode()
            left = max(deadline - time.monotonic(), 0)
            earlier = servers.diagnose(path, before, left, p.server)
            answered = [server for server in answered if server in earlier.answered]
            problems = introduced(earlier.problems, problems, before, text)
            unchecked |= {
                server: f"before the edits: {why}" for server, why in earlier.missing.items()
            }
        unchecked |= diagnosis.missing
    except NoLanguageServer as error:
        if not lazy.lint.has_parser(name):
            raise
        problems, answered, unchecked = [], [], {"": str(error)}
    if not problems and not answered:
        found, note = _by_parser(name, text)
        problems, notes = found, [note]
    if p.new and original is None and place.absolute not in workspace.services.originals:
        notes.append(f"(This session has not changed {name}: all its problems are shown.)")
    least = SEVERITIES.index(p.severity)
    problems = [each for each in problems if SEVERITIES.index(each.severity) <= least]
    shown = by_importance(problems)[:MAX_PROBLEMS]
    if len(problems) > MAX_PROBLEMS:
        notes.append(f"({len(problems) - MAX_PROBLEMS} more, {len(problems)} in all)")
    if not problems and answered:
        which = "new problems" if p.new and original is not None else "problems"
        notes.append(f"No {which} in {name} ({', '.join(answered)}).")
    tagged = _tagged(workspace, place.relative, shown, utf8)
    first = [
        f"Not checked: {name}{f' by {server}' * bool(server)}: {why}"
        for server, why in unchecked.items()
    ]
    return Diagnostics(
        "\n".join([*first, *_rows(name, shown, tagged), *notes]),
        [problem.to_dict() for problem in shown],
        len(problems),
        name,
        answered,
        [f"{server}: {why}".removeprefix(": ") for server, why in unchecked.items()],
    )


def _by_parser(name: str, text: str) -> tuple[list[Problem], str]:
    """What a parser finds where no server answered, and a note that says who looked."""
    try:
        problems = lazy.lint.syntax_problems(name, text)
    except lazy.lint.NotChecked as reason:
        return [], f"(Nor was its syntax: {reason}.)"
    return problems, "(Only its syntax was checked, by a parser" + (
        ".)" if problems else ": no errors.)"
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
        if len(line) <= _MAX_SHOWN and (line or number < len(lines)):
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
