"""Where a text was found and what to put there; offsets count UTF-8 bytes."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """Half-open byte range of the original text that is replaced."""

    start: int
    end: int


@dataclass(frozen=True)
class Replacement:
    """UTF-8 text for a span, already indented and with the file's line endings."""

    span: Span
    text: bytes


@dataclass(frozen=True)
class Found:
    """What `find` decided: the strategy that matched and non-overlapping replacements in order.

    `count` is the number of places that change; very many share one replacement. `how` says what
    was done to the new text.
    """

    strategy: str
    replacements: tuple[Replacement, ...]
    count: int
    how: str = ""

    def apply(self, text: bytes) -> bytes:
        """`text` with every replacement made; bytes outside the spans are the same."""
        parts, end = [], 0
        for replacement in self.replacements:
            parts += [text[end : replacement.span.start], replacement.text]
            end = replacement.span.end
        return b"".join([*parts, text[end:]])


def every(text: bytes, needle: bytes, most: int, *, overlap: bool = True) -> list[int]:
    """Offsets of up to `most` occurrences of `needle`; "aa" is in "aaaa" three times."""
    found: list[int] = []
    step = 1 if overlap else len(needle)
    position = text.find(needle)
    while position >= 0 and len(found) < most:
        found.append(position)
        position = text.find(needle, position + step)
    return found


def apart(spans: Sequence[Span]) -> list[Span]:
    """The spans from left to right without those that overlap an earlier one."""
    kept: list[Span] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept
