"""Which line a mistyped ID was meant for: a guess for refusals, and what is sure enough to do."""

from collections.abc import Iterable, Sequence
from itertools import islice

from fsagent_tools.lines.document import Shown

LOOKED_AT = 50_000  # lines looked through for one refusal
FEW = 3  # lines that a refusal names for one ID


def near(name: str, line_id: str) -> bool:
    """Whether one letter is wrong, too few, too many, or swapped with the next."""
    from rapidfuzz.distance import OSA

    return OSA.distance(name, line_id, score_cutoff=1) <= 1


def likely(name: str, quote: str, shown: Iterable[Shown], beside: int | None) -> list[int]:
    """The lines that a wrong ID was probably meant for, the likeliest first, `FEW` at most.

    Those whose text begins with the quote go before those whose ID is a slip away: the nearest to
    the line `beside`, then the ones of which both is true. With no such text it is the IDs alone.
    """
    words = quote.encode(errors="replace").split()
    every = [*islice(shown, LOOKED_AT)]
    fits = [one for one in every if words and one.text.split()[: len(words)] == words]
    if beside is not None:
        fits.sort(key=lambda one: abs(one.line - beside))
    close = [one for one in fits or every if near(name, one.line_id)]
    first = fits[:1] if beside is not None or len(fits) == 1 else []
    return [one.line for one in dict.fromkeys([*first, *(close or fits)])][:FEW]


def sure(name: str, quote: str, shown: Sequence[Shown], gone: Iterable[str]) -> Shown | None:
    """The one line that begins with the quote and whose ID is a slip away from the name; or None.

    Of lines with the same words none may be as near, neither one that was shown nor, as nobody
    knows what it said, one of those `gone`.
    """
    words = quote.encode(errors="replace").split()
    fits = [one for one in shown if _begins(one.text.split(), words)]
    close = [one for one in fits if near(name, one.line_id)]
    if len(close) != 1 or (fits[1:] and any(near(name, other) for other in gone)):
        return None
    return close[0]


def only(name: str, shown: Sequence[Shown], gone: Iterable[str]) -> Shown | None:
    """The one line whose ID is a slip away from the name; none if one of those `gone` is, too."""
    close = [one for one in shown if near(name, one.line_id)]
    return close[0] if len(close) == 1 and not any(near(name, other) for other in gone) else None


def _begins(line: Sequence[bytes], words: Sequence[bytes]) -> bool:
    """Whether the words begin a line, or run on over its end; of two words of it at least."""
    whole = min(len(line), len(words))
    return bool(line) and len(words) >= min(2, len(line)) and line[:whole] == words[:whole]
