"""`fsagent`: every tool of a toolset as a command, built from the same table agents see."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from fsagent_tools.cli.commands import run_command
from fsagent_tools.cli.parsing import UsageError, common_options
from fsagent_tools.cli.terminal import complain
from fsagent_tools.errors import ToolError

__all__ = ["main"]
USAGE = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
CLOSED_PIPE = 141  # 128 + SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0; 1 for a refusal, and for a search without a match; 2 for wrong usage, and for a search that
    failed; 130 after Ctrl-C; 141 when nobody reads the output any more. `bash` ends as its command
    did (128 + N for signal N), with 124 at its time limit and with 125 when nothing was run.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # a stream of the host's own
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("fsagent: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the interpreter flushes once more when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    return code


def _run(argv: list[str]) -> int:
    as_json = "--json" in argv
    try:
        options, rest = common_options(argv)
        return run_command(options, rest)
    except UsageError as error:
        return complain(str(error), USAGE, as_json=as_json, usage=error.usage)
    except ToolError as error:
        return complain(str(error), USAGE, as_json=as_json)
