"""`fsagent log`, `diff`, `undo` and `checkpoint`: what sessions changed here, and the way back."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsagent_tools.cli.parsing import Parser, add_common, positive
from fsagent_tools.cli.roots import Placing
from fsagent_tools.cli.terminal import refuse
from fsagent_tools.errors import ActionDenied, ToolError
from fsagent_tools.text import escaped, some, tinted

if TYPE_CHECKING:
    from fsagent_tools.replies import StepChange
    from fsagent_tools.workspace import Workspace

SESSION = "command line"  # of all commands, as `identified` has it
_NAMED = 3  # paths of a step
_SHOWN = 200  # lines of what an undo did, on a terminal
HELP_OF_PAST = {
    "log": "list changes in this project, latest first",
    "diff": "show changes since a checkpoint or step",
    "undo": "undo the last changes",
    "checkpoint": "save the state of the files and print its ID",
}


def _log(workspace: "Workspace", parser: Parser, words: Sequence[str], _: Placing) -> None:
    parser.add_argument("-n", type=positive, default=20, help="how many (default 20)")
    parser.add_argument("--diff", action="store_true", help="include the diffs")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with the diffs")
    parser.add_argument("--calls", type=Path, metavar="LOG", help="of the calls in this EventLog")
    parser.add_argument("--prune", action="store_true", help="drop what is too old or too much")
    given = parser.parse_args(words)
    if given.prune:
        workspace.history.store.prune()
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
        done = " (undone)" if step.undone else ""
        print(escaped(f"{_heading(step)}  {some([*map(_in_a_line, names)], _NAMED)}{done}"))
        if given.diff and (diff := step.diff()):
            _show(diff)


def _heading(step: "StepChange") -> str:
    """Step, time, tool, session and user."""
    when = step.time.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    what, who = step.tool or step.kind, _in_a_line(step.session)[:16]
    return f"{step.id}  {when}  {what:<12} {who:<16} {_in_a_line(step.user) or '-'}"


def _facts(step: "StepChange", *, diff: bool) -> dict[str, object]:
    """What `--json` tells of a step."""
    named = ("id", "session", "user", "tool", "call", "kind", "name", "undone", "lost")
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
    parser.add_argument("paths", nargs="*", help="undo the last change of these")
    parser.add_argument("--steps", type=positive, default=1, help="how many (default 1)")
    parser.add_argument("--to", help="undo everything since this checkpoint or step")
    parser.add_argument("--any", action="store_true", help="also what other sessions did")
    parser.add_argument("--redo", action="store_true", help="revert the last undo")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    given = parser.parse_args(words)
    if given.redo and (given.paths or given.to or given.steps != 1):
        parser.error("--redo reverts the last undo as a whole")
    if given.redo:
        run = partial(workspace.redo, everybody=True)
    else:
        paths = [place(path) for path in given.paths] or None
        run = partial(workspace.undo, given.steps, to=given.to, paths=paths, everybody=True)
    steps = {step.id: step for step in workspace.history.steps(everybody=True)}
    found = [steps[step] for step in run(dry_run=True).steps if step in steps]
    if not (given.any or given.dry_run):
        _check_own(found)
    done = run(dry_run=given.dry_run)
    if given.json:
        facts = {name: getattr(done, name) for name in ("steps", "paths", "diff")}
        print(json.dumps({**facts, "left": [asdict(one) for one in done.left]}, indent=2))
        return
    for step in found:
        print(escaped(f"{'would undo' if given.dry_run else 'undone'}: {_heading(step)}"))
    for one in done.left:
        print(f"not restored: {_in_a_line(one.path)}: {one.reason}", file=sys.stderr)
    if not done.steps:
        print("Nothing to undo: nothing has changed there since then.", file=sys.stderr)
    lines = done.diff.split("\n")
    most = _SHOWN if sys.stdout.isatty() and not given.dry_run else None
    _show("\n".join(lines[:most]))
    if more := len(lines[most:]) if most else 0:
        print(f"({more:,} more lines: `fsagent log -n 1 --diff`)", file=sys.stderr)


def _check_own(steps: Sequence["StepChange"]) -> None:
    """Raise `ActionDenied` for a step of another session."""
    for step in steps:
        if step.session != SESSION:
            raise ActionDenied(
                f"This step was made by another session: {_heading(step)}.",
                hint="Add --any to undo it. --dry-run shows what that changes.",
            )


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
