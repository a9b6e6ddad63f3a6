"""The parts of a page: which of its blocks are its content, and which are chrome around it."""

from dataclasses import dataclass
from functools import partial

from fsagent_tools.web.article import HEADING
from fsagent_tools.web.markdown import Attributes, ElementEnd, Writer
from fsagent_tools.web.prose import BESIDE_SHARE, beside, prose

CHROME_TAGS = {"header", "footer", "aside"}  # an article's own header holds its heading
CHROME_ROLES = {"navigation", "banner", "contentinfo", "complementary", "search"}
DIALOGS = {"dialog", "alertdialog"}
SHARES = {"chrome": 1.0, "dialog": 0.5, "beside": BESIDE_SHARE}  # of prose up to which it goes
REGIONS = {"main", "article", "form", *CHROME_TAGS}
MAIN_LEAST = 60  # characters up to which a main element without a heading may only say "Loading"
MAIN_MISSED = 10  # times as much prose stands elsewhere then
ARTICLE_SHARE = 0.4  # of the page's text that a lone <article> must hold to stand for the page


@dataclass
class Region:
    """A part of the page, by the numbers of its blocks. prose: paragraphs that came before it."""

    kind: str
    start: int
    prose: int
    said: int
    end: int = 0


class Regions:
    """The parts that count, noted while `writer` writes the blocks."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._blocks = writer.blocks.texts
        self._found: list[Region] = []
        self._inside = dict.fromkeys(("main", "article", "form", *SHARES), 0)  # open ones
        self._articles = 0  # all of them

    def begin(self, tag: str, attributes: Attributes, end: ElementEnd | None) -> ElementEnd | None:
        """What ends the element, which may be a part of the page that counts."""
        kind = self._kind(tag, attributes)
        if not kind:
            return end
        self._inside[kind] += 1
        self._articles += kind == "article"
        writer = self._writer
        region = Region(kind, len(self._blocks), writer.paragraphs, writer.prose)
        return partial(self._end, region, end)

    def content(self, title: str, *, manual: bool) -> str:
        """The largest main element that says something; else the page without chrome, or its only
        article.

        manual: its lists of links are what it says.
        """
        main = max(self._all("main"), key=self._size, default=None)
        if main and not self._is_empty(main):
            return self._joined(main)
        gone = 0  # blocks so far, so that parts within each other cost one look
        for region in sorted(self._found, key=lambda part: (part.start, -part.end)):
            small = region.said <= SHARES.get(region.kind, -1) * self._writer.prose
            if region.end > gone and small:
                self._leave_out(region)
                gone = region.end
        body = Region("", 0, 0, 0, len(self._blocks))
        articles = self._all("article")
        lone = self._articles == 1 and len(articles) == 1
        if lone and self._size(articles[0]) >= ARTICLE_SHARE * self._size(body):
            body = articles[0]
        if manual:
            return self._joined(body)
        at = slice(body.start, body.end)
        writer = self._writer
        return prose(self._blocks[at], writer.signs[at], writer.weights[at], title).strip("\n")

    def _is_empty(self, main: Region) -> bool:
        """Whether it only says that it is to be filled by a script, and the text stands beside."""
        if len(self._joined(main)) > MAIN_LEAST:
            return False
        headed = any(map(HEADING.match, self._writer.signs[main.start : main.end]))
        return not headed and self._writer.prose - main.said >= MAIN_LEAST * MAIN_MISSED

    def _kind(self, tag: str, attributes: Attributes) -> str:
        role = attributes.get("role", "")
        if tag == "main" or role == "main":
            return "main"
        if role in DIALOGS:
            return "dialog"
        if role in CHROME_ROLES or (tag in CHROME_TAGS and not self._inside["article"]):
            return "chrome"
        if tag in ("article", "form"):
            return tag
        if tag == "body" or not ("class" in attributes or "id" in attributes):
            return ""
        names = attributes.get("class", ""), attributes.get("id", "")
        return "beside" if beside(*names) else ""

    def _end(self, region: Region, end: ElementEnd | None, tag: str) -> None:
        """Some sites wrap the whole page in one form; a form without prose is left out.

        Of parts within each other only the outmost is noted, so that no block is counted twice.
        """
        if end:
            end(tag)
        self._inside[region.kind] -= 1
        region.end = len(self._blocks)
        if region.kind == "form" and region.prose == self._writer.paragraphs:
            self._leave_out(region)
        region.said = self._writer.prose - region.said
        if region.kind in ("beside", "dialog") or not self._inside[region.kind]:
            self._found.append(region)

    def _leave_out(self, region: Region) -> None:
        self._blocks[region.start : region.end] = [""] * (region.end - region.start)

    def _all(self, kind: str) -> list[Region]:
        return [region for region in self._found if region.kind == kind and self._size(region)]

    def _size(self, region: Region) -> int:
        return sum(map(len, self._blocks[region.start : region.end]))

    def _joined(self, region: Region) -> str:
        return "".join(self._blocks[region.start : region.end]).strip("\n")
