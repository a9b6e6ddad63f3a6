"""What each command does, from the parsed words to an exit code."""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from getpass import getuser
from pathlib import Path
from typing import Any

from fsagent_tools.call import identified
from fsagent_tools.cli.extras import EXTRAS, all_commands
from fsagent_tools.cli.parsing import (
    DEST,
    PATH,
    CommonOptions,
    Parser,
    UsageError,
    add_parameters,
    as_word,
    every_parameter,
    headline,
    is_path,
    no_options,
)
from fsagent_tools.cli.past import SESSION
from fsagent_tools.cli.roots import Placing, current_directory, from_here, project_root
from fsagent_tools.cli.settings import config_command
from fsagent_tools.cli.terminal import REFUSED, progress, show
from fsagent_tools.errors import InvalidArguments, MissingDependency, TimedOut
from fsagent_tools.gate.prompt import approve_at_terminal
from fsagent_tools.results import Outcome
from fsagent_tools.toolkit.toolset import Tool
from fsagent_tools.toolsets import toolset
from fsagent_tools.workspace import Workspace
from fsagent_tools.workspace.config import load

FAILED_SEARCH = 2  # as rg has it
TIMED_OUT, NOT_RUN = 124, 125  # a command, as timeout and env have it
UNENDED = 137  # it was sent SIGKILL
TYPED_PATHS = (PATH, "source", "destination", "working_dir")
HERE = (PATH, "working_dir")  # where a command starts when no path is typed


def run_command(options: CommonOptions, words: Sequence[str]) -> int:
    """Run `words`. Raises `UsageError` and, before any tool runs, `ToolError`."""
    if options.version:
        from importlib.metadata import version  # slow to import, and seldom asked for

        print(f"fsagent {version('fsagent-tools')}")
        return 0
    root, elsewhere = _project(
        options, serving=words[:1] == ["serve"] and not {"-h", "--help"} & {*words}
    )
    if words[:1] == ["config"]:
        return config_command(words[1:], str(root), options)
    configuration = load(options.config)
    ask = approve_at_terminal if options.approve else None
    chosen = toolset(options.toolset or configuration.toolset)
    if words[:1] == ["serve"]:
        return int(_serve()(words[1:], root, chosen, partial(Workspace, **configuration.options)))
    tools = chosen.bind(Workspace(root, **configuration.options, approve=ask), late=True)
    name, rest = (words[0], words[1:]) if words else ("", ())
    place = partial(from_here, root) if elsewhere else str
    with identified(session=SESSION, user=getuser()):
        if name in tools:
            if elsewhere:
                print(f"fsagent: the project is {root}", file=sys.stderr)
            return _tool(tools[name], options, rest, place)
        if name in EXTRAS:
            flags = ["--json"] if options.json else []
            return EXTRAS[name](tools, [*flags, *rest], place)
    overview = all_commands(tools)
    overview.parse_args(words)
    raise UsageError("a command is missing.", overview.format_usage().rstrip())


def _serve() -> Any:
    """The command of the adapter of MCP. Raises `MissingDependency`."""
    from importlib.metadata import entry_points  # slow to import, and seldom asked for

    try:
        (found,) = entry_points(group="fsagent_tools.commands", name="serve")
        return found.load()
    except (ValueError, ModuleNotFoundError) as error:
        raise MissingDependency(
            f"serve needs what is not installed: {error}.", hint='Install "fsagent-tools[mcp]".'
        ) from None


def _project(options: CommonOptions, *, serving: bool) -> tuple[Path, bool]:
    """The root, and whether it is another directory than the current one, unasked."""
    if options.root == "":
        raise InvalidArguments("--root is empty.", hint="Name a directory, or leave it out.")
    if options.root:
        if not Path(options.root).is_dir():
            message = f"--root: {options.root} is not a directory."
            raise InvalidArguments(message, hint="Name the directory of the project.")
        return Path(options.root), False
    root = project_root(start := current_directory())
    if root is None and serving:  # a desktop client starts a server anywhere, often in /
        raise InvalidArguments(
            f"{start} is not a project: it has no .git and no .fsagent.yaml.",
            hint="Name a directory: fsagent --root DIRECTORY serve.",
        )
    return (root, True) if root not in (None, start) else (Path(), False)  # as short as typed


def _tool(tool: Tool, options: CommonOptions, words: Sequence[str], place: Placing) -> int:
    parser = Parser(f"fsagent {tool.name}", description=headline(tool))
    parsed = vars(add_parameters(parser, tool).parse_intermixed_args(no_options(words)))
    given = {
        name.removeprefix(DEST): _read(value)
        for name, value in parsed.items()
        if name.startswith(DEST) and value not in (None, [])
    }
    whole = every_parameter(tool)
    _place_paths(whole, given, place)
    with progress(tool.name, quiet=options.json or options.approve):
        outcomes = [(path, whole.call(one)) for path, one in _calls(whole, given)]
    show(outcomes, as_json=options.json, action=tool.entry.action_name)
    if any(outcome.data.get("running") for _, outcome in outcomes):
        print("fsagent: the job ends with this command, which is over.", file=sys.stderr)
    if any(outcome.data.get("whole") for _, outcome in outcomes):
        hint = "that file goes with this command, which is over; --max-output shows more."
        print(f"fsagent: {hint}", file=sys.stderr)
    codes = [_code(tool, outcome) for _, outcome in outcomes]
    searched = tool.entry.action_name == "grep" and FAILED_SEARCH not in codes
    return min(codes) if searched else max(codes)  # one match is enough, one failure too much


def _place_paths(tool: Tool, given: dict[str, Any], place: Placing) -> None:
    """Paths as typed in the current directory become paths from the root."""
    for name in tool.visible:
        own, typed = tool.entry.rename.get(name, name), given.get(name)
        if own in TYPED_PATHS and isinstance(typed, list):
            given[name] = [place(path) for path in typed]
        elif own in TYPED_PATHS and typed is not None:
            given[name] = place(typed)
        elif own in HERE and place(""):
            given[name] = place("")


def _calls(tool: Tool, given: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """One call for each path of a command that takes several; the path is "" for a single one."""
    name = next((n for n in given if is_path(tool, n) and isinstance(given[n], list)), "")
    paths = given.get(name, [])
    if not paths:
        yield "", given
    for path in paths:
        yield path if len(paths) > 1 else "", {**given, name: path}


def _read(value: Any) -> Any:
    """`-` stands for standard input."""
    if value != "-":
        return as_word(value)
    try:
        text = sys.stdin.read()
        text.encode()
    except UnicodeError:
        raise InvalidArguments(
            "Standard input is not UTF-8 text.", hint="Convert it first."
        ) from None
    return text


def _code(tool: Tool, outcome: Outcome) -> int:
    if tool.entry.action_name == "bash":
        return _code_of_command(outcome)
    searching = tool.entry.action_name == "grep"
    if not outcome.ok:
        return FAILED_SEARCH if searching else REFUSED
    return REFUSED if searching and not outcome.data.get("count") else 0


def _code_of_command(outcome: Outcome) -> int:
    """The command's own; one that became a job ends with this process, and counts as begun."""
    if not outcome.ok:
        return TIMED_OUT if outcome.code == TimedOut.code else NOT_RUN
    code = outcome.data["exit_code"]
    return code if code is not None else 0 if outcome.data["running"] else UNENDED
