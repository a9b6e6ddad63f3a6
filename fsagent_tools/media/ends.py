"""Why the process that read a document ended without an answer, by its exit code."""

import signal

from fsagent_tools.errors import ReadFailed, TooLarge, ToolError
from fsagent_tools.media.child import NO_MEMORY, NO_ROOM

MEMORY = 400  # MB of address space
SECONDS = 5  # of computing
MOST_SAID = 16 << 20  # bytes of an answer
LOST = 255  # told by no process: the one that forks was ended
_TOO_LONG = {-9, -24}  # SIGKILL, and SIGXCPU where the system warns first
_ABORTED = {-4, -5, -6}  # what compiled libraries do when there is no more memory
_PAGES = "Of a PDF, ask for single `pages`; of HTML, for `format`='html'."


def ended(code: int, seconds: int = SECONDS) -> ToolError:
    """seconds: of computing that it had."""
    if code in _TOO_LONG:
        return _too_large(f"takes more than {seconds} s of computing")
    if code == NO_MEMORY:
        return _too_large(f"takes more than {MEMORY} MB of memory")
    if code == NO_ROOM:
        return _too_large(f"holds more than {MOST_SAID >> 20} MB of text")
    if code in _ABORTED:
        return _too_large(
            f"made its reader give up ({_name(code)}), as it does when {MEMORY} MB of memory are "
            "used up"
        )
    if code < 0:
        return ReadFailed(
            f"The document made its reader crash ({_name(code)}); it was not read.",
            hint="It is damaged, nested too deeply, or made to do this.",
        )
    return ReadFailed(f"The document's reader ended without an answer ({code}).", hint="Try again.")


def _too_large(what: str) -> TooLarge:
    return TooLarge(f"The document {what}; it was not read.", hint=_PAGES)


def _name(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
