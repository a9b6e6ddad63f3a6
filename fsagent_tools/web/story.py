"""The story of a page: the smallest element that holds most of its running text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from fsagent_tools.web.article import ROW, own_heading

ELEMENTS = {"article", "center", "div", "main", "section", "td"}  # that may hold a story
RUNNING = 120  # bytes from which on a block is running text: a teaser or a button says less
LEAST_RUNNING = 400  # bytes of running text below which a page has no story
_SHARE = 0.7  # of the page's running text that its story holds
_NEAR = 12  # blocks from the heading to the story between which a lead may stand
_LEAD = 50  # characters of a lead


@dataclass(slots=True)
class Region:
    """A part of the page, by the numbers of its blocks; `name` is its tag and class.

    prose: paragraphs that came before it. said: characters that are no links, before it, then in
    it.
    """

    kind: str
    name: tuple[str, str]
    start: int
    prose: int
    said: int
    end: int = 0


@dataclass(frozen=True)
class PageBlocks:
    """The blocks of a page, "" for those that are left out, how each begins as Markdown, and its
    characters with those of links among them."""

    blocks: Sequence[str]
    signs: Sequence[str]
    weights: Sequence[tuple[int, int]]

    def running(self) -> list[int]:
        """Bytes of running text before each block, and of all: paragraphs, code and tables."""
        return list(accumulate(map(self._running, range(len(self.blocks))), initial=0))

    def _running(self, at: int) -> int:
        """In bytes, as some scripts say more with a character."""
        text, sign, (said, links) = self.blocks[at], self.signs[at], self.weights[at]
        if not text:
            return 0
        if "```" in sign:
            return len(text)
        own = said - links
        if not text.isascii():
            own = own * len(text.encode()) // len(text)
        return own if own >= max(links, RUNNING) or (own > links and ROW.match(sign)) else 0


def story(page: PageBlocks, elements: Sequence[Region], title: str) -> Sequence[str]:
    """The blocks; where an element holds the story, "" for all but it, its heading and its lead."""
    running = page.running()
    if running[-1] < LEAST_RUNNING or not (found := _holder(elements, running)):
        return page.blocks
    kept = [found.start <= at < found.end for at in range(len(page.blocks))]
    seen = [text and sign for text, sign in zip(page.blocks, page.signs, strict=True)]
    own = own_heading(seen[: found.end], page.weights[: found.end], title)
    for at, sign in enumerate(seen[: found.start]):
        near = own is not None and own < at and found.start - own <= _NEAR
        kept[at] = at == own or sign.startswith("\n\n# ") or (near and _is_lead(page.weights[at]))
    return [text if keep else "" for text, keep in zip(page.blocks, kept, strict=True)]


def _is_lead(weight: tuple[int, int]) -> bool:
    said, links = weight
    return said - links >= max(_LEAD, links)


def _holder(elements: Sequence[Region], running: Sequence[int]) -> Region | None:
    """The smallest element with most of the text; where others of its name hold some too, as the
    answers to a question do, the smallest around them all."""

    def text_of(element: Region) -> int:
        return running[element.end] - running[element.start]

    def smallest(found: Sequence[Region]) -> Region | None:
        return min(found, key=lambda element: element.end - element.start, default=None)

    held = smallest([each for each in elements if text_of(each) >= _SHARE * running[-1]])
    if not held:
        return None
    alike = [each for each in elements if each.name == held.name and text_of(each)]
    apart = [each for each in alike if each.end <= held.start or each.start >= held.end]
    start = min(each.start for each in [held, *apart])
    end = max(each.end for each in [held, *apart])
    return smallest([each for each in elements if each.start <= start and each.end >= end])
