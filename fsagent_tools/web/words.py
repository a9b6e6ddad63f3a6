"""The words of one block of text, with Markdown's marks around some of them."""

import re
from dataclasses import dataclass

MARKS = {  # element -> the kind of mark that it stands for
    "a": "link", "sup": "^", "sub": "_", "q": '"', "b": "**", "strong": "**", "i": "*", "em": "*",
    "del": "~~", "s": "~~", "strike": "~~", "code": "`", "kbd": "`", "samp": "`", "tt": "`",
}  # fmt: skip
_ANCHORS = {"#", "¶", "§", "🔗", "link", "permalink"}  # what a heading's link to itself shows
SEPARATORS = " |/·•»›-–,\n\xa0"  # between links, they are no words
INDEX = 3  # letters or digits that a subscript may have and still be an index
BREAK = "  \n"
PARAGRAPHS = re.compile(r"(?:  \n){2,}")


@dataclass(slots=True)
class Mark:
    """Open since piece number `at`."""

    kind: str
    at: int
    href: str


class Words:
    """Collects pieces of running text; white space counts as HTML counts it.

    A kind of mark that is open already is not opened again, so that the work stays linear however
    deep elements are nested.
    """

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._open: list[Mark] = []
        self._depth = dict.fromkeys(MARKS.values(), 0)
        self.said = self.linked_to = (
            0  # characters since the last `weigh`, those of links among them
        )

    def say(self, text: str) -> None:
        if text.isspace():
            if self.pieces:  # at the start of a block it says nothing
                self.pieces.append(" ")
            return
        if len(text) > 3 or text.strip(SEPARATORS):
            self.said += len(text)
        if self._depth["link"]:
            self.linked_to += len(text)
        if "*" in text and not self._depth["`"]:
            text = text.replace("*", r"\*")
        self.pieces.append(text.replace("\n", " ") if "\n" in text else text)

    def replace_last(self, text: str) -> None:
        """Write `text` for the last piece, whose weight stays: an address is no word."""
        self.pieces[-1] = text

    def weigh(self) -> tuple[int, int]:
        """(characters, those of links among them) since it was asked last."""
        weight = self.said, self.linked_to
        self.said = self.linked_to = 0
        return weight

    def end_line(self) -> None:
        self.pieces.append("\n")

    def open(self, kind: str, href: str = "") -> None:
        self._depth[kind] += 1
        if self._depth[kind] == 1:
            self._open.append(Mark(kind, len(self.pieces), href))

    def close(self, kind: str) -> None:
        self._depth[kind] -= 1
        if not self._depth[kind]:
            self._wrap(self._open.pop())

    def linked(self) -> bool:
        return bool(self._depth["link"])

    def take(self) -> str:
        """The block so far; marks still open go on in the next one, a link does not."""
        if not self.pieces:
            return ""
        for mark in reversed(self._open):
            if self._wrap(mark):
                mark.href = ""
            mark.at = 0
        text = "".join(self.pieces)
        self.pieces.clear()
        if "\n" not in text:
            return " ".join(text.split())
        lines = [" ".join(line.split()) for line in text.split("\n")]
        return PARAGRAPHS.sub("\n\n", BREAK.join(lines)).strip()

    def _wrap(self, mark: Mark) -> bool:
        """Put `mark` around what was said since it opened; False when that was nothing."""
        text = "".join(self.pieces[mark.at :])
        core = text.strip()
        del self.pieces[mark.at :]
        if core and (mark.kind == "`" or not self._depth["`"]):
            before, _, after = text.partition(core)
            text = before + _marked(core, mark) + after
        self.pieces.append(text)
        return bool(core)


def _marked(core: str, mark: Mark) -> str:
    if mark.kind == "link":
        return _link(core, mark.href)
    if mark.kind == "^":
        return f"^{core}" if core.isdigit() else core
    if mark.kind == "_":
        return f"_{core}" if core.isalnum() and len(core) <= INDEX else core
    if mark.kind == "`" and "`" not in core:
        return f"`{core}`"
    if mark.kind == "`":
        ticks = "`" * (longest_ticks(core) + 1)
        return f"{ticks} {core} {ticks}"
    return f"{mark.kind}{core}{mark.kind}"


def _link(core: str, href: str) -> str:
    """A link within the page is only its words: whoever reads this cannot follow it."""
    if "#" in href and core.lower() in _ANCHORS:
        return ""
    if not href or href.startswith("#"):
        return core
    core = core.replace("\n", " ")
    return f"<{href}>" if core == href else f"[{core}]({href})"


def longest_ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
