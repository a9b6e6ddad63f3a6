"""Text on a terminal: answers, complaints, progress."""

import json
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fsagent_tools.call import emitting
from fsagent_tools.errors import InvalidArguments, ToolError
from fsagent_tools.results import Outcome, Shape
from fsagent_tools.text import RESET, escaped, in_colour, tinted

ERASE = "\r\x1b[K"
UNWRAPPED, WRAPPED = "\x1b[?7l", "\x1b[?7h"  # what is wider than the terminal stays in one row
LAST = 500  # characters of output that are kept for it
REFUSED = 1
_SEARCHES = ("grep", "glob", "ls")
PATIENT = 1.0  # seconds until a command shows that it is at work
_PAINT = {  # action -> what is coloured, and how: paths and numbers as rg has them, folders as ls
    "grep": (
        (r"^(?!\d+[ :])([^\n]+?)([:-])(\d+)(?=\2)", f"\x1b[35m\\1{RESET}\\2\x1b[32m\\3{RESET}"),
        (r"^(?!\d+[ :]).+(?=\n\d+[ :])", f"\x1b[35m\\g<0>{RESET}"),
        (r"^\d+(?=[ :])", f"\x1b[32m\\g<0>{RESET}"),
    ),
    "ls": ((r"^.+/$", f"\x1b[34m\\g<0>{RESET}"),),
    "read": ((r"^(?:\[LID:\w+\]|[a-z]{3}(?:\.[a-z]{3})*(?=\t))", f"\x1b[2m\\g<0>{RESET}"),),
}


def show(outcomes: Sequence[tuple[str, Outcome]], *, as_json: bool, action: str = "") -> None:
    """Print the answers of an action; each behind its path when there are several.

    That nothing was found is said on standard error, so that a pipe gets paths and lines alone.
    """
    if as_json:
        found = [outcome.to_dict() for _, outcome in outcomes]
        print(json.dumps(found if len(found) > 1 else found[0], indent=2, ensure_ascii=False))
        return
    for path, outcome in outcomes:
        empty = action in _SEARCHES and not outcome.data.get("count")
        stream = sys.stdout if outcome.ok and not empty else sys.stderr
        if path:
            print(f"==> {escaped(path)} <==", file=stream)
        print(_for(stream, outcome.text, action), file=stream)


def refuse(error: ToolError, *, as_json: bool) -> int:
    """Print what a command refused that is no tool; returns the exit code."""
    if as_json:
        show([("", Outcome.refused(error, Shape()))], as_json=True)
    else:
        print(escaped(str(error)), file=sys.stderr)
    return REFUSED


def complain(message: str, code: int, *, as_json: bool, usage: str = "") -> int:
    """Print an error of usage or configuration; returns `code`."""
    if as_json:
        error = {"success": False, "error": message, "code": InvalidArguments.code}
        print(json.dumps(error, indent=2, ensure_ascii=False))
    else:
        print(*filter(None, [usage, f"fsagent: {message}"]), sep="\n", file=sys.stderr)
    return code


@contextmanager
def progress(name: str, *, quiet: bool) -> Iterator[None]:
    """While the block runs for long, say so on a terminal's standard error, with the last line of
    live output.
    """
    if quiet or not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    heard: deque[str] = deque(maxlen=LAST)
    ticking = threading.Thread(target=_tick, args=(name, heard, done), daemon=True)
    ticking.start()
    try:
        with emitting(heard.extend):
            yield
    finally:
        done.set()
        ticking.join()


def _tick(name: str, heard: deque[str], done: threading.Event) -> None:
    began = time.monotonic()
    while not done.wait(PATIENT):
        last = "".join(heard.copy()).rstrip().rpartition("\n")[2]
        said = f"{name} … {time.monotonic() - began:.0f} s  {escaped(last)}".rstrip()
        print(f"{ERASE}{UNWRAPPED}{said}{WRAPPED}", end="", file=sys.stderr, flush=True)
    if time.monotonic() - began >= PATIENT:
        print(ERASE, end="", file=sys.stderr, flush=True)


def _for(stream: Any, text: str, action: str) -> str:
    if not stream.isatty():
        return text
    if action not in _PAINT or not in_colour(stream):
        return tinted(text, stream)
    text = escaped(text)
    for what, how in _PAINT[action]:
        text = re.sub(what, how, text, flags=re.MULTILINE)
    return text
