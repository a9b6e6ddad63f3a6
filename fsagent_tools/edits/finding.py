"""Find what a model quoted and say what goes there, or refuse with the reason."""

from collections.abc import Sequence
from functools import cache
from typing import Literal

from fsagent_tools.edits.cascade import (
    EXACT,
    FUZZY,
    INDENTATION,
    LINE_ENDINGS,
    Match,
    weaker_matches,
)
from fsagent_tools.edits.fuzzy import SIMILAR
from fsagent_tools.edits.fuzzy import Evidence as Evidence
from fsagent_tools.edits.guards import refuse_marks, refuse_slips
from fsagent_tools.edits.haystack import Haystack
from fsagent_tools.edits.placeholders import elided
from fsagent_tools.edits.places import lines_of, telling_lines
from fsagent_tools.edits.rewrite import AS_SENT, Candidates, adapted, completed, literal
from fsagent_tools.edits.slips import explanation
from fsagent_tools.edits.spans import Found, Replacement, Span, apart, every
from fsagent_tools.edits.white_space import MOST
from fsagent_tools.errors import InvalidArguments, InvalidChange, MultipleMatches, NoMatch

Occurrences = Literal["unique", "first", "all"] | int
_READINGS, _READING_LINES = 2, 6  # shown of a text with several readings
NAMED = 10  # line numbers that an error names
SEPARATE = 10_000  # exact occurrences that get a span each; more share one span


def find(
    text: bytes,
    old: str,
    new: str,
    *,
    occurrences: Occurrences = "unique",
    evidence: Evidence = SIMILAR,
) -> Found:
    """Where `old` is in `text` (UTF-8) and what `new` becomes there.

    `occurrences`: the only one, the first, all, or at most the first n; of anything but the exact
    text there has to be one. `evidence`: how much else than the exact text is taken.
    Raises `InvalidArguments` for an `old` that is equal to `new`, or empty while the text is not,
    for a `new` with a placeholder and where nothing would change, `InvalidChange` for a `new`
    that repeats the line beside it or whose indentation has two readings, `NoMatch`,
    `MultipleMatches` with count and lines, and what `evidence.check` raises.
    """
    wanted, put = _encoded("old_string", old), _encoded("new_string", new)
    _check(old, new, occurrences, evidence.threshold)
    if text and not old:
        raise InvalidArguments(
            "`old_string` is empty, which fits everywhere.",
            hint="Quote the text to replace. To add lines use `insert`. "
            "To replace a whole file use `write`.",
        )
    if not (old or text):
        return Found(EXACT, (Replacement(Span(0, 0), put),), 1)
    source = Haystack(text, evidence.check)
    if spans := _exact(source, wanted, occurrences):
        match = Match(EXACT, spans)
    else:
        weaker = weaker_matches(source, wanted, evidence)
        match = next((match for match in weaker if match.spans), Match(EXACT, []))
        if not match.spans:
            raise NoMatch("`old_string` is not in the file.", hint=explanation(text, wanted, put))
    found = _decided(source, match, (wanted, put), occurrences, evidence)
    if all(text[r.span.start : r.span.end] == r.text for r in found.replacements):
        raise InvalidArguments(
            "Nothing would change: the file already reads like `new_string` there.",
            hint="Line endings and the spelling of repeated lines stay as the file has them.",
        )
    refuse_slips(source, found, wanted, put)
    refuse_marks(source, found, wanted, put, evidence.parses)
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
        spans = [
            Span(s.start - (text[max(0, s.start - 1) : s.start] == b"\r"), s.end) for s in spans
        ]
    return spans


def _most(occurrences: Occurrences) -> int:
    return 1 if occurrences == "first" else int(occurrences)


