"""The configuration on the command line: what applies, from where, and whether a file is right."""

import json
from collections.abc import Sequence

from fsagent_tools.cli.parsing import CommonOptions, Parser
from fsagent_tools.cli.terminal import refuse
from fsagent_tools.errors import ToolError
from fsagent_tools.toolsets import toolset
from fsagent_tools.workspace import Workspace
from fsagent_tools.workspace.config import Configuration, check_file, load


def config_command(argv: Sequence[str], root: str, common: CommonOptions) -> int:
    """`fsagent config show [--origin]` and `fsagent config check FILE`; exit code 1 for errors."""
    parser = Parser("fsagent config", description="Show the settings in effect, or check a file.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    showing = commands.add_parser("show", help="print the settings in effect for the project")
    showing.add_argument("--origin", action="store_true", help="show where each one was set")
    checking = commands.add_parser("check", help="report what is wrong in a file")
    checking.add_argument("file")
    options = parser.parse_args(argv)
    try:
        if options.command == "check":
            _check(options.file, root, common.config)
            fine = {"success": True, "file": options.file}
            print(json.dumps(fine) if common.json else f"{options.file}: fine")
        else:
            _show(load(common.config), origin=options.origin, as_json=common.json)
    except ToolError as error:
        return refuse(error, as_json=common.json)
    return 0


def _check(file: str, root: str, explicit: str | None) -> None:
    """Raises `ToolError` for what would keep tools from being made."""
    values = check_file(file)
    name = values.get("toolset") or load(explicit).toolset
    toolset(name).bind(Workspace(root, **Configuration(values, {}).options))


def _show(configuration: Configuration, *, origin: bool, as_json: bool) -> None:
    values, origins = configuration.values, configuration.origins
    if as_json:
        with_origin = {
            key: {"value": value, "origin": origins[key]} for key, value in values.items()
        }
        print(json.dumps(with_origin if origin else dict(values), indent=2, default=str))
        return
    if not values:
        print("(nothing is configured: the defaults apply)")
    for key, value in values.items():
        shown = list(value) if isinstance(value, tuple) else value
        print(f"{key}: {shown!r}{f'    # {origins[key]}' * origin}")
