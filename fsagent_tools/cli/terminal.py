"""Text on a terminal: answers, complaints, and questions to whoever sits there."""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fsagent_tools.approval import Request, Verdict
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.results import Outcome

COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
RESET = "\x1b[0m"
ERASE = "\r\x1b[K"
PATIENT = 1.0  # seconds until a command shows that it is at work


def show(outcomes: Sequence[tuple[str, Outcome]], *, as_json: bool) -> None:
    """Print answers; each behind its path when there are several."""
    if as_json:
        found = [outcome.to_dict() for _, outcome in outcomes]
        print(json.dumps(found if len(found) > 1 else found[0], indent=2, ensure_ascii=False))
        return
    for path, outcome in outcomes:
        stream = sys.stdout if outcome.ok else sys.stderr
        if path:
            print(f"==> {escaped(path)} <==", file=stream)
        print(_for(stream, outcome.text), file=stream)


def complain(message: str, code: int, *, as_json: bool, usage: str = "") -> int:
    """Print an error of usage or configuration; returns `code`."""
    if as_json:
        error = {"success": False, "error": message, "code": InvalidArguments.code}
        print(json.dumps(error, indent=2, ensure_ascii=False))
    else:
        print(*filter(None, [usage, f"fsagent: {message}"]), sep="\n", file=sys.stderr)
    return code


def approve(request: Request) -> Verdict:
    """Show what would happen and ask; anything but yes is a no. Nobody there is a no, too."""
    shown = request.diff or "\n".join(f"{k}: {v}" for k, v in request.arguments.items())
    text = escaped(shown)
    print(_coloured(text) if _wants_colour(sys.stderr) else text, file=sys.stderr)
    if not sys.stdin.isatty():
        return "nobody is at the terminal to ask"
    paths = escaped(" ".join(request.paths))
    print(
        f"Allow {request.tool} {paths}".rstrip() + "? [y/N] ", end="", file=sys.stderr, flush=True
    )
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@contextmanager
def progress(name: str, *, quiet: bool) -> Iterator[None]:
    """While the block runs for long, say so on a terminal's standard error."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    ticking = threading.Thread(target=_tick, args=(name, done), daemon=True)
    ticking.start()
    try:
        yield
    finally:
        done.set()
        ticking.join()


def _tick(name: str, done: threading.Event) -> None:
    began = time.monotonic()
    while not done.wait(PATIENT):
        seconds = time.monotonic() - began
        print(f"{ERASE}{name} … {seconds:.0f} s", end="", file=sys.stderr, flush=True)
    if time.monotonic() - began >= PATIENT:
        print(ERASE, end="", file=sys.stderr, flush=True)


def escaped(text: str) -> str:
    """Control characters spelled out, so that a text cannot paint over what stands around it."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


def _for(stream: Any, text: str) -> str:
    if not stream.isatty():
        return text
    text = escaped(text)
    return _coloured(text) if _wants_colour(stream) else text


def _wants_colour(stream: Any) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ


def _coloured(text: str) -> str:
    """Diff lines in the usual colours; the rest as it is."""
    if "\n@@ " not in text:
        return text
    lines = text.split("\n")
    return "\n".join(
        f"{COLOURS[line[0]]}{line}{RESET}" if line[:1] in COLOURS else line for line in lines
    )
