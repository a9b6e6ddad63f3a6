"""The words of one block of text, with Markdown's marks around some of them."""

import re

# Marks as they stand in a block that is being read, where a "*" is one of the page.
BOLD, ITALIC, STAR, LINE = "\1", "\2", "\3", "\4"
MARKS = {  # element -> the kind of mark that it stands for
    "a": "link", "sup": "^", "sub": "_", "q": '"', "b": BOLD, "strong": BOLD, "i": ITALIC,
    "em": ITALIC, "del": "~~", "s": "~~", "strike": "~~", "code": "`", "kbd": "`", "samp": "`",
    "tt": "`",
}  # fmt: skip
_ANCHORS = {"#", "¶", "§", "🔗", "link", "permalink"}  # what a heading's link to itself shows
SEPARATORS = " |/·•»›-–,\n\xa0"  # between links, they are no words
INDEX = 3  # letters or digits that a subscript may have and still be an index
EXPONENT = re.compile(r"[-+\u2212\u2013]?\d+|[^\W\d_]")
EXPRESSION = re.compile(r"[\w.]{1,9}(?:\s?[-+\u2212\u2013*/,]\s?[\w.]{1,9}){1,4}")
BREAK = "  \n"
PARAGRAPHS = re.compile(r"(?:  \n){2,}")


# kind, number of its first piece, characters before it that were no words, where a link leads
Mark = tuple[str, int, int, str]


class Words:
    """Running text, whose `pieces` the parser adds as they are; `take` counts white space as HTML
    does.

    A kind of mark that is open already is not opened again, so that the work stays linear however
    deep elements are nested. plain: a star needs no backslash.
    """

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain
        self.pieces: list[str] = []
        self._open: list[Mark] = []
        self._depth = dict.fromkeys(MARKS.values(), 0)
        self._signed = False  # some piece has a sign of ours
        self._apart = 0  # characters of the pieces that are no words: addresses, marks, separators
        self._characters = self._linked_to = 0

    def replace_last(self, text: str) -> None:
        """Write `text` for the last piece, whose weight stays: an address is no word."""
        self._apart += len(text) - len(self.pieces[-1])
        self._signed = True
        self.pieces[-1] = text.replace("*", STAR)

    def weigh(self) -> tuple[int, int]:
        """(characters, those of links among them) taken since it was asked last."""
        weight = self._characters, self._linked_to
        self._characters = self._linked_to = 0
        return weight

    def end_line(self) -> None:
        self._signed = True
        self._apart += 1
        self.pieces.append(LINE)

    def start(self, tag: str, _: object = None) -> None:
        self.open(MARKS[tag])

    def end(self, tag: str) -> None:
        self._close(MARKS[tag])

    def open(self, kind: str, href: str = "") -> None:
        depth = self._depth
        depth[kind] += 1
        if depth[kind] == 1:
            if kind == "link" and self.pieces:
                self._separate()
            self._open.append((kind, len(self.pieces), self._apart, href))

    def linked(self) -> bool:
        return bool(self._depth["link"])

    def take(self) -> str:
        """The block so far; marks still open go on in the next one, a link does not."""
        if not self.pieces:
            return ""
        if self._open:
            wraps = [self._wrap(*mark) for mark in reversed(self._open)]
            self._open = [
                (kind, 0, 0, "" if wrapped else href)
                for (kind, _, _, href), wrapped in zip(self._open, reversed(wraps), strict=True)
            ]
        if self._linked_to and not self.pieces[-1].isspace():
            self._separate()
        text = " ".join("".join(self.pieces).split())
        self.pieces.clear()
        self._characters += len(text) - self._apart
        self._apart = 0
        if "*" in text and not self._plain:
            text = text.replace("*", r"\*")
        if self._signed:
            self._signed = False
            return _spelled(text)
        return text

    def _separate(self) -> None:
        """What stands between links is no word."""
        last = self.pieces[-1]
        if not last.strip(SEPARATORS):
            self._apart += len(last.strip()) + (len(self.pieces) > 1)

    def _close(self, kind: str) -> None:
        self._depth[kind] -= 1
        if not self._depth[kind]:
            self._wrap(*self._open.pop())

    def _wrap(self, kind: str, at: int, apart: int, href: str) -> bool:
        """Put a mark around what was said since it opened; False when that was nothing."""
        pieces = self.pieces
        if len(pieces) != at + 1:
            pieces[at:] = ["".join(pieces[at:])]
        text = pieces[-1]
        core = text.strip()
        if not core:
            return False
        if kind == "link":
            self._linked_to += len(core) - (self._apart - apart)
        if kind == "`" or not self._depth["`"]:
            marked = _marked(core, kind, href)
            self._apart += len(marked) - len(core)
            self._signed = True
            pieces[-1] = text.replace(core, marked, 1) if core != text else marked
        return True


def _marked(core: str, kind: str, href: str) -> str:
    if kind == "link":
        return _link(core, href)
    if kind == "`":
        core = core.replace("*", STAR)
        if "`" in core:
            ticks = "`" * (longest_ticks(core) + 1)
            return f"{ticks} {core} {ticks}"
    elif kind in "^_":
        return _shifted(core, kind)
    return f"{kind}{core}{kind}"


def _shifted(core: str, kind: str) -> str:
    """An exponent or index; what is only written small, as in 1st, stays a word."""
    inner = core.strip(ITALIC)
    plain = EXPONENT.fullmatch(inner) if kind == "^" else inner.isalnum() and len(inner) <= INDEX
    if plain:
        return f"{kind}{core}"
    return f"{kind}({core})" if EXPRESSION.fullmatch(inner) else core


def _link(core: str, href: str) -> str:
    """A link within the page is only its words: whoever reads this cannot follow it."""
    if "#" in href and core.lower() in _ANCHORS:
        return ""
    if not href or href.startswith("#"):
        return core
    if core == href:
        return f"<{href}>".replace("*", STAR)
    return f"[{core.replace(LINE, ' ')}]({href.replace('*', STAR)})"


def _spelled(text: str) -> str:
    """A block with Markdown's marks for the signs that stand for them."""
    text = text.replace(BOLD, "**").replace(ITALIC, "*").replace(STAR, "*")
    if LINE not in text:
        return text
    return PARAGRAPHS.sub("\n\n", BREAK.join(map(str.strip, text.split(LINE)))).strip()


def longest_ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
