"""Which blocks of a page are its text, and which are menus, teasers and buttons around it."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_LINKED = 0.73  # share of links from which on a block is no prose
_LINKED_CODE = 0.9  # the same where it names code, as a parameter and the page of its type do
_SHORT = 50  # characters up to which a block beside those is none either
_LEAST = 150  # characters of prose below which a page is an index, whose links are its text
_SHARE = 0.1  # of all words, likewise
_PARAGRAPH = 200  # characters of prose, without links, that are no caption or teaser
_TEASER = 250  # characters beneath a linked heading that only tell of the page behind it
_NAME = 8  # letters of a heading that tell a page from others
_HEADING = re.compile(r"\n\n#{1,6} ")
_ROW = re.compile(r"\n+\|")
# Words of a class or id whose element stands beside the text.
ASIDE_NAMES = re.compile(
    r"(?:^|[\s_-])(?:(?:site|top|main|sub|global|page)?(?:nav|menu|footer|masthead|sidebar)"
    r"|breadcrumbs?|related|recommend(?:ed|ations)?|shar(?:e|ing)|social|cookies?|consent|banner"
    r"|newsletter|subscribe|promos?|sponsor(?:ed)?|advert\w*|ads?|trending|popular|pagination|pager"
    r"|popup|modal|toolbar|disqus|comments?|outbrain|taboola|skip|widget|tags|teasers?"
    r"|nav(?:bar|igation|header|footer))(?:$|[\s_-])",
    re.IGNORECASE,
)
BESIDE_SHARE = 0.25  # share of the page's prose up to which such an element is left out


@lru_cache(1024)  # few classes, many elements
def beside(names: str, name: str) -> bool:
    """Whether an element with this class and id stands beside the text."""
    return bool(ASIDE_NAMES.search(f"{names} {name}"[:300]))


def prose(blocks: Sequence[str], weights: Sequence[tuple[int, int]], title: str) -> list[str]:
    """`blocks` without those that are mostly links, what stands alone among them, and what comes
    before the page's own heading or tells of other pages.

    weights: for each block its characters and those of links among them.
    """
    kept = [_counts(*pair) for pair in zip(blocks, weights, strict=True)]
    total = sum(said for text, (said, _) in zip(blocks, weights, strict=True) if text)
    left = sum(said - links for keep, (said, links) in zip(kept, weights, strict=True) if keep)
    if left < max(_LEAST, _SHARE * total):
        return list(blocks)
    _smooth(blocks, weights, kept)
    if (own := _own_heading(blocks, weights, title)) is not None:
        _crop(weights, kept, own)
        _drop_teasers(blocks, weights, kept, own)
    return [text if keep else "" for text, keep in zip(blocks, kept, strict=True)]


def _counts(text: str, weight: tuple[int, int]) -> bool:
    said, links = weight
    share = _LINKED_CODE if "`" in text else _LINKED
    return bool(text) and (
        links <= share * max(said, 1) or bool(_HEADING.match(text) or _ROW.match(text))
    )


def _smooth(blocks: Sequence[str], weights: Sequence[tuple[int, int]], kept: list[bool]) -> None:
    """Leave out headings over nothing, and short words between blocks that are left out."""
    told = [at for at, text in enumerate(blocks) if text]
    empty, gone = bool(told) and not kept[told[-1]], False  # up to the next heading; the next block
    for n in reversed(range(len(told))):
        at = told[n]
        text = blocks[at]
        if _HEADING.match(text):
            kept[at] = not empty or text.startswith("\n\n# ")
            empty = gone = True
            continue
        lone = gone and (n == 0 or not kept[told[n - 1]]) and weights[at][0] <= _SHORT
        if kept[at] and lone and not _ROW.match(text) and "```" not in text:
            kept[at] = False
        gone = not kept[at]
        empty &= gone


def _own_heading(
    blocks: Sequence[str], weights: Sequence[tuple[int, int]], title: str
) -> int | None:
    """The longest heading that is in the page's title."""
    said, found, longest = _letters(title), None, _NAME
    for at, (text, (characters, links)) in enumerate(zip(blocks, weights, strict=True)):
        if _HEADING.match(text) and links <= _LINKED * characters:
            heading = _letters(text)
            if len(heading) > longest and heading in said:
                found, longest = at, len(heading)
    return found


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _crop(weights: Sequence[tuple[int, int]], kept: list[bool], own: int) -> None:
    """Leave out what is before the page's own heading, unless it is told in whole paragraphs."""
    if all(said - links < _PARAGRAPH for said, links in weights[:own]):
        kept[:own] = [False] * own


def _drop_teasers(
    blocks: Sequence[str], weights: Sequence[tuple[int, int]], kept: list[bool], own: int
) -> None:
    """Leave out sections that are a link to another page and few words, where there are several
    and they are not what the page is about."""
    told = [at for at in range(own + 1, len(blocks)) if kept[at]]
    heads = [n for n, at in enumerate(told) if _HEADING.match(blocks[at])]
    sections = [told[n:end] for n, end in zip(heads, [*heads[1:], len(told)], strict=False)]
    teasers = [
        section
        for section in sections
        if weights[section[0]][1] > _LINKED * weights[section[0]][0]
        and _words(weights, section) < _TEASER
    ]
    dropped = {at for section in teasers for at in section}
    left = _words(weights, {*told} - dropped)
    if len(teasers) > 1 and left >= max(_LEAST, _words(weights, dropped) / 2):
        for at in dropped:
            kept[at] = False


def _words(weights: Sequence[tuple[int, int]], blocks: Iterable[int]) -> int:
    """Characters of these blocks that are no links."""
    return sum(weights[at][0] - weights[at][1] for at in blocks)
