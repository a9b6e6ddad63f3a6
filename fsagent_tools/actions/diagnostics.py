"""Ask the language servers what is wrong with a file."""

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fsagent_tools.answers.action import Effect, Field, Params, Workspace, action
from fsagent_tools.call import current
from fsagent_tools.errors import Cancelled, ToolError
from fsagent_tools.problems import SEVERITIES, Problem
from fsagent_tools.process.running import run
from fsagent_tools.process.shell import ShellRequest
from fsagent_tools.services import lacks_machine, lazy
from fsagent_tools.text import NOTEBOOK, decode, newline_of

if TYPE_CHECKING:
    from fsagent_tools.lsp.checked import Checked
    from fsagent_tools.lsp.checkers import Checker, Heard

_TIMEOUT = 15.0  # seconds, a cold start of the slowest server included
_OUTPUT = 1 << 20  # bytes that a checker may write
MAX_PROBLEMS = 50  # problems in one answer
_LONGEST = 200  # characters of a line that is shown, whole, below its problem
_REASONS = {  # by the state of what a server told
    **dict.fromkeys(("unchecked", "unfit"), ", at most its syntax: {why}."),
    "old": ", which has said nothing since the last change: its problems are from before.",
    "unfinished": " to the end, which was still at work after {timeout:g} s: problems may remain.",
    "silent": ", which did not answer within {timeout:g} s: problems may remain.",
    "failed": ": {why}",
}
_NOT_FOUND = ("import-not-found", "unresolved-import", "reportMissingImports", "missing-import")
_MODULE = re.compile(r"[`\"](\w[\w.]*)[`\"]")  # an absolute one, as the checkers quote it


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
    services, servers = workspace.services, workspace.services.servers
    with workspace.files.open(p.path) as file:
        place, name = file.place, file.place.told
        utf8 = decode(file.read(), name).utf8
    text, path = utf8.decode(), Path(place.absolute)
    module = lazy.notebook.module_of(text) if name.lower().endswith(NOTEBOOK) else None
    if module:  # by another name: a server would read a notebook itself, each in its own way
        text, path = module.text, path.with_name(f"{path.name}.py")
    if p.server or module:
        checked = servers.check(path, text, p.timeout, p.server)
    else:
        checked = servers.check_or_run(path, text, p.timeout, partial(_run, workspace, p.timeout))
    if module:
        checked = replace(checked, problems=module.in_cells(checked.problems))
    elif not checked.problems:
        means = replace(services.means(place), until=time.monotonic() + p.timeout)
        checked = replace(checked, problems=_built_in(name, text, checked, means))
    least = SEVERITIES.index(p.severity)
    problems = [q for q in checked.problems if SEVERITIES.index(q.severity) <= least]
    problems, environment = _environment(workspace, path, checked, problems)
    shown = problems[:MAX_PROBLEMS]
    tagged = {} if module else _tagged(workspace, place.relative, shown, utf8)
    return Diagnostics(
        "\n".join(
            [
                *_unchecked(name, checked, p.timeout),
                *_rows(name, shown, tagged),
                *_notes(name, checked, problems),
                *environment,
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


def _run(
    workspace: Workspace, timeout: float, checker: "Checker", folder: Path, file: Path
) -> "Heard | None":
    """Run `checker` in `folder` as `bash` would, unless that is closed or somebody would be asked:
    it reads, and a build runs, what the project holds.
    """
    asks = workspace.approve is not None or current.get().approve is not None
    if asks and Effect.EXECUTE in workspace.approve_effects:
        return None
    inner, name = folder.relative_to(workspace.root.resolve()), str(file.relative_to(folder))
    asked = ShellRequest(checker.script, False, {"FILE": name}, "read-only", _OUTPUT)
    try:
        workspace.policy.check_action("bash", Effect.EXECUTE)
        shell = workspace.services.shell
        with workspace.local_files.directory(str(inner)) as directory:
            done = run(shell.prepare(asked, directory), timeout, shell.launcher)
    except Cancelled:
        raise
    except ToolError:  # closed, or nothing here can hold it to that
        return None
    return name, done.exit_code, done.both


def _built_in(name: str, text: str, checked: "Checked", means: Any) -> list[Problem]:
    """What the built-in check says where no server could check, or where one may have been told
    nothing by the program that it ran; then errors only.
    """
    apart = len(checked.unchecked) == len(checked.told)
    if not (apart or checked.relayed):
        return []
    found = lazy.lint.report(name, None, text.encode(), means).problems
    return [problem for problem in found if apart or problem.severity == "error"]


def _environment(
    workspace: Workspace, file: Path, checked: "Checked", problems: Sequence[Problem]
) -> tuple[list[Problem], list[str]]:
    """The problems, and a note on the Python environment; without one, imports that were not found
    are one note instead, but for what is gone from a package of the project itself.
    """
    root = workspace.root.resolve()
    if found := checked.environment:
        folder = found.folder
        near = folder.relative_to(root) if folder.is_relative_to(root) else folder
        if workspace.files.virtual:
            near = "/" / near
        return list(problems), [f"Environment: {near} (Python {found.version or 'unknown'})."]
    unresolved = [q for q in problems if checked.wanted and q.code in _NOT_FOUND]
    named = {q: m[1] for q in unresolved if (m := _MODULE.search(q.message))}
    missing = {q: m for q, m in named.items() if not lazy.environment.is_gone(m, file, root)}
    if not missing:
        return list(problems), []
    names = ", ".join(dict.fromkeys(missing.values()))
    names = names if len(names) <= _LONGEST else names[: _LONGEST - 3] + "..."
    imports = "1 import" if len(missing) == 1 else f"{len(missing)} imports"
    hint = "make one, such as .venv, and install what it needs"
    return [q for q in problems if q not in missing], [
        f"{imports} not found ({names}): no environment of this project was found; {hint}."
    ]


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
