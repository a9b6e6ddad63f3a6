"""Find what a model quoted and say what goes there, or refuse with the reason."""

from collections.abc import Sequence
from typing import Literal

from fsagent_tools.errors import InvalidArguments, MultipleMatches, NoMatch
from fsagent_tools.matching.cascade import (
    EXACT,
    FUZZY,
    INDENTATION,
    REWORDING,
    Match,
    weaker_matches,
)
from fsagent_tools.matching.fuzzy import THRESHOLD
from fsagent_tools.matching.rewrite import adapted, literal
from fsagent_tools.matching.slips import explanation
from fsagent_tools.matching.source import BLANKS, Haystack, split_lines
from fsagent_tools.matching.spans import Found, Replacement, Span, apart, every
from fsagent_tools.matching.white_space import MOST, is_closed
from fsagent_tools.placeholders import elided

Occurrences = Literal["unique", "first", "all"] | int
NAMED = 10  # line numbers that an error names
SEPARATE = 10_000  # exact occurrences that get a span each; more share one span


def find(
    text: bytes,
    old: str,
    new: str,
    *,
    occurrences: Occurrences = "unique",
    fuzzy_threshold: float | None = THRESHOLD,
) -> Found:
    """Where `old` is in `text` (UTF-8) and what `new` becomes there.

    `occurrences`: the only one, the first, all, or at most the first n. `fuzzy_threshold`: least
    similarity, 0 to 1, of every line in a fuzzy match, which is made at one place only; None takes
    nothing but the exact text, whichever line endings it was sent with.
    Raises `InvalidArguments` for an `old` that is equal to `new`, or empty while the text is not,
    for a `new` with a placeholder and where nothing would change, `NoMatch`, and
    `MultipleMatches` with count and lines.
    """
    wanted, put = _encoded("old_string", old), _encoded("new_string", new)
    _check(old, new, occurrences, fuzzy_threshold)
    if text and not old:
        raise InvalidArguments(
            "`old_string` is empty, which fits everywhere.",
            hint="Quote the text to replace. To add lines use `insert`. "
            "To replace a whole file use `write`.",
        )
    if not (old or text):
        return Found(EXACT, (Replacement(Span(0, 0), put),), 1)
    source = Haystack(text)
    if spans := _exact(source, wanted, occurrences):
        match = Match(EXACT, spans, wanted, put)
        if fuzzy_threshold is not None:
            match = _dedented_line(source, match)
        found = _decided(source, match, occurrences)
    else:
        weaker = weaker_matches(source, wanted, put, fuzzy_threshold)
        nearest = next((match for match in weaker if match.spans), None)
        if nearest is None:
            raise NoMatch("`old_string` is not in the file.", hint=explanation(text, wanted, put))
        found = _decided(source, nearest, occurrences)
    if all(text[r.span.start : r.span.end] == r.text for r in found.replacements):
        raise InvalidArguments(
            "Nothing would change: the file already reads like `new_string` there.",
            hint="Line endings and the spelling of repeated lines stay as the file has them.",
        )
    return found


