"""The strategies by which quoted text is found, strongest evidence first."""

from collections.abc import Iterator
from typing import NamedTuple

from fsagent_tools.matching import white_space as ws
from fsagent_tools.matching.fuzzy import Evidence, similar_block
from fsagent_tools.matching.slips import without_prefixes
from fsagent_tools.matching.source import Haystack
from fsagent_tools.matching.spans import Span

EXACT = "exact"
INDENTATION = "indentation"
LINE_ENDINGS = "line_endings"
PREFIXES = "read_prefixes"
FUZZY = "fuzzy"
PUNCTUATION = "punctuation"
_LEAST = 4  # letters and digits of a text that is looked for by a weaker strategy
_LARGEST = 16 << 20  # bytes of a text in which it is looked for
REWORDING = {FUZZY, PUNCTUATION}  # the file may word a line otherwise than `old` does


class Match(NamedTuple):
    """Places that one strategy found, with `old` and `new` as that strategy reads them."""

    strategy: str
    spans: list[Span]
    old: bytes
    new: bytes


def weaker_matches(source: Haystack, old: bytes, new: bytes, evidence: Evidence) -> Iterator[Match]:
    """What each strategy after the exact one finds; lazily, since the first with spans decides."""
    if not old.strip():
        return
    if b"\r" in source.text or b"\r" in old:
        yield Match(LINE_ENDINGS, ws.any_ending(source, old), old, new)
    if evidence.strict or ws.word_characters(old) < _LEAST or len(source.text) > _LARGEST:
        return
    exact = evidence.threshold is None  # but for what nobody sees
    if ws.may_hold(source.text, old):
        yield Match("trailing_space", ws.whole_lines(source, old, ws.trailing), old, new)
        yield from _white_space_matches(source, old, new) if not exact else ()
    if bare := without_prefixes(old, new):
        yield Match(PREFIXES, ws.whole_lines(source, bare[0], ws.trailing), *bare)
    if not exact:
        yield from _reworded_matches(source, old, new, evidence)


def _reworded_matches(
    source: Haystack, old: bytes, new: bytes, evidence: Evidence
) -> Iterator[Match]:
    if ws.has_typography(source.text) or ws.has_typography(old):
        spans = ws.whole_lines(source, old, ws.plain)
        there = b"".join(source.text[span.start : span.end] for span in spans)
        yield Match(PUNCTUATION, spans, *(ws.as_typed(text, there, old) for text in (old, new)))
    if len(ws.closed_lines(old)) > 1:
        yield Match(PUNCTUATION, ws.whole_lines(source, old, ws.unpunctuated), old, new)
    yield Match(FUZZY, similar_block(source, old, evidence), old, new)


def _white_space_matches(source: Haystack, old: bytes, new: bytes) -> Iterator[Match]:
    for name, key in (("white_space", ws.collapsed), (INDENTATION, ws.stripped)):
        yield Match(name, ws.whole_lines(source, old, key), old, new)
    inner = trimmed(old, new)
    if inner != (old, new):
        yield Match(INDENTATION, ws.whole_lines(source, inner[0], ws.stripped), *inner)
    yield Match("layout", ws.same_tokens(source, old), old, new)


def trimmed(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Both without the blank outer lines of `old`, or without its outer blanks in a single line.

    A complete blank line at the end of `old` stays: it says what follows.
    """
    if b"\n" not in old and b"\r" not in old:
        core = old.strip()
        before, after = old.split(core, 1)
        return core, new.removeprefix(before).removesuffix(after)
    closed = ws.is_closed(old)
    olds, news = ws.closed_lines(old), ws.closed_lines(new)
    head = next(i for i, line in enumerate(olds) if line.strip())
    tail = 0 if closed else next(i for i, line in enumerate(reversed(olds)) if line.strip())
    for _ in range(head):
        news = news[1:] if news and not news[0].strip() else news
    for _ in range(tail):
        news = news[:-1] if news and not news[-1].strip() else news
    core = b"\n".join(olds[head : len(olds) - tail])
    return core + b"\n" * closed, b"\n".join(news) + b"\n" * (ws.is_closed(new) and bool(news))
