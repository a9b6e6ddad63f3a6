"""The elements of a page, told one after the other, become Markdown or plain text."""

import re
from collections.abc import Mapping
from urllib.parse import urljoin

from fsagent_tools.web.blocks import FRAMES, Blocks
from fsagent_tools.web.code import Code
from fsagent_tools.web.formula import Formula
from fsagent_tools.web.table import CELLS, PARTS, Table
from fsagent_tools.web.words import MARKS, Words

BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hr", "legend", "li", "main", "menu", "ol", "p", "pre", "section",
    "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
}  # fmt: skip
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_LISTS = {"ul", "ol", "menu"}
_MARKED = {"pre", "li", "hr", *FRAMES, *_LISTS, *PARTS}  # blocks with more than an end
# A cell that holds one of these is no part of a line, so its table is taken for layout.
LAYOUT = {"table", "pre", "h1", "h2", "h3", "main", "article"}
SOURCES = ("data-src", "data-original", "data-lazy-src", "src")  # of images, the late ones first
SITE_PATH = re.compile(r"/(?![/.])(?!.*/\.)")  # a path of the site as it stands
RELATIVE = re.compile(r"[\w-][\w./-]*(?:#[\w./:()+~-]*)?")  # a path in the same folder or beneath
NEAR = 3  # elements, a <pre> and those around it, whose class may name its language
Attributes = Mapping[str, str]


class Writer:
    """Is told starts, data and ends, properly nested; `blocks` holds what they make.

    base: what links are relative to. site: what is left out of those that begin with it, but for
    its slash; `shortened` says whether there were any. plain: only words, without Markdown's marks.
    """

    def __init__(self, base: str, *, plain: bool, site: str = "") -> None:
        self.rebase(base)
        self.shortened = False
        self._site = site
        self.blocks = Blocks(plain=plain)
        self._plain = plain
        self._words = Words()
        self._open: list[Attributes] = []
        self._tables: list[Table] = []
        self._inner: Code | Formula | None = None
        self.data = self._words.say  # or that of `_inner`
        self.weights: list[tuple[int, int]] = []  # of each block: characters, those of links
        self.prose = 0  # characters so far that are no links

    def rebase(self, base: str) -> None:
        self.base = base
        self._folder = urljoin(base, ".")
        self._hrefs: dict[str, str] = {}  # as links say them -> as they are told

    def start(self, tag: str, attributes: Attributes) -> None:
        self._open.append(attributes)
        if self._inner:
            self._inner.start(tag, attributes)
        elif tag == "a":
            self._words.open("link", "" if self._plain else self._href(attributes))
        elif tag in MARKS:
            if not self._plain:
                self._words.open(MARKS[tag])
        elif tag in BLOCKS:
            self._start_block(tag, attributes)
        else:
            self._start_inline(tag, attributes)

    def end(self, tag: str) -> None:
        attributes = self._open.pop()
        if self._inner:
            if self._inner.end(tag):
                self._end_inner(self._inner)
        elif tag in MARKS:
            if tag == "a" or not self._plain:
                self._words.close(MARKS[tag])
        elif tag in BLOCKS:
            self._end_block(tag, attributes)

    def flush(self) -> None:
        """End the block being read; within a table's cell only a space keeps words apart."""
        if not self._words.pieces:
            return
        if self._in_cell():
            self._words.say(" ")
        elif text := self._words.take():
            self._put(text)

    def _start_inline(self, tag: str, attributes: Attributes) -> None:
        if tag == "br":
            self._words.end_line()
        elif tag == "img":
            self._image(attributes)
        elif tag == "math":
            self._read_by(Formula(attributes))

    def _put(self, text: str, *, joined: bool = False) -> None:
        self.blocks.put(text, joined=joined)
        said, links = self._words.weigh()
        self.weights.append((said, links))
        self.prose += said - links

    def _start_block(self, tag: str, attributes: Attributes) -> None:
        if tag in LAYOUT and self._in_cell():
            self._take_apart()
        self.flush()
        if tag in _MARKED:
            self._start_marked(tag, attributes)

    def _start_marked(self, tag: str, attributes: Attributes) -> None:
        if tag == "pre":
            self._read_by(Code(reversed(self._open[-NEAR:])))
        elif tag in FRAMES:
            self.blocks.begin_frame(tag)
        elif tag in _LISTS:
            self.blocks.begin_list(tag, attributes.get("start", ""))
        elif tag == "li":
            self._start_item()
        elif tag == "table":
            self._tables.append(Table())
        elif tag in PARTS and self._tables:
            self._tables[-1].start(tag)

    def _end_block(self, tag: str, attributes: Attributes) -> None:
        if tag in HEADINGS and not self._in_cell():
            self._end_heading(tag)
        elif tag in CELLS and self._in_cell():
            self._tables[-1].add(self._words.take(), attributes)
        else:
            self.flush()
        if tag not in _MARKED:
            return
        if tag == "li" or tag in FRAMES:
            self.blocks.dedent()
        elif tag in _LISTS:
            self.blocks.end_list()
        elif tag == "hr":
            self._rule()
        elif tag in PARTS and self._tables:
            self._end_part(tag, self._tables[-1])

    def _in_cell(self) -> bool:
        return bool(self._tables) and self._tables[-1].in_cell

    def _take_apart(self) -> None:
        for text in [*self._tables[-1].take_apart(), self._words.take()]:
            if text:
                self._put(text)

    def _end_part(self, tag: str, table: Table) -> None:
        table.end(tag)
        joined = table.rows > 0
        if tag == "table":
            self._tables.pop()
        elif tag == "tr" and (row := table.row(plain=self._plain)):
            self._put(row, joined=joined)

    def _href(self, attributes: Attributes) -> str:
        said = attributes.get("href", "")
        if (told := self._hrefs.get(said)) is None:
            href = said.strip()
            told = href if href.startswith("#") else self._absolute(href, "mailto:")
            self._hrefs[said] = told
        return told

    def _absolute(self, link: str, *schemes: str) -> str:
        if SITE_PATH.match(link) and self._site and self.base.startswith(self._site):
            self.shortened = True
            return link.replace(" ", "%20")
        try:
            joined = self._joined(link)
        except ValueError:
            return ""
        if self._site and joined.startswith(self._site):
            self.shortened = True
            return joined[len(self._site) - 1 :]
        return joined if joined.startswith(("http://", "https://", *schemes)) else ""

    def _joined(self, link: str) -> str:
        if RELATIVE.fullmatch(link) and "/." not in link:  # what most links of manuals are
            return self._folder + link
        return urljoin(self.base, link).replace(" ", "%20") if link else ""

    def _image(self, attributes: Attributes) -> None:
        alt = " ".join(attributes.get("alt", "").split())
        found = (attributes.get(name, "").strip() for name in SOURCES)
        source = next(filter(None, map(self._absolute, found)), "")
        if alt and source and not self._plain:
            bare = self._in_cell() or self._words.linked()
            self._words.say(alt)
            if not bare:
                self._words.replace_last(f"![{alt}]({source})")

    def _end_heading(self, tag: str) -> None:
        if text := " ".join(self._words.take().split()):
            self._put(text if self._plain else f"{'#' * int(tag[1])} {text}")

    def _rule(self) -> None:
        if not (self._plain or self._in_cell()):
            self._put("---")

    def task(self, *, done: bool) -> None:
        """The box of an item in a list of tasks."""
        self._words.say("[x] " if done else "[ ] ")

    def tex(self, text: str) -> None:
        self._words.say(text if self._plain else f"${text}$")

    def embed(self, name: str, source: str) -> None:
        """What only a browser plays is a link."""
        link = self._absolute(source.strip())
        if link and not (self._plain or self._inner or self._in_cell()):
            self.flush()
            self._put(f"[{name}]({link})")

    def label(self, text: str) -> None:
        """Name what follows, as a tab does."""
        self.flush()
        if text := " ".join(text.split()):
            self._put(text if self._plain else f"**{text}**")

    def _start_item(self) -> None:
        marker = self.blocks.begin_item()
        if self._in_cell():
            self._words.say(marker)

    def _read_by(self, inner: Code | Formula) -> None:
        self._inner, self.data = inner, inner.data

    def _end_inner(self, inner: Code | Formula) -> None:
        self._inner, self.data = None, self._words.say
        text = inner.text(plain=self._plain)
        if isinstance(inner, Formula):
            self._words.say(text)
        elif text:
            self._put(text)
