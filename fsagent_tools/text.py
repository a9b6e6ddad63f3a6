"""Text as it is shown: clipped, quoted, with the part that matters."""

import os
import re
from collections.abc import Sequence
from typing import Any

NOTEBOOK = ".ipynb"  # the name of a text that is read as cells
EXCERPT = 200  # characters of a longer line that are shown around a hit or a change
MAX_LINE_CHARS = 2000  # of one line shown; the limit of the file-operations reference
COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}  # of a diff at a terminal
RESET = "\x1b[0m"


def newline_of(utf8: bytes) -> bytes:
    r"""What ends a line: `\n` (also for `\r\n`), or `\r` in a file that has no `\n` at all."""
    return b"\r" if b"\n" not in utf8 and b"\r" in utf8 else b"\n"


def clip(text: str, limit: int, beyond: int = 0) -> str:
    """At most `limit` characters, saying how many are hidden; `beyond` is not even in `text`."""
    more = len(text) - limit + beyond
    return text if more <= 0 else f"{text[:limit]}… [{more:,} more characters]"


def excerpt(text: str, at: int, before: int = 0, total: int = 0) -> str:
    """The `EXCERPT` characters around character `at` of a line, and its column, from 1.

    before: characters of the line before `text`. total: of the whole line, if that is more.
    """
    at = min(at, max(total, before + len(text)) - 1)
    start = max(0, at - before - EXCERPT // 2)
    part = text[start : start + EXCERPT]
    more = (before + start > 0, before + start + len(part) < max(total, before + len(text)))
    return f"[column {at + 1:,}] {'…' * more[0]}{part}{'…' * more[1]}"


def changed_part(old: str, new: str) -> tuple[str, str]:
    """Two lines, a long one as what is around the first character that differs."""
    same, end = 0, min(len(old), len(new))
    while same < end:
        middle = (same + end + 1) // 2
        same, end = (middle, end) if old[same:middle] == new[same:middle] else (same, middle - 1)
    shown = (excerpt(line, same) if len(line) > MAX_LINE_CHARS else line for line in (old, new))
    before, after = shown
    return before, after


def first_lines(text: str, most: int, widest: int, rest: str) -> str:
    """At most so many lines, clipped; `rest` follows the number of the others."""
    lines = text.split("\n")
    shown = [clip(line, widest) for line in lines[:most]]
    if more := len(lines) - len(shown):
        shown.append(f"({more:,} more lines{rest})")
    return "\n".join(shown)


def some(names: Sequence[str], most: int) -> str:
    """The first `most` of them, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def unclipped(quote: str) -> str:
    """What `clip` left of a text, without what it says of the rest."""
    return re.sub(r"… \[[\d,]+ more characters\]\s*$", "", quote)


def unescaped(text: bytes) -> bytes:
    """`text` without the escapes written out in it, as `\\n` for the end of a line."""
    if b"\\" not in text:
        return text
    signs = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
    return re.sub(rb"\\([nrt\"'`\\])", lambda m: signs.get(m[1], m[1]), text)


def in_quotes(text: str) -> str:
    """In quotes, with nothing escaped: a model copies what it sees."""
    return f'"{text}"' if "'" in text and '"' not in text else f"'{text}'"


def shorten(text: str, limit: int) -> str:
    """`text` on one line, at most `limit` characters, the last a "…" where some are missing."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


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
