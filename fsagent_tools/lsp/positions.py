"""Positions of the protocol (line, UTF-16 offset) as ours (line, character from 1)."""

import re
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path
from typing import Any

from fsagent_tools.problems import SEVERITIES, Problem

MAX_MESSAGE = 400  # characters
_DETAILS = re.compile(  # what follows explains further
    r"\n[ \t]*+(?:info:|note:|help:|Looked in |\S+:\d+:\d+:|\S[^\n]*:\d+:\d+:\n)"
)
_LINE_END = re.compile(r"\r\n|\r|\n")


class Positions:
    """One text. The protocol also ends a line at a lone carriage return, we do so only where it
    is the only line ending there is.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        newline = "\r" if "\n" not in text else "\n"
        self._ours = [0, *accumulate(len(line) + 1 for line in text.split(newline))][:-1]
        self._theirs = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def counted(self, offset: int) -> tuple[int, int]:
        """Line and character, from 1, of an offset into the text."""
        line = bisect_right(self._ours, offset)
        return line, offset - self._ours[line - 1] + 1

    def position(self, offset: int) -> dict[str, int]:
        """Of the protocol."""
        line = bisect_right(self._theirs, offset) - 1
        head = self._text[self._theirs[line] : offset]
        return {"line": line, "character": len(head.encode("utf-16-le")) // 2}

    def nearest(self, position: Any) -> int:
        """An offset; what lies beyond a line or the text is moved to its end."""
        number = min(max(int(position["line"]), 0), len(self._theirs) - 1)
        start, *after = self._theirs[number : number + 2]
        line = self._text[start : after[0] if after else None].rstrip("\r\n")
        units = line.encode("utf-16-le")[: 2 * max(int(position["character"]), 0)]
        return start + len(units.decode("utf-16-le", "ignore"))

    def offset(self, position: Any) -> int:
        """The same. Raises `ValueError` for what is not there, or inside a character."""
        offset = self.nearest(position)
        if self.position(offset) != {key: position[key] for key in ("line", "character")}:
            raise ValueError("there is no such place")
        return offset

    def problem(self, raw: Any, source: str, root: Path) -> Problem:
        """A diagnostic of the protocol; `source` stands in for a missing one. Of the message, what
        only explains is left out, and so is the directory `root` before a path.
        """
        severity, code = raw.get("severity"), raw.get("code")
        is_known = isinstance(severity, int) and 1 <= severity <= len(SEVERITIES)
        message = _DETAILS.split(str(raw.get("message") or "(no message)").strip(), maxsplit=1)[0]
        message = message.replace(f"{root}/", "").strip()
        start, end = (self.counted(self.nearest(raw["range"][key])) for key in ("start", "end"))
        return Problem(
            *start,
            SEVERITIES[severity - 1] if is_known else "error",
            message if len(message) <= MAX_MESSAGE else f"{message[: MAX_MESSAGE - 1]}…",
            str(raw.get("source") or source),
            "" if code in (None, 0) else str(code),
            end,
        )
