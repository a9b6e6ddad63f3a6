"""`fsagent`: every tool of a toolset as a command, built from the same table agents see."""

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from fsagent_tools.cli.commands import run_command
from fsagent_tools.cli.parsing import UsageError, common_options
from fsagent_tools.cli.terminal import complain
from fsagent_tools.errors import ToolError
from fsagent_tools.runtime.shadows import importing

__all__ = ["main"]
USAGE = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
CLOSED_PIPE = 141  # 128 + SIGPIPE
UNWRITTEN = 74  # EX_IOERR of sysexits
_STDERR = 2
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0; 1 for a refusal, and for a search without a match; 2 for wrong usage, and for a search that
    failed; 74 when the output cannot be written, 130 after Ctrl-C, 141 when nobody reads the output
    any more. `bash` ends as its command did (128 + N for signal N), with 124 at its time limit and
    with 125 when nothing was run.
    """
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # a stream of the host's own
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        try:
            code = _run(list(sys.argv[1:] if argv is None else argv))
        finally:  # a help ends with `SystemExit`
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("fsagent: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return CLOSED_PIPE
    except OSError as error:
        if error.errno not in _FULL:
            raise
        with suppress(OSError):  # there may be no room for this either
            print(f"fsagent: the output could not be written: {error.strerror}", file=sys.stderr)
        _drop_output()
        return UNWRITTEN
    return code


def _open_streams() -> None:
    """Nothing for those of the three that were closed, or a file opened next would be in its place
    and get what is printed.
    """
    while (fd := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(fd)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def _drop_output() -> None:
    """The interpreter flushes once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    with suppress(OSError):
        sys.stderr.flush()
        return
    os.dup2(nowhere, sys.stderr.fileno())


def _run(argv: list[str]) -> int:
    as_json = "--json" in argv
    try:
        with importing([os.curdir]):  # `python -m` looks for modules there
            options, rest = common_options(argv)
            return run_command(options, rest)
    except UsageError as error:
        return complain(str(error), USAGE, as_json=as_json, usage=error.usage)
    except ToolError as error:
        return complain(str(error), USAGE, as_json=as_json)
