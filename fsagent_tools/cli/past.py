"""`fsagent log`, `diff`, `undo` and `checkpoint`: what sessions changed here, and the way back."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsagent_tools.approval.prompt import escaped, tinted
from fsagent_tools.cli.parsing import Parser, add_common, positive
from fsagent_tools.cli.roots import Placing
from fsagent_tools.cli.terminal import refuse
from fsagent_tools.errors import ToolError
from fsagent_tools.text import some

if TYPE_CHECKING:
    from fsagent_tools.workspace import Workspace

_NAMED = 3  # paths of a step
_SHOWN = 200  # lines of what an undo did, on a terminal
HELP_OF_PAST = {
    "log": "list changes in this project, latest first",
    "diff": "show changes since a checkpoint or step",
    "undo": "undo the last changes, whoever made them",
    "checkpoint": "save the state of the files and print its ID",
}


def _log(workspace: "Workspace", parser: Parser, words: Sequence[str], _: Placing) -> None:
    parser.add_argument("-n", type=positive, default=20, help="how many (default 20)")
    parser.add_argument("--diff", action="store_true", help="include the diffs")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with the diffs")
    parser.add_argument("--calls", type=Path, metavar="LOG", help="of the calls in this EventLog")
    given = parser.parse_args(words)
    if given.calls and not given.html:
        parser.error("--calls needs --html")
    steps = [] if given.calls else workspace.history.steps(everybody=True)[::-1][: given.n]
    if given.html:
        from fsagent_tools.events.page import read_log, write_page  # a command loads what it needs

        root = str(Path(workspace.files.local_root or "").absolute())
        records = [{**_record(step), "workspace": root} for step in steps]
        write_page(read_log(given.calls) if given.calls else records, given.html)
        return
    if given.json:
        print(json.dumps([_facts(step, diff=given.diff) for step in steps], indent=2))
        return
    for step in steps:
        names = [*dict.fromkeys(one.path for one in step.changes)]
        names = names + [f"{path} (not kept)" for path in step.lost] or [step.name or "-"]
        names = [*map(_in_a_line, names)]
        what = step.tool or step.kind
        done = " (undone)" if step.undone else ""
        when = step.time.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        print(escaped(f"{step.id}  {when}  {what:<12} {some(names, _NAMED)}{done}"))
        if given.diff and (diff := step.diff()):
            _show(diff)


def _facts(step: Any, *, diff: bool) -> dict[str, object]:
    """What `--json` tells of a step."""
    named = ("id", "session", "tool", "call", "kind", "name", "undone", "lost")
    facts = {name: getattr(step, name) for name in named}
    facts |= {"time": step.time.isoformat(), "paths": [one.path for one in step.changes]}
    return facts | {"diff": step.diff()} if diff else facts


def _record(step: Any) -> dict[str, Any]:
    """A step as the page of a log takes it."""
    facts = _facts(step, diff=True)
    return {**facts, "changed": facts["paths"], "diffs": [{"path": "", "diff": facts["diff"]}]}


def _diff(workspace: "Workspace", parser: Parser, words: Sequence[str], _: Placing) -> None:
    parser.add_argument("since", nargs="?", default="", help="ID (default: since the first step)")
    given = parser.parse_args(words)
    diff = workspace.diff(given.since, everybody=True)
    if given.json:
        print(json.dumps({"diff": diff}, indent=2))
    else:
        _show(diff)


def _undo(workspace: "Workspace", parser: Parser, words: Sequence[str], place: Placing) -> None:
    parser.add_argument("paths", nargs="*", help="only these files and directories")
    parser.add_argument("--steps", type=positive, default=1, help="how many (default 1)")
    parser.add_argument("--to", help="undo everything since this checkpoint or step")
    parser.add_argument("--redo", action="store_true", help="revert the last undo")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    given = parser.parse_args(words)
    if given.redo and (given.paths or given.to or given.steps != 1):
        parser.error("--redo takes back the last undo as a whole")
    dry = given.dry_run
    if given.redo:
        done = workspace.redo(dry_run=dry, everybody=True)
    else:
        paths = [place(path) for path in given.paths] or None
        done = workspace.undo(given.steps, to=given.to, paths=paths, dry_run=dry, everybody=True)
    if given.json:
        names = ("steps", "paths", "left", "lost", "diff")
        facts = {name: getattr(done, name) for name in names}
        print(json.dumps({**facts, "conflicts": [asdict(one) for one in done.conflicts]}, indent=2))
        return
    notes = [(f"in the way ({one.reason})", one.path) for one in done.conflicts]
    notes += [("left, as others have files there", path) for path in done.left]
    notes += [("left, as its old content was not kept", path) for path in done.lost]
    for note, path in notes:
        print(f"{note}: {_in_a_line(path)}", file=sys.stderr)
    if not done.steps:
        print(_nothing(given.steps, given.to), file=sys.stderr)
    lines, most = done.diff.split("\n"), _SHOWN if sys.stdout.isatty() and not dry else None
    _show("\n".join(lines[:most]))
    if more := len(lines[most:]) if most else 0:
        print(f"({more:,} more lines: `fsagent log -n 1 --diff`)", file=sys.stderr)


def _nothing(steps: int, to: str | None) -> str:
    since = f"since {to} nothing was changed" if to else f"the last {steps} steps changed nothing"
    last = since if to or steps > 1 else "the last step changed nothing"
    more = "" if to else " `fsagent log` names the steps, --steps N takes back more."
    return f"Nothing is taken back: {last} there.{more}"


def _in_a_line(name: str) -> str:
    return escaped(name).replace("\n", "\\n")


def _checkpoint(workspace: "Workspace", parser: Parser, words: Sequence[str], _: Placing) -> None:
    parser.add_argument("name", nargs="?", default="", help="shown by `fsagent log`")
    given = parser.parse_args(words)
    made = workspace.checkpoint(given.name)
    print(json.dumps({"id": made}) if given.json else made)


def _show(diff: str) -> None:
    if diff:
        print(tinted(diff, sys.stdout) if sys.stdout.isatty() else escaped(diff))


_Command = Callable[["Workspace", Parser, Sequence[str], Placing], None]
_COMMANDS: Mapping[str, _Command] = {
    "log": _log,
    "diff": _diff,
    "undo": _undo,
    "checkpoint": _checkpoint,
}


def past_command(name: str, workspace: "Workspace", words: Sequence[str], place: Placing) -> int:
    """Run it; 1 for a refusal."""
    parser = add_common(Parser(f"fsagent {name}", description=HELP_OF_PAST[name]))
    try:
        _COMMANDS[name](workspace, parser, words, place)
    except ToolError as error:
        as_json = "--json" in words
        code = refuse(error, as_json=as_json)
        if "conflicts" in error.details and not as_json:
            print("The same command with --json prints all of `conflicts`.", file=sys.stderr)
        return code
    return 0
