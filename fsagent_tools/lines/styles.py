"""How line IDs look before their lines, and how they are read back from what a model typed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from struct import unpack
from typing import Literal

from fsagent_tools.lines.ids import WIDTH, IdSet, mint
from fsagent_tools.lines.source import Window
from fsagent_tools.lines.words import id_of, mint_words, word_marks, word_of

StyleName = Literal["tag", "words"]
_HEX = r"[0-9a-fA-F]{6}(?![0-9a-fA-F])"
_WORD = r"[a-zA-Z]{3}(?:\.[a-zA-Z]{3})*(?![\w.])"
_BEFORE = r"\s*(?:\d+\s+)?[+`'\"]?\s*\[?\s*(?:LID:)?\s*"
_BEHIND = r"(?:\]:?|\||:(?=\s|$)|[`'\"](?=\s|$)|(?=\s)|$)(.*)"
_NAMED = re.compile(rf"{_BEFORE}([\w.]+){_BEHIND}", re.S)


@dataclass(frozen=True)
class Typed:
    """What a model typed for an ID, and what it quoted of the text that begins there.

    line_id: the one that it stands for, None where it has not the shape of one.
    """

    name: str
    quote: str
    line_id: str | None


@dataclass(frozen=True)
class Style:
    """How an ID stands before its line: `before` and `after` it, in a label and `ends` it."""

    name: StyleName
    before: str = ""
    after: str = "|"
    ends: str = ""

    shape = "6 hex digits such as a3f2c1"
    quoted = False  # whether the first words of its line must follow an ID
    _typed = re.compile(rf"{_BEFORE}({_HEX}){_BEHIND}", re.S)
    _echo = re.compile(r"[ +]?\[?(?:LID:)?([0-9a-f]{6})(?:\] ?|[| \t])")  # half a prefix, too

    @property
    def widest(self) -> int:
        """Bytes of a mark, at most."""
        return len(self.before) + WIDTH + len(self.after)

    def mint(self, window: Window, used: IdSet, name: str = "") -> str:
        """Fresh IDs, in one string, for the lines of `window`; `used` receives them.

        name: of the file; words take it in, digits are those of their document.
        """
        return mint(window.start + 1, window.lines, used)

    def lines(self, ids: str, text: bytes) -> str:
        r"""UTF-8 text with `\n` between its lines as a model sees it, and one ID for each line."""
        if not ids:
            return ""
        mark, values = self._marks(ids)
        form = mark + text.replace(b"%", b"%%").replace(b"\n", b"\n" + mark)
        shown = form % tuple(values)
        return shown.decode(errors="replace")  # only a window of a huge file may be no UTF-8

    def label(self, line_id: str) -> str:
        """The ID, as `spelled`, inside another format (`file:42:[LID:a3f2c1]:text`)."""
        return f"{self.before}{line_id}{self.ends}"

    def line(self, line_id: str, text: str) -> str:
        """One line behind its ID, as `spelled`."""
        return f"{self.before}{line_id}{self.after}{text}"

    def spelled(self, line_id: str) -> str:
        """The ID as a model names it; "" where the style gives that line no mark."""
        return line_id

    def parse(self, typed: str) -> Typed:
        """`a3f2c1`, `LID:a3f2c1`, `[LID:a3f2c1]`, also with text of the line behind it."""
        match, line_id = self._typed.match(typed), None
        if match:
            line_id = self._read(match[1])
        elif not (match := _NAMED.match(typed)):
            return Typed("", "", None)
        return Typed(match[1].lower(), match[2].strip(), line_id)

    def strip_echo(self, line: str, known: IdSet) -> str | None:
        """`line` without a read prefix whose ID this file knows; None without such a prefix."""
        match = self._echo.match(line)
        line_id = match and self._read(match[1])
        return line[match.end() :] if match and line_id and line_id in known else None

    def is_marked(self, line: str, known: IdSet) -> bool:
        """Whether `line` may begin with an ID of this file that `strip_echo` leaves there."""
        return False

    def _read(self, typed: str) -> str | None:
        return typed.lower()

    def _marks(self, ids: str) -> tuple[bytes, Sequence[bytes]]:
        """The mark before a line, with a place for what differs, and that of each line."""
        values = unpack(f"{WIDTH}s" * (len(ids) // WIDTH), ids.encode())
        return f"{self.before}%b{self.after}".encode(), values


class _Words(Style):
    shape = "words such as those before the lines"
    quoted = True
    _typed = re.compile(rf"{_BEFORE}({_WORD}){_BEHIND}", re.S)
    _echo = re.compile(rf"[ +]?({_WORD})\t")

    @property
    def widest(self) -> int:
        return 8  # two words

    def mint(self, window: Window, used: IdSet, name: str = "") -> str:
        return mint_words(window.start + 1, window.bare, used, name)

    def spelled(self, line_id: str) -> str:
        return word_of(line_id)

    def is_marked(self, line: str, known: IdSet) -> bool:
        """With a blank behind it an ID may be a word of the text."""
        line_id = id_of(line.lstrip("+ ").partition(" ")[0])
        return line_id is not None and line_id in known

    def _read(self, typed: str) -> str | None:
        return id_of(typed.lower())

    def _marks(self, ids: str) -> tuple[bytes, Sequence[bytes]]:
        return b"%b", word_marks(ids)


STYLES: dict[StyleName, Style] = {
    "tag": Style("tag", "[LID:", "] ", "]"),
    "words": _Words("words", after="\t"),
}
