"""Questions to whoever sits at the terminal."""

import os
import sys
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fsagent_tools.gate.request import Request, Verdict

COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
RESET = "\x1b[0m"
_one_at_a_time = Lock()  # calls of one message run beside each other


def approve_at_terminal(request: "Request") -> "Verdict":
    """Show what would happen and ask: for `Workspace(approve=approve_at_terminal)`."""
    shown = request.diff or "\n".join(f"{k}: {v}" for k, v in request.arguments.items())
    return ask_at_terminal(shown, f"Allow {request.tool} {' '.join(request.paths)}".rstrip())


def ask_at_terminal(shown: str, question: str, more: str = "") -> "Verdict":
    """Ask a question at the terminal.

    Args:
        shown: What it is about; diffs are coloured.
        question: Without the question mark.
        more: Further answers that are offered, such as "/e to edit".

    Returns:
        True for yes, False for no, and any other answer as it was typed. If nobody is there, the
            text that says so.
    """
    with _one_at_a_time:
        print(tinted(shown, sys.stderr), file=sys.stderr)
        if not sys.stdin.isatty():
            return "nobody is at the terminal to ask"
        _forget_what_was_typed()
        offered = f"{escaped(question)}? [y/N{more}] or why not: "
        print(offered, end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline().strip()
    said = {"y": True, "yes": True, "": False, "n": False, "no": False}
    return said.get(answer.lower(), answer)


def _forget_what_was_typed() -> None:
    """Keys that were pressed before a question stood there are no answer to it."""
    try:
        import termios
    except ImportError:  # no POSIX terminal
        return
    with suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def escaped(text: str) -> str:
    """Control characters spelled out, so that a text cannot paint over what stands around it."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


def in_colour(stream: Any) -> bool:
    """Whether colours are wanted there: on a terminal, unless the environment has `NO_COLOR`."""
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR")


def tinted(text: str, stream: Any) -> str:
    """Escaped; on a terminal, diff lines in the usual colours."""
    text = escaped(text)
    if not in_colour(stream) or "\n@@ " not in text:
        return text
    lines = text.split("\n")
    return "\n".join(
        f"{COLOURS[line[0]]}{line}{RESET}" if line[:1] in COLOURS else line for line in lines
    )
