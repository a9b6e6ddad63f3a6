"""`fsagent report LOG`: the page of an event log."""

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from fsagent_tools.cli.parsing import Parser
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.services import lazy


def report_command(words: Sequence[str]) -> int:
    """Write the page, to standard output or as a file that its owner alone can read.

    Raises `ToolError` for a log that is none, and for a file that cannot be written.
    """
    parser = Parser("fsagent report", description="Make one HTML page of an event log.")
    parser.add_argument("log", metavar="LOG", help="a file that `EventLog(path)` wrote")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    parser.add_argument("--title", help="title of the page (default: the name of the log)")
    given = parser.parse_args(words)
    records, unread = lazy.report.read_log(given.log)
    title = Path(given.log).stem if given.title is None else given.title
    page = lazy.report.html_report(records, title=title, unread=unread)
    if given.output is None:
        sys.stdout.write(page)
        return 0
    try:
        fd = os.open(given.output, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(fd, "wb") as file:
            if os.path.samestat(os.fstat(fd), Path(given.log).stat()):
                raise InvalidArguments(f"{given.output} is the log itself.")
            if stat.S_ISREG(os.fstat(fd).st_mode):
                os.fchmod(fd, 0o600)
                os.ftruncate(fd, 0)
            file.write(page.encode())
    except OSError as error:
        raise InvalidArguments(f"{given.output} cannot be written: {error.strerror}.") from None
    return 0
