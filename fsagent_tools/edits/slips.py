"""Why quoted text is not in a file, where it is a slip that models often make."""

import re
from collections.abc import Callable

from fsagent_tools.edits.haystack import split_lines
from fsagent_tools.edits.placeholders import elided
from fsagent_tools.text import unescaped

READ_PREFIX = re.compile(
    rb"^\s*(?:\[LID:[^\]\n]*\] ?|[0-9a-f]{3,8}\||(\d+)(?:\t|\||\xe2\x86\x92|: ))"
)
TOLD = 8  # bytes of new text that are too few to say that it is already there
DEFAULT = "Read the file again and quote the text exactly as it stands there."


def explanation(text: bytes, old: bytes, new: bytes) -> str:
    """One or two sentences on what to do about an `old` that was not found."""
    lines = [line for line in split_lines(old) if line.strip()]
    if lines and all(map(READ_PREFIX.match, lines)):
        return (
            "`old_string` has the prefixes that stand before lines when read: quote without them."
        )
    if line := elided(old.decode(), ""):
        return f"`old_string` has a placeholder ({line!r}): quote every line, or fewer lines."
    bare = unescaped(old)
    if bare != old and bare in text:
        return (
            f"`old_string` has escapes written out, and without them it is {_at(text, bare)}: "
            "send real line ends, tabs and quotes."
        )
    if old.lower() in (lower := text.lower()):
        return f"The same text in other case is {_at(lower, old.lower())}."
    if len(new.strip()) >= TOLD and new in text:
        return f"`new_string` is already {_at(text, new)}: the edit may have been made before."
    return DEFAULT


def numbered_as_read(new: bytes, above: Callable[[], int], old: bytes) -> bool:
    """Whether every line sent has a tag, or the numbers of lines in a row, that `old` lacks.

    A single number has to be that of the line where the text goes; `above` counts those above it.
    """
    prefixes = [READ_PREFIX.match(text) for text in split_lines(new) if text.strip()]
    if None in prefixes or not prefixes or any(map(READ_PREFIX.match, split_lines(old))):
        return False
    numbers = [int(prefix[1] or -1) for prefix in prefixes if prefix]
    first = numbers[0]
    if first < 0 or (len(numbers) == 1 and first != above() + 1):
        return first < 0 and all(prefix and b"LID:" in prefix[0] for prefix in prefixes)
    return numbers == [*range(first, first + len(numbers))]


def _at(text: bytes, found: bytes) -> str:
    line = text.count(b"\n", 0, text.find(found)) + 1
    return f"at line {line}"