def _encoded(name: str, value: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise InvalidArguments(
            f"`{name}` holds {error.object[error.start]!r}, a lone surrogate, which cannot be "
            "encoded.",
            hint="Send the whole character.",
        ) from None


def _check(old: str, new: str, occurrences: Occurrences, threshold: float | None) -> None:
    if old == new:
        raise InvalidArguments(
            "`old_string` and `new_string` are the same, so nothing would change.",
            hint="Send the text as it should become in `new_string`.",
        )
    if line := elided(new, old):
        raise InvalidArguments(
            f"`new_string` has a placeholder, {line!r}, which would be written as it is.",
            hint="Write the whole text, or quote fewer lines in `old_string`.",
        )
    if occurrences not in ("unique", "first", "all") and (
        not isinstance(occurrences, int) or isinstance(occurrences, bool) or occurrences < 1
    ):
        raise InvalidArguments(
            f"occurrences: {occurrences!r} is neither unique, first, all nor a number from 1."
        )
    if threshold is not None and not 0 < threshold <= 1:
        raise InvalidArguments(f"fuzzy_threshold: {threshold!r} is not above 0 and at most 1.")


def _dedented_line(source: Haystack, match: Match) -> Match:
    """The whole line where one line, quoted without its indentation, becomes several.

    The lines sent lack the same indentation, which an exact replacement gives to the first only.
    """
    _, spans, old, new = match
    quoted = [line for line in split_lines(old) if line.strip()]
    if len(quoted) > 1 or not is_closed(old) or b"\n" not in new.rstrip():
        return match
    if len(spans) > 1 or spans[0].end - spans[0].start != len(old):  # or many in one span
        return match
    start = source.text.rfind(source.newline, 0, spans[0].start) + 1
    if start == spans[0].start or source.text[start : spans[0].start].strip(BLANKS):
        return match
    return match._replace(strategy=INDENTATION, spans=[Span(start, spans[0].end)])


def _exact(source: Haystack, wanted: bytes, occurrences: Occurrences) -> list[Span]:
    """Spans of the exact text: every one for `all`, else as many as the decision needs."""
    text = source.text
    if occurrences == "unique":
        found = every(text, wanted, MOST)
    elif occurrences == "all":
        count = text.count(wanted)
        if count > SEPARATE and not wanted.startswith(b"\n"):
            return [Span(text.find(wanted), text.rfind(wanted) + len(wanted))]
        found = every(text, wanted, count, overlap=False)
    else:
        found = every(text, wanted, _most(occurrences), overlap=False)
    spans = [Span(at, at + len(wanted)) for at in found]
    if wanted.startswith(b"\n") and b"\r" in text:  # never cut a CRLF in two
        spans = [Span(s.start - text.startswith(b"\r", s.start - 1), s.end) for s in spans]
    return spans


def _most(occurrences: Occurrences) -> int:
    return 1 if occurrences == "first" else int(occurrences)


def _decided(source: Haystack, match: Match, occurrences: Occurrences) -> Found:
    spans = match.spans
    if len(spans) > 1 and (occurrences == "unique" or match.strategy == FUZZY):
        raise _several(source, match)
    if len(spans) >= MOST and match.strategy != EXACT:
        raise _several(source, match)
    chosen = apart(spans)
    if occurrences not in ("unique", "all"):
        chosen = chosen[: _most(occurrences)]
    return Found(match.strategy, *_replaced(source, match, chosen))


def _replaced(
    source: Haystack, match: Match, spans: Sequence[Span]
) -> tuple[tuple[Replacement, ...], int]:
    """The replacements and how many places they change."""
    _, _, old, new = match
    if match.strategy != EXACT:
        keep = match.strategy in REWORDING
        texts = [adapted(source, span, old, new, keep=keep) for span in spans]
    elif len(spans) == 1 and spans[0].end - spans[0].start > len(old) + 1:  # many in one span
        (span,) = spans
        between = source.text[span.start : span.end]
        put = literal(source, Span(span.start, span.start + len(old)), old, new)
        replacement = Replacement(span, between.replace(old, put))
        return (replacement,), between.count(old)
    else:
        texts = [literal(source, span, old, new) for span in spans]
    return tuple(map(Replacement, spans, texts)), len(spans)


def _several(source: Haystack, match: Match) -> MultipleMatches:
    spans = match.spans
    numbers = [source.text.count(source.newline, 0, s.start) + 1 for s in spans[:NAMED]]
    shown = ", ".join(map(str, dict.fromkeys(numbers))) + (", ..." if spans[NAMED:] else "")
    count = f"{MOST} or more" if len(spans) >= MOST else str(len(spans))
    how = "" if match.strategy == EXACT else f" when compared by {match.strategy}"
    return MultipleMatches(
        f"`old_string` fits {count} places{how}: lines {shown}.",
        hint="Quote more of the neighbouring lines so that it fits one. "
        "Or replace all of them (`occurrences`).",
        details={"count": len(spans), "lines": numbers},
    )
