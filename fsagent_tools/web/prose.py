"""Which blocks of a page are its text, and which are menus, teasers and buttons around it."""

import re
from collections.abc import Sequence
from functools import lru_cache

from fsagent_tools.web.article import HEADING, LEAST_PROSE, LINKED, ROW, article

_LINKED_CODE = 0.9  # the same where it names code, as a parameter and the page of its type do
_SHORT = 50  # characters up to which a block beside those is none either
_SHARE = 0.1  # of all words, likewise
# Words of a class or id whose element stands beside the text.
ASIDE_NAMES = re.compile(
    r"(?:^|[\s_-])(?:(?:site|top|main|sub|global|page)?(?:nav|menu|footer|masthead|sidebar)"
    r"|breadcrumbs?|related|recommend(?:ed|ations)?|shar(?:e|ing)|social|cookies?|consent|banner"
    r"|newsletter|subscribe|promos?|sponsor(?:ed)?|advert\w*|ads?|trending|popular|pagination|pager"
    r"|popup|modal|toolbar|disqus|comments?|outbrain|taboola|skip|widget|tags|teasers?"
    r"|nav(?:bar|igation|header|footer))(?:$|[\s_-])",
    re.IGNORECASE,
)


@lru_cache(1024)  # few classes, many elements
def beside(names: str, name: str) -> bool:
    """Whether an element with this class and id stands beside the text."""
    return bool(ASIDE_NAMES.search(f"{names} {name}"[:300]))


def prose(
    blocks: Sequence[str], signs: Sequence[str], weights: Sequence[tuple[int, int]], title: str
) -> str:
    """`blocks` as one text, without those that are mostly links, what stands alone among them, and
    what comes before the page's own heading or tells of other pages.

    signs: for each block how it begins as Markdown. weights: its characters and those of links
    among them.
    """
    seen = [text and sign for text, sign in zip(blocks, signs, strict=True)]
    kept = _kept(seen, weights, title)
    return "".join(text for text, keep in zip(blocks, kept, strict=True) if keep)


def _kept(blocks: Sequence[str], weights: Sequence[tuple[int, int]], title: str) -> list[bool]:
    kept = [_counts(*pair) for pair in zip(blocks, weights, strict=True)]
    total = sum(said for text, (said, _) in zip(blocks, weights, strict=True) if text)
    left = sum(said - links for keep, (said, links) in zip(kept, weights, strict=True) if keep)
    if left < max(LEAST_PROSE, _SHARE * total):
        return [True] * len(blocks)
    _smooth(blocks, weights, kept)
    article(blocks, weights, kept, title)
    return kept


def _counts(text: str, weight: tuple[int, int]) -> bool:
    said, links = weight
    share = _LINKED_CODE if "`" in text else LINKED
    return bool(text) and (
        links <= share * max(said, 1) or bool(HEADING.match(text) or ROW.match(text))
    )


def _smooth(blocks: Sequence[str], weights: Sequence[tuple[int, int]], kept: list[bool]) -> None:
    """Leave out headings over nothing, and short words between blocks that are left out."""
    shown = [at for at, text in enumerate(blocks) if text]
    ends = bool(shown) and kept[shown[-1]] and bool(blocks[-1])  # nothing was left out below
    empty, gone = bool(shown) and not ends, False  # up to the next heading; the next block
    for n in reversed(range(len(shown))):
        at = shown[n]
        text = blocks[at]
        if HEADING.match(text):
            kept[at] = not empty or text.startswith("\n\n# ")
            empty = gone = True
            continue
        lone = gone and (n == 0 or not kept[shown[n - 1]]) and weights[at][0] <= _SHORT
        if kept[at] and lone and not ROW.match(text) and "```" not in text:
            kept[at] = False
        gone = not kept[at]
        empty &= gone