def _decided(
    source: Haystack,
    match: Match,
    quote: tuple[bytes, bytes],
    occurrences: Occurrences,
    evidence: Evidence,
) -> Found:
    strategy, spans = match
    old, new = quote
    verbatim = strategy in (EXACT, LINE_ENDINGS)
    if len(spans) > 1 and (occurrences == "unique" or not verbatim):
        raise _several(source, match)
    chosen = apart(spans)
    if occurrences not in ("unique", "all"):
        chosen = chosen[: _most(occurrences)]
    if len(chosen) > 1:
        texts = [literal(source, span, old, new) for span in chosen]
        how = "" if occurrences == "all" else _of_several(source, old, chosen)
        return Found(strategy, tuple(map(Replacement, chosen, texts)), len(chosen), how)
    (span,) = chosen
    if strategy == EXACT and span.end - span.start > len(old) + 1:  # many in one span
        return _many(source, quote, span)
    if verbatim:
        span, readings = completed(source, span, old, new)
        text, how = _settled(evidence, source, span, readings)
        strategy = INDENTATION if how else strategy
    else:
        readings = adapted(source, span, old, new, keep=strategy == FUZZY)
        text, how = _settled(evidence, source, span, readings)
    if occurrences not in ("unique", "all"):
        how = ", ".join(filter(None, (how, _of_several(source, old, chosen))))
    return Found(strategy, (Replacement(span, text),), 1, how)


def _of_several(source: Haystack, old: bytes, chosen: Sequence[Span]) -> str:
    """Which places were taken, where there are more."""
    count = len(every(source.text, old, MOST, overlap=False))
    if count <= len(chosen):
        return ""
    lines = "line" if len(chosen) == 1 else "lines"
    total = f"{MOST} or more" if count >= MOST else count
    return f"replaced {len(chosen)} of {total} occurrences ({lines} {_numbers(source, chosen)})"


def _numbers(source: Haystack, spans: Sequence[Span]) -> str:
    numbers = (source.text.count(source.newline, 0, s.start) + 1 for s in spans[:NAMED])
    return ", ".join(map(str, dict.fromkeys(numbers))) + ", ..." * bool(spans[NAMED:])


def _many(source: Haystack, quote: tuple[bytes, bytes], span: Span) -> Found:
    old, new = quote
    between = source.text[span.start : span.end]
    put = literal(source, Span(span.start, span.start + len(old)), old, new)
    return Found(EXACT, (Replacement(span, between.replace(old, put)),), between.count(old))


def _settled(
    evidence: Evidence, source: Haystack, span: Span, readings: Candidates
) -> tuple[bytes, str]:
    """The reading that parses, else the likeliest, with its words. Raises `InvalidChange`.

    No more of them are parsed than decide.
    """
    options = list(readings.texts.items())
    whole, parses = source.text, evidence.parses

    @cache
    def parsing(text: bytes) -> bool:
        if not options[1:] or not parses:  # then a large text is not copied
            return True
        return parses(whole[: span.start] + text + whole[span.end :]) is not False

    if evidence.threshold is None:  # only the text as it was sent will do
        sent = next((option for option in options if option[1] in ("", AS_SENT)), options[0])
        if parsing(sent[0]) or not any(parsing(text) for text, _ in options):
            return sent
    elif readings.sure:
        return next((option for option in options if parsing(option[0])), options[0])
    right = [option for option in options if parsing(option[0])]
    if len(right) == 1 < len(options) and evidence.threshold is not None:
        return right[0]
    raise _doubtful(source, span, right if len(right) > 1 else options)


def _doubtful(source: Haystack, span: Span, options: Sequence[tuple[bytes, str]]) -> InvalidChange:
    start = source.text.rfind(source.newline, 0, span.start) + 1
    head = source.text[start : span.start]
    shown = [
        f"{how or 'as sent'}:\n{_first_lines(head + text)}" for text, how in options[:_READINGS]
    ]
    told = "\n".join([*shown, "The file has there:"])
    return InvalidChange(
        "The indentation of `new_string` can be read in two ways.",
        hint="Quote the lines in `old_string` with the indentation they have in the file, and give "
        f"`new_string` the indentation it should have there.\n{told}",
        details={"places": [lines_of(source, span)]},
    )


def _first_lines(text: bytes) -> str:
    return "\n".join(text.decode(errors="replace").splitlines()[:_READING_LINES])


def _several(source: Haystack, match: Match) -> MultipleMatches:
    spans = match.spans
    numbers = [source.text.count(source.newline, 0, s.start) + 1 for s in spans[:NAMED]]
    count = f"{MOST} or more" if len(spans) >= MOST else str(len(spans))
    how = "" if match.strategy == EXACT else f" when compared by {match.strategy}"
    return MultipleMatches(
        f"`old_string` fits {count} places{how}: lines {_numbers(source, spans)}.",
        hint="Quote more of the neighbouring lines so that it fits one. "
        "Or replace all of them (`occurrences`).",
        details={"count": len(spans), "lines": numbers, "places": telling_lines(source, spans)},
    )
