"""Text on a terminal: colours, and questions to whoever sits there."""

import os
import sys
from typing import Any

from fsagent_tools.approval import Request, Verdict

COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
RESET = "\x1b[0m"


def approve(request: Request) -> Verdict:
    """Show what would happen and ask; anything but yes is a no. Nobody there is a no, too."""
    shown = request.diff or "\n".join(f"{k}: {v}" for k, v in request.arguments.items())
    text = _visible(shown)
    print(coloured(text) if wants_colour(sys.stderr) else text, file=sys.stderr)
    if not sys.stdin.isatty():
        return "nobody is at the terminal to ask"
    paths = _visible(" ".join(request.paths))
    print(
        f"Allow {request.tool} {paths}".rstrip() + "? [y/N] ", end="", file=sys.stderr, flush=True
    )
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def wants_colour(stream: Any) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ


def coloured(text: str) -> str:
    """Diff lines in the usual colours; the rest as it is."""
    if "\n@@ " not in text:
        return text
    lines = text.split("\n")
    return "\n".join(
        f"{COLOURS[line[0]]}{line}{RESET}" if line[:1] in COLOURS else line for line in lines
    )


def _visible(text: str) -> str:
    """Control characters spelled out, so that a text cannot paint over what is asked."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
