"""How alike two texts are; rapidfuzz is loaded at the first comparison."""

from collections.abc import Sequence


def similarity(one: str, other: str, least: float = 0.0) -> float:
    """Share of characters in common order, 0 to 1; 0 when it is below `least`."""
    from rapidfuzz import fuzz

    return fuzz.ratio(one, other, score_cutoff=least * 100) / 100


def most_similar(text: str, choices: Sequence[str], limit: int, least: float) -> list[int]:
    """Positions of the `limit` choices most similar to the text, best first."""
    from rapidfuzz import fuzz, process

    found = process.extract(text, choices, scorer=fuzz.ratio, limit=limit, score_cutoff=least * 100)
    return [position for _, _, position in found]
