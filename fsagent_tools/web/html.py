"""An HTML page's own content, without chrome, scripts and what is hidden, in one pass."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urljoin

from fsagent_tools.errors import MissingDependency
from fsagent_tools.web.clock import Clock
from fsagent_tools.web.markdown import BLOCKS, Writer

NEVER = {
    "script", "style", "template", "svg", "iframe", "object", "embed", "noscript", "button", "nav",
    "canvas", "audio", "video", "select", "input", "textarea", "title", "dialog", "datalist",
}  # fmt: skip
CHROME_TAGS = {"header", "footer", "aside"}  # an article's own header holds its heading
CHROME_ROLES = {"navigation", "banner", "contentinfo", "complementary", "search"}
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
GUTTER = {"linenos", "lineno", "line-numbers-rows", "gutter", "highlight-line-numbers"}
ARTICLE_SHARE = 0.4  # of the page's text that a lone <article> must hold to stand for the page
_TITLE = 1000  # characters of a title that are kept
_CHUNK = 1 << 14  # characters parsed between two looks at the clock


def content(source: str, url: str, clock: Clock, *, plain: bool = False) -> tuple[str, str]:
    """(title, text) of a page; `text` is Markdown, or only its words when `plain`.

    No tree is built, so that a page costs little more memory than its text. Raises
    `MissingDependency` without lxml, `TimedOut`.
    """
    try:
        from lxml import etree
    except ImportError:
        raise MissingDependency(
            "Reading HTML needs lxml.",
            hint="pip install 'fsagent-tools[web]'. Or fetch with `format`='html'.",
        ) from None
    reader = Reader(url, plain=plain)
    parser = etree.HTMLParser(target=reader, encoding="utf-8", huge_tree=True)
    for start in range(0, len(source), _CHUNK):
        clock.check()
        piece = source[start : start + _CHUNK].replace("\0", "")
        parser.feed(piece.encode("utf-8", "replace"))
    with suppress(etree.XMLSyntaxError):  # a page without any element
        parser.close()
    return reader.title, reader.text()


@dataclass
class Region:
    """A part of the page, by the numbers of its blocks. prose: paragraphs that came before it."""

    kind: str
    start: int
    prose: int
    end: int = 0


class Reader:
    """The parser's target: passes on what is shown, and notes where the content lies."""

    def __init__(self, url: str, *, plain: bool) -> None:
        self.title = ""
        self._writer = Writer(url, plain=plain)
        self._blocks = self._writer.blocks.texts
        self._hidden = 0  # open elements, from the outmost that is not shown
        self._in_title = False
        self._open: list[Region | None] = []  # for each open element
        self._regions: list[Region] = []
        self._inside = {"main": 0, "chrome": 0, "article": 0, "form": 0}  # open ones
        self._articles = 0  # all of them
        self._prose = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._hidden or tag in NEVER or (attributes and _unseen(attributes)):
            self._in_title = tag == "title" and not self._hidden and not self.title
            self._hidden += 1
            return
        if tag == "base":
            self._rebase(attributes.get("href", ""))
        self._writer.start(tag, attributes)
        kind = self._kind(tag, attributes.get("role", "")) if tag in BLOCKS else ""
        self._open.append(Region(kind, len(self._blocks), self._prose) if kind else None)
        if kind:
            self._inside[kind] += 1
        self._articles += kind == "article"
        self._prose += tag in ("p", "h1")

    def data(self, text: str) -> None:
        if self._in_title:
            self.title = (self.title + text)[:_TITLE]
        elif not self._hidden:
            self._writer.data(text)

    def end(self, tag: str) -> None:
        if self._hidden:
            self._hidden -= 1
            self._in_title = False
            return
        before = len(self._blocks)
        self._writer.end(tag)
        if tag == "h1" and not self.title.strip() and len(self._blocks) > before:
            self.title = self._blocks[-1].lstrip("\n# ")[:_TITLE]
        if region := self._open.pop():
            self._close(region)

    def close(self) -> None:
        self._writer.flush()

    def text(self) -> str:
        """The largest main element; else the page without chrome, or its only article."""
        main = max(self._all("main"), key=self._size, default=None)
        if main:
            return self._joined(main)
        for chrome in self._all("chrome"):
            self._blocks[chrome.start : chrome.end] = [""] * (chrome.end - chrome.start)
        body = Region("", 0, 0, len(self._blocks))
        articles = self._all("article")
        lone = self._articles == 1 and len(articles) == 1
        if lone and self._size(articles[0]) >= ARTICLE_SHARE * self._size(body):
            return self._joined(articles[0])
        return self._joined(body)

    def _kind(self, tag: str, role: str) -> str:
        if tag == "main" or role == "main":
            return "main"
        if role in CHROME_ROLES or (tag in CHROME_TAGS and not self._inside["article"]):
            return "chrome"
        return tag if tag in ("article", "form") else ""

    def _close(self, region: Region) -> None:
        """Some sites wrap the whole page in one form; a form without prose is left out."""
        self._inside[region.kind] -= 1
        if region.kind == "form" and region.prose == self._prose:
            del self._blocks[region.start :]
        region.end = len(self._blocks)
        if not self._inside[region.kind]:  # only the outmost, so that no block is counted twice
            self._regions.append(region)

    def _all(self, kind: str) -> list[Region]:
        return [region for region in self._regions if region.kind == kind and self._size(region)]

    def _size(self, region: Region) -> int:
        return sum(map(len, self._blocks[region.start : region.end]))

    def _joined(self, region: Region) -> str:
        return "".join(self._blocks[region.start : region.end]).strip("\n")

    def _rebase(self, href: str) -> None:
        with suppress(ValueError):
            self._writer.base = urljoin(self._writer.base, href.strip())


def _unseen(attributes: Mapping[str, str]) -> bool:
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(HIDDEN.search(attributes.get("style", "")))
        or not GUTTER.isdisjoint(attributes.get("class", "").split())
    )
