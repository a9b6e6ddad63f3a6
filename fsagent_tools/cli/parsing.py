"""From the table of tools to argparse: common options, one parser for each command."""

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, get_args, get_origin

from fsagent_tools.toolkit.params import bare_type
from fsagent_tools.toolkit.toolset import Tool
from fsagent_tools.toolsets import TOOLSETS
from fsagent_tools.workspace.config import DEFAULT_TOOLSET

PATH = "path"  # the field that `ls`, `glob` and `grep` take as a last, optional word
REPEATED = ("read", "grep")  # actions that the command line runs once for each path
_LETTERS = {  # action -> parameter -> the letter that rg or ls has for it
    "grep": {
        **{"after": "-A", "before": "-B", "context": "-C", "fixed": "-F", "include": "-g"},
        **{"recursive": "-r", "type": "-t"},
    },
    "ls": {"include_hidden": "-a", "recursive": "-R", "sizes": "-l"},
    "rm": {"recursive": "-r"},
}
_SETTINGS = {  # action -> letter -> the parameter that it sets, to what, and its help
    "grep": {
        "-i": ("case_sensitive", False, "Ignore case"),
        "-l": ("output_mode", "files_with_matches", "Only the names of files"),
        "-c": ("output_mode", "count", "Number of matching lines per file"),
        "-n": ("", None, "No effect: lines are always numbered"),
    }
}
_WORD = "\0"  # before a word that was typed behind `--`; no argument of a program has it
DEST = "arg_"  # before the names of parameters, so that none meets one of argparse's own


class UsageError(Exception):
    """Wrong words on the command line; `usage` is that of the command they were meant for."""

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.usage = usage


class Parser(argparse.ArgumentParser):
    """Raises instead of exiting, so that a usage error can be told as JSON, too."""

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments"):
            message = f"{message}; see `{self.prog} --help`"
        raise UsageError(message.replace(_WORD, ""), self.format_usage().rstrip())

    def print_help(self, file: Any = None) -> None:
        """argparse passes over what cannot be written."""
        print(self.format_help(), end="", file=file)


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
    group = parser.add_argument_group("options of every command")
    group.add_argument(
        "--toolset", help=f"one of {', '.join(TOOLSETS)} (default: {DEFAULT_TOOLSET})"
    )
    group.add_argument("--root", help="project directory (default: the nearest parent project)")
    group.add_argument("--config", help="configuration file that overrides the others")
    group.add_argument("--json", action="store_true", help="print the result as JSON")
    group.add_argument("--approve", action="store_true", help="ask before each change")
    group.add_argument("--version", action="store_true", help="print the version")
    return parser


def no_options(words: Sequence[str]) -> list[str]:
    """`words` in which none behind `--` looks like an option: argparse loses those."""
    words = list(words)
    end = words.index("--") if "--" in words else len(words)
    return words[:end] + [f"{_WORD}{word}" for word in words[end + 1 :]]


def as_word(value: Any) -> Any:
    """The value, or values, of an argument that `no_options` may have marked."""
    if isinstance(value, list):
        return [as_word(one) for one in value]
    return value.removeprefix(_WORD) if isinstance(value, str) else value


def every_parameter(tool: Tool) -> Tool:
    """The tool with its hidden parameters shown, but for those that the toolset has set."""
    entry = tool.entry
    if entry.commands:
        return tool
    free = [name for name in entry.action.params.model_fields if name not in entry.pin]
    return Tool(entry.showing(free), tool.workspace)


def add_parameters(parser: Parser, tool: Tool) -> Parser:
    """Required parameters and the path of a search as words, all others as options."""
    whole = every_parameter(tool)
    tuning = parser.add_argument_group("not shown to models")
    words, letters = [], _LETTERS.get(tool.entry.action_name, {})
    for name, field in sorted(whole.visible.items(), key=lambda p: not p[1].is_required()):
        text = (field.description or "").replace("%", "%%")
        if field.is_required() or is_path(tool, name):
            count = _count(tool, name, field.is_required())
            parser.add_argument(
                f"{DEST}{name}", metavar=name.upper(), help=text, nargs=count, default=None
            )  # a default: argparse would name one of any number as missing
            words.append(_word(name, count))
        else:
            group = parser if name in tool.visible else tuning
            letter = letters.get(tool.entry.rename.get(name, name))
            flags = [*filter(None, [letter]), f"--{name.replace('_', '-')}"]
            group.add_argument(
                *flags, dest=f"{DEST}{name}", help=text, **_kind(name, bare_type(field))
            )
    _add_settings(parser, whole)
    parser.usage = " ".join([parser.prog, *words, "[OPTION ...]"])
    return add_common(parser)


def _add_settings(parser: Parser, whole: Tool) -> None:
    """The letters that set a parameter of this surface."""
    shown = {whole.entry.rename.get(name, name): name for name in whole.visible} | {"": ""}
    for letter, (field, value, text) in _SETTINGS.get(whole.entry.action_name, {}).items():
        if field in shown:
            dest = f"{DEST}{shown[field]}"
            parser.add_argument(letter, action="store_const", const=value, dest=dest, help=text)


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


def _kind(name: str, kind: Any) -> dict[str, Any]:
    """How an option's text becomes a value."""
    if kind is bool:
        return {"action": argparse.BooleanOptionalAction}
    if get_origin(kind) is Literal:
        choices = {str(value): value for value in get_args(kind)}
        return {"type": lambda text: choices.get(text, text), "metavar": f"{{{','.join(choices)}}}"}
    if kind is int:
        return {"type": _number, "metavar": name.upper()}
    if get_origin(kind) not in (list, tuple, dict):
        return {"metavar": name.upper()}

    def read(text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return text if get_origin(kind) is dict else [text]

    return {"type": read, "metavar": "JSON"}


def positive(text: str) -> int:
    """How many, as an option's text says it."""
    if re.fullmatch("0*[1-9][0-9]{0,17}", text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _number(text: str) -> int | str:
    """The tool refuses what is no number."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else text
