"""An HTML page's own content, without chrome, scripts and what is hidden, in one pass."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from urllib.parse import urljoin

from fsagent_tools.errors import MissingDependency
from fsagent_tools.web.clock import Clock
from fsagent_tools.web.embedded import EMBEDS, TASKS, embedded, sources
from fsagent_tools.web.head import Head
from fsagent_tools.web.links import Links
from fsagent_tools.web.regions import REGIONS, Regions
from fsagent_tools.web.tabs import PANEL, PANEL_CLASS, TAB, Tabs, tab_part
from fsagent_tools.web.unseen import unseen
from fsagent_tools.web.writer import BLOCKS, Attributes, ElementEnd, ElementStart, Writer

NEVER = {
    "script", "style", "template", "svg", "iframe", "frame", "object", "noscript", "button", "nav",
    "canvas", "audio", "video", "select", "input", "textarea", "title", "dialog",
    "datalist",
}  # fmt: skip
_HEAD = {"meta", "base"}
_UNKNOWN = (None, None)  # elements that say nothing of the words in them
_TOLD_APART = {"input", *EMBEDS}
_CONTROLS = bytes({*range(32)} - {*b"\t\n\f\r"})  # which no page has, and the writer makes signs of
_TITLE = 1000  # characters of a title that are kept
_CHUNK = 1 << 14  # characters parsed between two looks at the clock


@dataclass(frozen=True)
class Content:
    """site: what links that begin with a slash are at, "" when there are none. refresh: where the
    page sends its reader, "" for nowhere. data: JSON for its scripts."""

    title: str
    text: str
    site: str = ""
    refresh: str = ""
    data: tuple[str, ...] = ()


@cache
def lacks_lxml() -> str:
    """How to install what pages are read with, "" where it is; asked once in a process."""
    return "" if find_spec("lxml") else "reading HTML needs lxml: pip install 'fsagent-tools[web]'"


def content(
    source: str, url: str, clock: Clock, *, plain: bool = False, scriptless: bool = False
) -> Content:
    """A page as Markdown, or only its words when `plain`; links within its site without the site.
    scriptless: with what it has for readers without scripts.

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
    if scriptless:
        reader.show("noscript")
    parser = etree.HTMLParser(target=reader, encoding="utf-8", huge_tree=True)
    for start in range(0, len(source), _CHUNK):
        clock.check()
        piece = source[start : start + _CHUNK].encode("utf-8", "replace")
        parser.feed(piece.translate(None, _CONTROLS))
    with suppress(etree.XMLSyntaxError):  # a page without any element
        parser.close()
    text = reader.text()
    return Content(
        reader.title, text, reader.site, reader.head.refresh, tuple(reader.data_of_scripts)
    )


