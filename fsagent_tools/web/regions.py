"""The parts of a page: which of its blocks are its content, and which are chrome around it."""

from collections.abc import Container
from functools import partial
from itertools import accumulate

from fsagent_tools.web.article import HEADING
from fsagent_tools.web.head import Head
from fsagent_tools.web.prose import beside, prose
from fsagent_tools.web.story import ELEMENTS, LEAST_RUNNING, PageBlocks, Region, story
from fsagent_tools.web.writer import HEADINGS, Attributes, ElementEnd, Writer

CHROME_ROLES = ("navigation", "banner", "contentinfo", "complementary", "search")
_ROLES = {
    "main": "main",
    **dict.fromkeys(("dialog", "alertdialog"), "dialog"),
    **dict.fromkeys(CHROME_ROLES, "chrome"),
}
# Within an article, its own header holds its heading.
INNER_TAGS = {"main": "main", "article": "article", "form": "form", "aside": "aside"}
_TAGS = {**INNER_TAGS, "header": "header", "footer": "chrome", "aside": "chrome"}
SHARES = {"chrome": 1.0, "header": 0.5, "dialog": 0.5}  # of prose up to which it goes
MARKED = ("beside", "aside", *SHARES)  # each of these is noted, others only as the outmost
REGIONS = {*ELEMENTS, *_TAGS}
BESIDE_SHARE = 0.25  # of prose up to which what stands beside goes all together
WRAP_SHARE = 0.9  # of prose from which on such a class is that of what holds the page
REST_SHARE = 0.1  # of running text that must be left, as a long discussion is what its page is for
MAIN_LEAST = 60  # characters up to which a main element without a heading may only say "Loading"
MAIN_MISSED = 10  # times as much prose stands elsewhere then


class Regions:
    """The parts that count, noted while `writer` writes the blocks."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._blocks = writer.blocks.texts
        self._found: list[Region] = []
        self._elements: list[Region] = []  # that may hold a story
        self._inside = dict.fromkeys(("main", "article", "form", *MARKED), 0)  # open ones

    def begin(self, tag: str, attributes: Attributes, end: ElementEnd | None) -> ElementEnd | None:
        """What ends the element, which may be a part of the page that counts."""
        kind = self._kind(tag, attributes)
        if kind:
            self._inside[kind] += 1
        elif tag not in ELEMENTS:
            return end
        writer = self._writer
        name = (tag, "" if tag in ("section", "article") else attributes.get("class", ""))
        region = Region(kind, name, len(self._blocks), writer.paragraphs, writer.prose)
        return partial(self._end, region, end)

    def content(self, title: str, head: Head) -> str:
        """The largest main element that says something, else the page without chrome, and of one
        that says it is an article its story.

        The lists of links of a manual are what it says.
        """
        main = max(self._all("main"), key=self._size, default=None)
        main = None if main and self._is_empty(main) else main
        if main and not head.story:
            return self._joined(main)
        body = main or Region("", ("", ""), 0, 0, self._writer.prose, len(self._blocks))
        self._leave_out_chrome(body)
        self._leave_out_beside(body)
        if head.manual:
            return self._joined(body)
        page = self._page(body)
        shown = story(page, self._elements, title) if head.story else page.blocks
        text = "".join(shown) if main else prose(shown, page.signs, page.weights, title)
        return text.strip("\n")

    def _page(self, body: Region) -> PageBlocks:
        shown = [""] * len(self._blocks)
        shown[body.start : body.end] = self._blocks[body.start : body.end]
        return PageBlocks(shown, self._writer.signs, self._writer.weights)

    def _is_empty(self, main: Region) -> bool:
        """Whether it only says that it is to be filled by a script, and the text stands beside."""
        if len(self._joined(main)) > MAIN_LEAST:
            return False
        headed = any(map(HEADING.match, self._writer.signs[main.start : main.end]))
        return not headed and self._writer.prose - main.said >= MAIN_LEAST * MAIN_MISSED

    def _leave_out_chrome(self, body: Region) -> None:
        weights = self._writer.weights
        said, links = ([*accumulate((w[n] for w in weights), initial=0)] for n in (0, 1))
        gone = 0  # blocks so far, so that parts within each other cost one look
        for region in self._within(body, {"aside", *SHARES}):
            at, end = region.start, region.end
            linked = 2 * (links[end] - links[at]) >= said[end] - said[at]
            little = region.said <= SHARES.get(region.kind, -1) * body.said
            if end > gone and (linked if region.kind == "aside" else little):
                self._leave_out(region)
                gone = end

    def _leave_out_beside(self, body: Region) -> None:
        """What is beside the text by its class, where enough stands without it, or it is little."""
        found = self._beside(body, WRAP_SHARE)
        running = self._page(body).running()
        rest = running[-1] - sum(running[part.end] - running[part.start] for part in found)
        if rest < max(LEAST_RUNNING, REST_SHARE * running[-1]):
            found = self._beside(body, BESIDE_SHARE)
            if sum(part.said for part in found) > body.said / 2:
                return  # the posts of a discussion
        for region in found:
            self._leave_out(region)

    def _beside(self, body: Region, share: float) -> list[Region]:
        """The outmost of such elements that hold less than this share of the prose, as does each of
        their name: the posts of a discussion have one.
        """
        parts = self._within(body, ["beside"])
        stay = {part.name for part in parts if part.said > share * body.said}
        found: list[Region] = []
        for part in parts:
            if part.name not in stay and (not found or part.end > found[-1].end):
                found.append(part)
        return found

    def _within(self, body: Region, kinds: Container[str]) -> list[Region]:
        """Parts of these kinds, the outer before the inner."""
        found = [
            part
            for part in self._found
            if part.kind in kinds and body.start <= part.start and part.end <= body.end
        ]
        return sorted(found, key=lambda part: (part.start, -part.end))

    def _kind(self, tag: str, attributes: Attributes) -> str:
        within = self._inside["article"] or self._inside["main"]
        tags = INNER_TAGS if within else _TAGS
        if kind := _ROLES.get(attributes.get("role", "")) or tags.get(tag):
            return kind
        if tag == "body" or tag in HEADINGS or not ("class" in attributes or "id" in attributes):
            return ""
        name = attributes.get("id", "") if tag != "section" else ""  # there a heading's words
        return "beside" if beside(attributes.get("class", ""), name) else ""

    def _end(self, region: Region, end: ElementEnd | None, tag: str) -> None:
        """Some sites wrap the whole page in one form; a form without prose is left out.

        Of parts within each other only the outmost is noted, so that no block is counted twice.
        """
        if end:
            end(tag)
        region.end = len(self._blocks)
        kind = region.kind
        if kind == "form" and region.prose == self._writer.paragraphs:
            self._leave_out(region)
        region.said = self._writer.prose - region.said
        if tag in ELEMENTS and region.said:
            self._elements.append(region)
        if kind:
            self._inside[kind] -= 1
            if kind in MARKED or not self._inside[kind]:
                self._found.append(region)

    def _leave_out(self, region: Region) -> None:
        self._blocks[region.start : region.end] = [""] * (region.end - region.start)

    def _all(self, kind: str) -> list[Region]:
        return [region for region in self._found if region.kind == kind and self._size(region)]

    def _size(self, region: Region) -> int:
        return sum(map(len, self._blocks[region.start : region.end]))

    def _joined(self, region: Region) -> str:
        return "".join(self._blocks[region.start : region.end]).strip("\n")
