"""Positions of the protocol (line, UTF-8 or UTF-16 offset) as ours (line, character from 1)."""

import re
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path
from typing import Any

from fsagent_tools.problems import SEVERITIES, Problem

_LONGEST = 400  # characters of a message
_ASIDE = re.compile(  # what follows explains further
    r"\n[ \t]*+(?:info:|note:|help:|Looked in |\S+:\d+:\d+:|\S[^\n]*:\d+:\d+:\n)"
)
LINE_END = re.compile(r"\r\n|\r|\n")


class Positions:
    """One text. The protocol also ends a line at a lone carriage return, we do so only where it
    is the only line ending there is.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._text = text
        self._codec = "utf-8" if encoding == "utf-8" else "utf-16-le"
        self._width = 1 if encoding == "utf-8" else 2
        newline = "\r" if "\n" not in text else "\n"
        self._ours = [0, *accumulate(len(line) + 1 for line in text.split(newline))][:-1]
        self._theirs = self._ours
        if "\r" in text:
            self._theirs = [0, *(match.end() for match in LINE_END.finditer(text))]

    def at(self, position: Any) -> tuple[int, int]:
        """What lies beyond a line or the text is moved to its end."""
        number = min(max(int(position["line"]), 0), len(self._theirs) - 1)
        start, line = self._theirs[number], self._line(number)
        units = max(int(position["character"]), 0)
        if line.isascii():
            offset = start + min(units, len(line))
        else:
            head = line.encode(self._codec)[: units * self._width]
            offset = start + len(head.decode(self._codec, "ignore"))
        return self.counted(offset)

    def counted(self, offset: int) -> tuple[int, int]:
        """Line and character, from 1, of an offset into the text."""
        own = bisect_right(self._ours, offset)
        return own, offset - self._ours[own - 1] + 1

    def position(self, offset: int) -> dict[str, int]:
        """Of the protocol."""
        number = bisect_right(self._theirs, offset) - 1
        head = self._text[self._theirs[number] : offset].encode(self._codec)
        return {"line": number, "character": len(head) // self._width}

    def offset(self, position: Any) -> int:
        """Into the text. Raises `ValueError` for what is not there, or inside a character."""
        number, size = int(position["line"]), int(position["character"]) * self._width
        if not 0 <= number < len(self._theirs):
            raise ValueError(f"there is no line {number + 1}")
        head = self._line(number).encode(self._codec)[: max(size, 0)]
        if len(head) != size:
            raise ValueError(f"line {number + 1} has no such character")
        return self._theirs[number] + len(head.decode(self._codec))

    def _line(self, number: int) -> str:
        """From 0, without its ending."""
        start, *after = self._theirs[number : number + 2]
        return self._text[start : after[0] if after else None].rstrip("\r\n")

    def problem(self, raw: Any, source: str, root: Path) -> Problem:
        """A diagnostic of the protocol; `source` stands in for a missing one. Of the message, what
        only explains is left out, and so is the directory `root` before a path.
        """
        line, column = self.at(raw["range"]["start"])
        severity = raw.get("severity")
        known = isinstance(severity, int) and 1 <= severity <= len(SEVERITIES)
        code = raw.get("code")
        return Problem(
            line,
            column,
            SEVERITIES[severity - 1] if known else "error",
            _short(str(raw.get("message") or "(no message)"), str(root)),
            str(raw.get("source") or source),
            "" if code in (None, 0) else str(code),
            self.at(raw["range"]["end"]),
        )


def _short(message: str, root: str) -> str:
    said = _ASIDE.split(message.strip(), maxsplit=1)[0].replace(f"{root}/", "").strip()
    if len(root) > 1:  # that of the machine is a division, too
        said = re.sub(rf"(?<!\S){re.escape(root)}(?!\S)", ".", said)
    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"
