"""The strategies by which quoted text is found, strongest evidence first."""

from collections.abc import Iterator
from typing import NamedTuple

from fsagent_tools.edits import white_space as ws
from fsagent_tools.edits.fuzzy import Evidence, similar_block
from fsagent_tools.edits.haystack import Haystack
from fsagent_tools.edits.spans import Span

EXACT, LINE_ENDINGS, FUZZY = "exact", "line_endings", "fuzzy"
INDENTATION = "indentation"
_LEAST = 4  # letters and digits of a text that is looked for by a weaker strategy
_LARGEST = 16 << 20  # bytes of a text in which it is looked for


class Match(NamedTuple):
    """Places that one strategy found."""

    strategy: str
    spans: list[Span]


def weaker_matches(source: Haystack, old: bytes, evidence: Evidence) -> Iterator[Match]:
    """What each strategy after the exact one finds; lazily, since the first with spans decides."""
    if not old.strip():
        return
    if b"\r" in source.text or b"\r" in old:
        yield Match(LINE_ENDINGS, ws.any_ending(source, old))
    few = ws.word_characters(old) < _LEAST
    if evidence.threshold is None or few or len(source.text) > _LARGEST:
        return
    if ws.may_hold(source.text, old):
        yield Match("trailing_space", ws.whole_lines(source, old, ws.trailing))
        yield Match("white_space", ws.whole_lines(source, old, ws.collapsed))
        yield Match(INDENTATION, ws.whole_lines(source, old, ws.stripped))
    yield Match(FUZZY, similar_block(source, old, evidence))
