"""`fsagent`: every tool of a toolset as a command, built from the same table agents see."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from fsagent_tools.cli.settings import config_command, configured
from fsagent_tools.cli.terminal import approve, coloured, wants_colour
from fsagent_tools.errors import ToolError
from fsagent_tools.results import Outcome, Shape
from fsagent_tools.tokens import cost, definition
from fsagent_tools.tools import Tool
from fsagent_tools.toolsets import TOOLSETS, toolset

_REFUSED = 1
USAGE = 2
COMMON = ("toolset", "root", "json", "config", "approve")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Exit code 0, 1 for a refusal, 2 for wrong usage."""
    options, rest = _common().parse_known_args(argv)
    if rest[:1] == ["config"]:
        return config_command(rest[1:], options.root, options.config)
    try:
        configuration = configured(options.root, options.config)
        workspace = configuration.workspace(
            options.root, approve=approve if options.approve else None
        )
        tools = toolset(options.toolset or configuration.toolset).bind(workspace)
    except ToolError as error:
        print(f"fsagent: {error}", file=sys.stderr)
        return USAGE
    parsed = vars(_parser(tools).parse_args(argv))
    command = parsed.pop("command")
    for name in COMMON:
        parsed.pop(name, None)
    if command == "tools":
        print(_described(tools, parsed["schema"]))
        return 0
    if command == "index":
        return _show(_index(tools, parsed["file"]), as_json=True)
    given = {name: _value(value) for name, value in parsed.items() if value is not None}
    return _show(tools[command].call(given), as_json=options.json)


def _common(unset: str | None = None) -> argparse.ArgumentParser:
    """The options of every command; `unset` replaces their defaults."""
    parser = argparse.ArgumentParser(add_help=False, argument_default=unset)
    known = ", ".join(TOOLSETS)
    parser.add_argument("--toolset", default=unset, help=f"one of {known} (default: workspace)")
    parser.add_argument("--root", default=unset or ".", help="project directory (default: here)")
    parser.add_argument(
        "--json", action="store_true", default=unset or False, help="print the returned dict"
    )
    parser.add_argument("--config", default=unset, help="a configuration file that wins")
    parser.add_argument(
        "--approve", action="store_true", default=unset or False, help="ask before each change"
    )
    return parser


def _parser(tools: dict[str, Tool]) -> argparse.ArgumentParser:
    description = "Run one tool of fsagent_tools on a project."
    parser = argparse.ArgumentParser("fsagent", description=description, parents=[_common()])
    anywhere = _common(argparse.SUPPRESS)  # so that a command does not reset what stood before it
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for tool in tools.values():
        summary = tool.description.splitlines()[0].replace("%", "%%")
        command = commands.add_parser(
            tool.name, help=summary, description=summary, parents=[anywhere]
        )
        _add_arguments(command, tool)
    listing = commands.add_parser(
        "tools", help="list the tools, their parameters and their cost", parents=[anywhere]
    )
    listing.add_argument("--schema", choices=("openai", "json"), help="print the schemas instead")
    commands.add_parser("config", help="show the settings that apply, or check a file of them")
    index = commands.add_parser("index", help="print the line index of a file", parents=[anywhere])
    index.add_argument("file")
    return parser


def _add_arguments(parser: argparse.ArgumentParser, tool: Tool) -> None:
    required = tool.schema.get("required", ())
    for name, spec in tool.schema["properties"].items():
        text = str(spec.get("description", "")).replace("%", "%%")
        if name in required:
            parser.add_argument(name, help=f"{text} (- reads standard input)")
        else:
            parser.add_argument(f"--{name.replace('_', '-')}", dest=name, help=text)


def _value(text: str) -> str:
    return sys.stdin.read() if text == "-" else text


def _show(outcome: Outcome, *, as_json: bool) -> int:
    stream = sys.stdout if outcome.ok else sys.stderr
    if as_json:
        print(json.dumps(outcome.to_dict(), indent=2, ensure_ascii=False))
    else:
        print(coloured(outcome.text) if wants_colour(stream) else outcome.text, file=stream)
    return 0 if outcome.ok else _REFUSED


def _index(tools: dict[str, Tool], path: str) -> Outcome:
    workspace = next(iter(tools.values())).workspace
    try:
        index = workspace.line_index(path)
    except ToolError as error:
        return Outcome.refused(error, Shape())
    return Outcome("line index", data=index, shape=Shape("bare", {key: key for key in index}))


def _described(tools: dict[str, Tool], schema: str | None) -> str:
    if schema == "openai":
        return json.dumps(
            [{"type": "function", "function": _function(t)} for t in tools.values()], indent=2
        )
    if schema == "json":
        return json.dumps({tool.name: tool.schema for tool in tools.values()}, indent=2)
    rows = [("TOOL", "PARAMETERS", "EFFECT", "TOKENS")]
    costs = cost(map(definition, tools.values()))
    for tool in tools.values():
        rows.append((tool.name, _parameters(tool), tool.effect.value, str(costs[tool.name])))
    rows.append(("", "", "", str(sum(costs.values()))))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _parameters(tool: Tool) -> str:
    required = tool.schema.get("required", ())
    names = tool.schema["properties"]
    return " ".join(name if name in required else f"[{name}]" for name in names)


def _function(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.schema}
