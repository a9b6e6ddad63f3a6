"""The elements of a page, told one after the other, become Markdown or plain text."""

from collections.abc import Callable, Iterable, Mapping

from fsagent_tools.web.blocks import FRAMES, Blocks
from fsagent_tools.web.code import Code
from fsagent_tools.web.embedded import sources
from fsagent_tools.web.formula import Formula
from fsagent_tools.web.links import Links
from fsagent_tools.web.table import CELLS, GROUPS, PARTS, Repeats, Table
from fsagent_tools.web.words import MARKS, Words

BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hr", "legend", "li", "main", "menu", "ol", "p", "pre", "section",
    "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}  # fmt: skip
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_LISTS = {"ul", "ol", "menu"}
_CODE = [tag for tag, mark in MARKS.items() if mark == "`"]
# A cell that holds one of these is no part of a line, so its table is taken for layout.
LAYOUT = {"table", "pre", "h1", "h2", "h3", "main", "article"}
NEAR = 3  # elements, a <pre> and those around it, whose class may name its language
_NO_ATTRIBUTES: dict[str, str] = {}
Attributes = Mapping[str, str]
ElementStart = Callable[[str, Attributes], None]
ElementEnd = Callable[[str], None]


class Writer:
    """`elements` says what starts and ends one, by its tag; `blocks` holds what they make.

    `open` are the elements that have started: what ends each, its attributes. Words are added to
    `pieces`. inner: what reads the elements in place of `elements`.
    plain: only words, without Markdown's marks; `signs` begin as Markdown's blocks do even then, so
    that both are judged alike.
    """

    def __init__(self, links: Links, *, plain: bool) -> None:
        self._links = links
        self.blocks = Blocks(plain=plain)
        self.signs = [] if plain else self.blocks.texts
        self._plain = plain
        self._coded = ""  # the sign of code in a plain block
        self._words = Words(plain=plain)
        self.pieces = self._words.pieces
        self.open: list[tuple[ElementEnd | None, Attributes]] = []
        self._tables: list[Table] = []
        self._repeats = Repeats()
        self.inner: Code | Formula | None = None
        self.weights: list[tuple[int, int]] = []  # of each block: characters, those of links
        self.prose = 0  # characters so far that are no links
        self.paragraphs = 0
        starts, ends = self._by_tag()
        self.elements = {tag: (starts.get(tag), ends.get(tag)) for tag in starts | ends}

    def _by_tag(self) -> tuple[dict[str, ElementStart], dict[str, ElementEnd]]:
        starts: dict[str, ElementStart] = dict.fromkeys(BLOCKS, self.flush)
        ends: dict[str, ElementEnd] = dict.fromkeys(BLOCKS, self.flush)
        starts |= dict.fromkeys(LAYOUT, self._start_apart) | {"p": self._start_paragraph}
        starts |= dict.fromkeys(_LISTS, self._start_list) | dict.fromkeys(PARTS, self._start_part)
        starts |= {"pre": self._start_code, "table": self._start_table, "li": self._start_item}
        starts |= {"br": self._break, "img": self._image, "math": self._start_formula}
        starts |= dict.fromkeys(FRAMES, self._start_frame)
        ends |= dict.fromkeys(HEADINGS, self.end_heading) | dict.fromkeys(CELLS, self._end_cell)
        ends |= dict.fromkeys(["li", *FRAMES], self._end_frame)
        ends |= dict.fromkeys(_LISTS, self._end_list) | {"hr": self._rule}
        ends |= dict.fromkeys(GROUPS, self._end_part)
        ends |= {"tr": self._end_row, "table": self._end_table}
        ends |= {"pre": self.end_inner, "math": self.end_inner}
        if self._plain:
            starts |= dict.fromkeys(_CODE, self._start_plain_code)
        else:
            starts |= dict.fromkeys(MARKS, self._words.start)
            ends |= dict.fromkeys(MARKS, self._words.end)
        return starts | {"a": self._start_link}, ends | {"a": self._words.end}

    def flush(self, _tag: str = "", _attributes: Attributes = _NO_ATTRIBUTES) -> None:
        """End the block being read; within a table's cell only a space keeps words apart."""
        if not self.pieces:
            return
        if self._tables and self._tables[-1].in_cell:
            self.pieces.append(" ")
        elif text := self._words.take():
            self._put(text)

    def end_inner(self, tag: str) -> None:
        inner = self.inner
        if not inner or not inner.end(tag):
            return
        self.inner = None
        text = inner.text(plain=self._plain)
        if isinstance(inner, Formula):
            self.pieces.append(text)
        elif text:
            self._coded = "```"
            self._put(text)

    def task(self, *, done: bool) -> None:
        """The box of an item in a list of tasks."""
        self.pieces.append("[x] " if done else "[ ] ")

    def tex(self, text: str) -> None:
        text = text.strip()
        self.pieces.append(text if self._plain else f"${text}$")

    def embed(self, name: str, addresses: Iterable[str]) -> None:
        """What only a browser plays is a link."""
        link = self._links.first(addresses)
        if link and not (self._plain or self.inner or self._in_cell()):
            self.flush()
            self._put(f"[{name}]({link})")

    def label(self, text: str) -> None:
        """Name what follows, as a tab does."""
        self.flush()
        if text := " ".join(text.split()):
            self._put(text if self._plain else f"**{text}**")

    def _put(self, text: str, *, joined: bool = False, sign: str = "") -> None:
        self.blocks.put(text, joined=joined)
        if self._plain:
            framed = self.blocks.framed
            self.signs.append(f"\n\n{'' if framed else sign}{self._coded}{text}")
            self._coded = ""
        said, links = weight = self._words.weigh()
        self.weights.append(weight)
        self.prose += said - links

    def _in_cell(self) -> bool:
        return bool(self._tables) and self._tables[-1].in_cell

    def _start_plain_code(self, _tag: str, _attributes: Attributes) -> None:
        self._coded = "`"

    def _break(self, _tag: str, _attributes: Attributes) -> None:
        self._words.end_line()

    def _start_link(self, _tag: str, attributes: Attributes) -> None:
        if self._plain:  # it leads nowhere, yet a heading's link to itself is none of its words
            href = "#" if "#" in attributes.get("href", "") else ""
        else:
            href = self._links.href(attributes)
        self._words.open("link", href)

    def _image(self, _tag: str, attributes: Attributes) -> None:
        alt = " ".join(attributes.get("alt", "").split())
        source = self._links.first(sources(attributes)) if alt else ""
        if source and not self._plain:
            self.pieces.append(alt)
            if not (self._in_cell() or self._words.linked()):
                self._words.replace_last(f"![{alt}]({source})")

    def _start_formula(self, _tag: str, attributes: Attributes) -> None:
        self.inner = Formula(attributes, self.pieces)

    def _start_paragraph(self, _tag: str, _attributes: Attributes) -> None:
        self.paragraphs += 1
        if self.pieces:
            self.flush()

    def _start_apart(self, tag: str, _attributes: Attributes) -> None:
        self.paragraphs += tag == "h1"
        if self._in_cell():
            for text in [*self._tables[-1].take_apart(), self._words.take()]:
                if text:
                    self._put(text)
        self.flush()

    def _start_code(self, tag: str, attributes: Attributes) -> None:
        self._start_apart(tag, attributes)
        around = (found for _, found in reversed(self.open[1 - NEAR :]))
        self.inner = Code([attributes, *around], self.pieces)

    def _start_table(self, tag: str, attributes: Attributes) -> None:
        self._start_apart(tag, attributes)
        self._tables.append(Table(self._repeats))

    def _start_part(self, tag: str, attributes: Attributes) -> None:
        self.flush()
        if self._tables:
            self._tables[-1].start(tag, attributes)

    def _start_list(self, tag: str, attributes: Attributes) -> None:
        self.flush()
        self.blocks.begin_list(tag, attributes.get("start", ""))

    def _start_item(self, _tag: str, _attributes: Attributes) -> None:
        self.flush()
        marker = self.blocks.begin_item()
        if self._in_cell():
            self.pieces.append(marker)

    def _start_frame(self, tag: str, _attributes: Attributes) -> None:
        self.flush()
        self.blocks.begin_frame(tag)

    def _end_frame(self, _tag: str) -> None:
        self.flush()
        self.blocks.dedent()

    def _end_list(self, _tag: str) -> None:
        self.flush()
        self.blocks.end_list()

    def end_heading(self, tag: str) -> None:
        if self._in_cell():
            self.flush()
        elif text := self._words.take():
            text, sign = " ".join(text.split()), f"{'#' * int(tag[1])} "
            self._put(text if self._plain else sign + text, sign=sign)

    def _rule(self, _tag: str) -> None:
        self.flush()
        if not (self._plain or self._in_cell()):
            self._put("---")

    def _end_cell(self, _tag: str) -> None:
        if self._in_cell():
            self._tables[-1].add(self._words.take())
        else:
            self.flush()

    def _end_part(self, tag: str) -> None:
        self.flush()
        if self._tables:
            self._tables[-1].end(tag)

    def _end_row(self, _tag: str) -> None:
        self.flush()
        if self._tables:
            table = self._tables[-1]
            joined = table.rows > 0
            if row := table.row(plain=self._plain):
                self._put(row, joined=joined, sign="|")

    def _end_table(self, _tag: str) -> None:
        self.flush()
        if self._tables:
            self._tables.pop()