class Reader:
    """The parser's target: passes on what is shown, and notes where the content lies."""

    def __init__(self, url: str, *, plain: bool) -> None:
        self.title = ""
        self.data_of_scripts: list[str] = []
        self.head = Head()
        self._site = urljoin(url, "/")
        self._links = Links(url, self._site)
        self._writer = Writer(self._links, plain=plain)
        self._blocks = self._writer.blocks.texts
        self._pieces = self._writer.pieces
        self.data = self._pieces.append
        self._elements: dict[str, tuple[ElementStart | None, ElementEnd | None] | None]
        self._elements = {**self._writer.elements, **dict.fromkeys(NEVER)}
        self._elements["h1"] = self._writer.elements["h1"][0], self._end_title
        self._hidden = 0  # open elements, from the outmost that is not shown
        self._hides = 0  # number of the first piece that is not shown
        self._hears: Callable[[str], None] | None = None  # who wants the words of what is hidden
        self._heard: list[str] = []
        self._tabs = Tabs()
        self._open = self._writer.open
        self._regions = Regions(self._writer)

    def start(self, tag: str, attributes: Attributes) -> None:
        known = self._elements.get(tag, _UNKNOWN)
        if tag == "template" and "shadowrootmode" in attributes:
            known = _UNKNOWN
        if self._hidden or not known or (attributes and unseen(tag, attributes)):
            self._hide(tag, attributes)
            return
        writer = self._writer
        if writer.inner:
            writer.inner.start(tag, attributes)
            self._open.append((writer.end_inner, attributes))
            return
        start, end = known
        if start:
            start(tag, attributes)
        if attributes and (
            tag in _HEAD or "role" in attributes or attributes.get("class") == PANEL_CLASS
        ):
            self._note(tag, attributes)
        if tag in REGIONS or (attributes and tag in BLOCKS):
            end = self._regions.begin(tag, attributes, end)
        self._open.append((end, attributes))

    def show(self, tag: str) -> None:
        """Take an element for one that is read."""
        self._elements[tag] = _UNKNOWN

    def end(self, tag: str) -> None:
        if self._hidden:
            self._hidden -= 1
            if not self._hidden:
                self._show()
            return
        end, _ = self._open.pop()
        if end:
            end(tag)

    def _hide(self, tag: str, attributes: Attributes) -> None:
        if not self._hidden:
            self._hears, self._heard = self._hearer(tag, attributes), []
            self._hides = len(self._pieces)
        if tag in _TOLD_APART:
            self._leave_unsaid()
            self._told_apart(tag, attributes)
            self._hides = len(self._pieces)
        self._hidden += 1

    def _show(self) -> None:
        self._leave_unsaid()
        if self._hears:
            self._hears("".join(self._heard))
            self._hears = None  # a frame's page ends before the frame that is hidden

    def _leave_unsaid(self) -> None:
        if self._hears:
            self._heard += self._pieces[self._hides :]
        del self._pieces[self._hides :]

    def _hearer(self, tag: str, attributes: Attributes) -> Callable[[str], None] | None:
        """Who is told the words of a hidden element once it ends."""
        kind = attributes.get("type", "") if tag == "script" else ""
        if kind.startswith("math/tex"):
            return self._writer.tex
        if kind.endswith("json"):
            return self.data_of_scripts.append
        if tag == "title":
            return self._entitle
        if tab_part(tag, attributes) == TAB:
            names = attributes.get("id", ""), attributes.get("aria-controls", "")
            return partial(self._tabs.add, tuple(filter(None, names)))
        return None

    def _entitle(self, text: str) -> None:
        self.title = self.title or text[:_TITLE]

    def _end_title(self, tag: str) -> None:
        before = len(self._blocks)
        self._writer.end_heading(tag)
        if not self.title.strip() and len(self._blocks) > before:
            self.title = self._blocks[-1].lstrip("\n# ")[:_TITLE]

    @property
    def site(self) -> str:
        return self._site.rstrip("/") if self._links.shortened else ""

    def _note(self, tag: str, attributes: Attributes) -> None:
        """What an element says beside its content."""
        if tag == "meta":
            self.head.meta(attributes)
        elif tag == "base":
            self._rebase(attributes.get("href", ""))
        elif tab_part(tag, attributes) == PANEL:
            self._writer.label(self._tabs.of(attributes))

    def _told_apart(self, tag: str, attributes: Attributes) -> None:
        """An element that is never read, but leaves a box or a link."""
        if tag == "input" and attributes.get("type") == "checkbox" and not self._hidden:
            near = (attributes, *(around for _, around in self._open[-3:]))
            classes = {name for each in near for name in each.get("class", "").split()}
            item = self._elements["li"]
            ticked = item and any(end == item[1] for end, _ in self._open[-2:])
            used = "id" in attributes or "name" in attributes  # by a form, or to fold something
            if "disabled" in attributes or classes & TASKS or (ticked and not used):
                self._writer.task(done="checked" in attributes)
        elif tag in EMBEDS and not unseen(tag, attributes):
            if (page := attributes.get("srcdoc")) and not self._hidden:
                self._within(page)
            elif name := embedded(tag, attributes):
                self._writer.embed(name, sources(attributes))

    def _within(self, page: str) -> None:
        """A page in an attribute is a part of this one."""
        from lxml import etree  # there: it calls this

        inner = etree.HTMLParser(target=self, encoding="utf-8", huge_tree=True)
        with suppress(etree.XMLSyntaxError):
            inner.feed(page.encode("utf-8", "replace").translate(None, _CONTROLS))
            inner.close()

    def close(self) -> None:
        self._writer.flush()

    def text(self) -> str:
        return self._regions.content(self.title, self.head)

    def _rebase(self, href: str) -> None:
        with suppress(ValueError):
            self._links.rebase(urljoin(self._links.base, href.strip()))
