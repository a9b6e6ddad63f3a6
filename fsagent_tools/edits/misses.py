"""Why quoted text is not in a file, where it is a slip that models often make."""

import re

from fsagent_tools.edits.elision import elided
from fsagent_tools.text import unescaped

READ_PREFIX = re.compile(
    rb"^\s*(?:\[LID:[^\]\n]*\] ?|[0-9a-f]{3,8}\||(\d+)(?:\t|\||\xe2\x86\x92|: ))"
)
TOLD = 8  # bytes of new text that are too few to say that it is already there
DEFAULT = "Read the file again and quote the text exactly as it stands there."


def explanation(text: bytes, old: bytes, new: bytes) -> str:
    """One or two sentences on what to do about an `old` that was not found."""
    lines = [line for line in old.splitlines() if line.strip()]
    if lines and all(map(READ_PREFIX.match, lines)):
        return (
            "`old_string` has the prefixes that stand before lines when read: quote without them."
        )
    if line := elided(lines, ()):
        return f"`old_string` has a placeholder ({line!r}): quote every line, or fewer lines."
    bare = unescaped(old)
    if bare != old and bare in text:
        return (
            f"`old_string` has escapes written out, and without them it is {_at(text, bare)}: "
            "send real line ends, tabs and quotes."
        )
    if old.lower() in (lower := text.lower()):
        if old not in text:
            what = f"The same text in other case is {_at(lower, old.lower())}."
        else:
            what = f"It is a part of a line {_at(text, old)}: quote whole lines, as indented there."
        return what
    if len(new.strip()) >= TOLD and new in text:
        return f"`new_string` is already {_at(text, new)}: the edit may have been made before."
    return DEFAULT


def _at(text: bytes, found: bytes) -> str:
    line = text.count(b"\n", 0, text.find(found)) + 1
    return f"at line {line}"
