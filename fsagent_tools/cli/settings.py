"""The configuration on the command line: what applies, from where, and whether a file is right."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from fsagent_tools.config import Configuration, check_file, load
from fsagent_tools.errors import ToolError

_REFUSED = 1


def config_command(argv: Sequence[str], root: str, explicit: str | None) -> int:
    """`fsagent config show [--origin]` and `fsagent config check FILE`; exit code 1 for errors."""
    parser = argparse.ArgumentParser("fsagent config")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    show = commands.add_parser("show", help="print the settings that apply to the project")
    show.add_argument("--origin", action="store_true", help="say where each one comes from")
    checking = commands.add_parser("check", help="say what is wrong in a file")
    checking.add_argument("file")
    options = parser.parse_args(argv)
    try:
        if options.command == "check":
            check_file(options.file)
            print(f"{options.file}: fine")
        else:
            _show(load(root, explicit), origin=options.origin)
    except ToolError as error:
        print(error, file=sys.stderr)
        return _REFUSED
    return 0


def _show(configuration: Configuration, *, origin: bool) -> None:
    if not configuration.values:
        print("(nothing is configured: the defaults apply)")
    for key, value in configuration.values.items():
        source = f"    # {configuration.origins[key]}" if origin else ""
        print(f"{key}: {_shown(value)}{source}")


def _shown(value: Any) -> str:
    return repr(list(value) if isinstance(value, tuple) else value)
