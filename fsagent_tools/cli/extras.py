"""The commands that are no tools: the list of tools, a file's line index, shell completion."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fsagent_tools.cli.parsing import Parser, add_common, add_parameters, headline
from fsagent_tools.cli.past import HELP_OF_PAST, past_command
from fsagent_tools.cli.roots import Placing
from fsagent_tools.cli.terminal import show
from fsagent_tools.errors import MissingDependency, ToolError
from fsagent_tools.results import Outcome, Shape
from fsagent_tools.toolkit.tokens import cost, counter, definition
from fsagent_tools.toolkit.toolset import Tool

Tools = Mapping[str, Tool]
HELP = {
    "tools": "list the tools, their parameters and their cost",
    "index": "print the line index of a file",
    "completion": "print a completion script for a shell",
    **HELP_OF_PAST,
    "config": "show the settings in effect, or check a settings file",
    "serve": "serve the tools to MCP clients, over stdio or HTTP",
}


def all_commands(tools: Tools, *, parameters: bool = False) -> Parser:
    """The parser of the whole command line. parameters: with those of every tool."""
    parser = Parser("fsagent", description="Run a file, shell or web tool on a project.")
    commands = add_common(parser).add_subparsers(metavar="COMMAND", parser_class=Parser)
    for tool in tools.values():
        command = commands.add_parser(tool.name, help=headline(tool), description=headline(tool))
        if parameters:
            add_parameters(command, tool)
    for name, text in HELP.items():
        commands.add_parser(name, help=text)
    return parser


def _listing(tools: Tools, words: Sequence[str], place: Placing) -> int:
    parser = _parser("tools")
    parser.add_argument("--schema", choices=("openai", "json"), help="print the schemas instead")
    given = parser.parse_args(words)
    definitions = [definition(tool) for tool in tools.values()]
    costs = cost(definitions)
    rows = [(t.name, _parameters(t), t.effect.value, costs[t.name]) for t in tools.values()]
    if given.schema == "openai":
        print(json.dumps(definitions, indent=2))
    elif given.schema == "json":
        print(json.dumps({tool.name: tool.schema for tool in tools.values()}, indent=2))
    elif given.json:
        keys = ("tool", "parameters", "effect", "tokens")
        print(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=2))
    else:
        title = ("TOOL", "PARAMETERS", "EFFECT", "TOKENS" if counter() else "TOKENS (estimated)")
        table = [title, *rows, ("", "", "", sum(row[3] for row in rows))]
        widths = [max(len(str(row[column])) for row in table) for column in range(4)]
        for row in table:
            cells = (f"{cell!s:{width}}" for cell, width in zip(row, widths, strict=True))
            print("  ".join(cells).rstrip())
    return 0


def _parameters(tool: Tool) -> str:
    required = tool.schema.get("required", ())
    names = tool.schema["properties"]
    return " ".join(name if name in required else f"[{name}]" for name in names)


def _index(tools: Tools, words: Sequence[str], place: Placing) -> int:
    parser = _parser("index")
    parser.add_argument("file", help="a file that was read before")
    workspace = next(iter(tools.values())).workspace
    try:
        index = workspace.line_index(place(parser.parse_args(words).file))
        shape = Shape("bare", {key: key for key in index})
        outcome = Outcome("line index", data=index, shape=shape)
    except ToolError as error:
        outcome = Outcome.refused(error, Shape())
    show([("", outcome)], as_json=True)
    return 0 if outcome.ok else 1


def _completion(tools: Tools, words: Sequence[str], place: Placing) -> int:
    try:
        import shtab
    except ImportError:
        raise MissingDependency(
            "Completion scripts need shtab.", hint='Install "fsagent-tools[cli]".'
        ) from None
    parser = _parser("completion")
    parser.add_argument("shell", choices=shtab.SUPPORTED_SHELLS)
    shell = parser.parse_args(words).shell
    print(shtab.complete(all_commands(tools, parameters=True), shell))
    return 0


def _parser(name: str) -> Parser:
    return add_common(Parser(f"fsagent {name}", description=HELP[name]))


def _past(name: str, tools: Tools, words: Sequence[str], place: Placing) -> int:
    return past_command(name, next(iter(tools.values())).workspace, words, place)


EXTRAS: Mapping[str, Callable[[Tools, Sequence[str], Placing], int]] = {
    "tools": _listing,
    "index": _index,
    "completion": _completion,
    **{name: partial(_past, name) for name in HELP_OF_PAST},
}
