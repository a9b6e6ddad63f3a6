"""Questions to whoever sits at the terminal."""

import sys
import termios
from contextlib import suppress
from threading import Lock

from fsagent_tools.gate.request import Request, Verdict
from fsagent_tools.text import escaped, tinted

_one_at_a_time = Lock()  # calls of one message run beside each other


def approve_at_terminal(request: Request) -> Verdict:
    """Show what would happen and ask: for `Workspace(approve=approve_at_terminal)`."""
    shown = request.diff or "\n".join(f"{k}: {v}" for k, v in request.arguments.items())
    return ask_at_terminal(shown, f"Allow {request.tool} {' '.join(request.paths)}".rstrip())


def ask_at_terminal(shown: str, question: str, more: str = "") -> Verdict:
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
        with suppress(termios.error, OSError, ValueError):  # keys that were pressed before it
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        offered = f"{escaped(question)}? [y/N{more}] or why not: "
        print(offered, end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline().strip()
    return {"y": True, "yes": True, "": False, "n": False, "no": False}.get(answer.lower(), answer)
