"""From the table of tools to argparse: common options, one parser for each command."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from fsagent_tools.tools import Tool
from fsagent_tools.toolsets import TOOLSETS

PATH = "path"  # the field that `ls`, `glob` and `grep` take as a last, optional word
REPEATED = ("read", "grep")  # actions that the command line runs once for each path
SHORT = {"context": "-C"}
DEST = "arg_"  # before the names of parameters, so that none meets one of argparse's own


class UsageError(Exception):
    """Wrong words on the command line; `usage` is that of the command they were meant for."""

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.usage = usage


class Parser(argparse.ArgumentParser):
    """Raises instead of exiting, so that a usage error can be told as JSON, too."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.format_usage().rstrip())


@dataclass(frozen=True)
class CommonOptions:
    """What every command takes. root: None for the nearest project above."""

    toolset: str | None = None
    root: str | None = None
    config: str | None = None
    json: bool = False
    approve: bool = False
    version: bool = False


def common_options(argv: Sequence[str]) -> tuple[CommonOptions, list[str]]:
    """The options of every command, wherever they stand before `--`, and the other words."""
    words = list(argv)
    end = words.index("--") if "--" in words else len(words)
    parser = add_common(Parser("fsagent", add_help=False, allow_abbrev=False))
    found, rest = parser.parse_known_args(words[:end])
    return CommonOptions(**vars(found)), rest + words[end:]


def add_common(parser: Parser) -> Parser:
    """With the options of every command, which `common_options` has read already."""
    group = parser.add_argument_group("with every command")
    group.add_argument("--toolset", help=f"one of {', '.join(TOOLSETS)} (default: workspace)")
    group.add_argument("--root", help="project directory (default: the nearest one above)")
    group.add_argument("--config", help="a configuration file that wins")
    group.add_argument("--json", action="store_true", help="print the returned dict")
    group.add_argument("--approve", action="store_true", help="ask before each change")
    group.add_argument("--version", action="store_true", help="print the version")
    return parser


def every_parameter(tool: Tool) -> Tool:
    """The tool with its hidden parameters shown, but for those that the toolset has set."""
    entry = tool.entry
    free = [name for name in entry.action.params.model_fields if name not in entry.pin]
    return Tool(entry.showing(free), tool.workspace)


def add_parameters(parser: Parser, tool: Tool) -> Parser:
    """Required parameters and the path of a search as words, all others as options."""
    whole = every_parameter(tool)
    required = tool.schema.get("required", ())
    tuning = parser.add_argument_group("not shown to models")
    words = []
    for name, spec in sorted(
        whole.schema["properties"].items(), key=lambda p: p[0] not in required
    ):
        text = str(spec.get("description", "")).replace("%", "%%")
        if name in required or is_path(tool, name):
            count = _count(tool, name, name in required)
            parser.add_argument(f"{DEST}{name}", metavar=name.upper(), help=text, nargs=count)
            words.append(_word(name, count))
        else:
            group = parser if name in tool.schema["properties"] else tuning
            flags = [*filter(None, [SHORT.get(name)]), f"--{name.replace('_', '-')}"]
            group.add_argument(*flags, dest=f"{DEST}{name}", help=text, **_kind(name, spec))
    parser.usage = " ".join([parser.prog, *words, "[OPTION ...]"])
    return add_common(parser)


def headline(tool: Tool) -> str:
    """The first line of the tool's description, as argparse takes it."""
    return tool.description.splitlines()[0].replace("%", "%%")


def is_path(tool: Tool, name: str) -> bool:
    """Whether the parameter is the path that a search or a listing starts from."""
    return tool.entry.rename.get(name, name) == PATH


def _count(tool: Tool, name: str, required: bool) -> str | None:
    if is_path(tool, name) and tool.entry.action_name in REPEATED:
        return "+" if required else "*"
    return None if required else "?"


def _word(name: str, count: str | None) -> str:
    forms = {"+": "{0} ...", "*": "[{0} ...]", "?": "[{0}]", None: "{0}"}
    return forms[count].format(name.upper())


def _kind(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """How an option's text becomes a value; numbers are left to the tool."""
    if spec.get("type") == "boolean":
        return {"action": argparse.BooleanOptionalAction}
    if spec.get("type") not in ("array", "object"):
        return {"metavar": name.upper()}

    def read(text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return [text] if spec["type"] == "array" else text

    return {"type": read, "metavar": "JSON"}
