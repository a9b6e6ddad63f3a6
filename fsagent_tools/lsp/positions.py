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
        self._theirs = self._ours
        if "\r" in text:
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

    def offset(self, position: Any) -> int:
        """Into the text. Raises `ValueError` for what is not there, or inside a character."""
        number, size = int(position["line"]), int(position["character"]) * 2
        if not 0 <= number < len(self._theirs):
            raise ValueError(f"there is no line {number + 1}")
        head = self._line(number).encode("utf-16-le")[: max(size, 0)]
        if len(head) != size:
            raise ValueError(f"line {number + 1} has no such character")
        return self._theirs[number] + len(head.decode("utf-16-le"))

    def problem(self, raw: Any, source: str, root: Path) -> Problem:
        """A diagnostic of the protocol; `source` stands in for a missing one. Of the message, what
        only explains is left out, and so is the directory `root` before a path.
        """
        severity, code = raw.get("severity"), raw.get("code")
        known = isinstance(severity, int) and 1 <= severity <= len(SEVERITIES)
        message = _DETAILS.split(str(raw.get("message") or "(no message)").strip(), maxsplit=1)[0]
        message = message.replace(f"{root}/", "").strip()
        if len(message) > MAX_MESSAGE:
            message = f"{message[: MAX_MESSAGE - 1]}…"
        return Problem(
            *self._nearest(raw["range"]["start"]),
            SEVERITIES[severity - 1] if known else "error",
            message,
            str(raw.get("source") or source),
            "" if code in (None, 0) else str(code),
            self._nearest(raw["range"]["end"]),
        )

    def _nearest(self, position: Any) -> tuple[int, int]:
        """Line and character; what lies beyond a line or the text is moved to its end."""
        number = min(max(int(position["line"]), 0), len(self._theirs) - 1)
        units, line = max(int(position["character"]), 0), self._line(number)
        head = line.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")
        return self.counted(self._theirs[number] + len(head))

    def _line(self, number: int) -> str:
        """From 0, without its ending."""
        start, *after = self._theirs[number : number + 2]
        return self._text[start : after[0] if after else None].rstrip("\r\n")
