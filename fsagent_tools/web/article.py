"""A page that is an article: it begins with the heading of its title, and tells of no others."""

import re
from collections.abc import Iterable, Sequence

LINKED = 0.73  # share of links from which on a block is no prose
LEAST_PROSE = 150  # characters of prose below which a page is an index, whose links are its text
_PARAGRAPH = 200  # characters of prose, without links, that are no caption or teaser
_TEASER = 250  # characters beneath a linked heading that only tell of the page behind it
_NAME = 8  # letters of a heading that tell a page from others
HEADING = re.compile(r"\n\n#{1,6} ")
ROW = re.compile(r"\n+\|")


def article(
    blocks: Sequence[str], weights: Sequence[tuple[int, int]], kept: list[bool], title: str
) -> None:
    """Leave out of `kept` what is around the article, if a heading says what the title says."""
    if (own := own_heading(blocks, weights, title)) is not None:
        _crop(weights, kept, own)
        _drop_teasers(blocks, weights, kept, own)


def own_heading(
    blocks: Sequence[str], weights: Sequence[tuple[int, int]], title: str
) -> int | None:
    """The longest heading that is in the page's title."""
    said, found, longest = _letters(title), None, _NAME
    for at, (text, (characters, links)) in enumerate(zip(blocks, weights, strict=True)):
        if HEADING.match(text) and links <= LINKED * characters:
            heading = _letters(text)
            if len(heading) > longest and heading in said:
                found, longest = at, len(heading)
    return found


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _crop(weights: Sequence[tuple[int, int]], kept: list[bool], own: int) -> None:
    """Leave out what is before the page's own heading, unless whole paragraphs stand there."""
    if all(said - links < _PARAGRAPH for said, links in weights[:own]):
        kept[:own] = [False] * own


def _drop_teasers(
    blocks: Sequence[str], weights: Sequence[tuple[int, int]], kept: list[bool], own: int
) -> None:
    """Leave out sections that are a link to another page and few words, where there are several
    and they are not what the page is about."""
    shown = [at for at in range(own + 1, len(blocks)) if kept[at]]
    heads = [n for n, at in enumerate(shown) if HEADING.match(blocks[at])]
    sections = [shown[n:end] for n, end in zip(heads, [*heads[1:], len(shown)], strict=False)]
    teasers = [
        section
        for section in sections
        if weights[section[0]][1] > LINKED * weights[section[0]][0]
        and _words(weights, section) < _TEASER
    ]
    dropped = {at for section in teasers for at in section}
    left = _words(weights, {*shown} - dropped)
    if len(teasers) > 1 and left >= max(LEAST_PROSE, _words(weights, dropped) / 2):
        for at in dropped:
            kept[at] = False


def _words(weights: Sequence[tuple[int, int]], blocks: Iterable[int]) -> int:
    """Characters of these blocks that are no links."""
    return sum(weights[at][0] - weights[at][1] for at in blocks)
