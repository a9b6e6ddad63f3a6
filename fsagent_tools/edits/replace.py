"""A quote and its new text made hunks: where it is, what it becomes, and whether that holds."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from fsagent_tools.edits.checks import Doubt, confirmed, doubt
from fsagent_tools.edits.indentation import (
    AS_SENT,
    Fitted,
    Reading,
    fit,
    quoted_readings,
    settled,
    strange_depth,
)
from fsagent_tools.edits.matching import EXACTLY as EXACTLY
from fsagent_tools.edits.matching import (
    SIMILAR,
    VERBATIM,
    Evidence,
    Haystack,
    Match,
    Occurrences,
    closed_lines,
    locate_quote,
    wanted_occurrences,
)
from fsagent_tools.encoding import as_quoted
from fsagent_tools.errors import InvalidArguments, InvalidChange, NoMatch
from fsagent_tools.lines.hunks import Hunk, refine, rewrite
from fsagent_tools.lines.source import text_of

_FIRST_ENDS = re.compile(rb"\n+")


@dataclass(frozen=True)
class Found:
    """What `find` decided: the strategy that matched and the hunks of the text, in order.

    `count` is the number of places that change, `how` says what was done to the new text. ends:
    whether a line ending ends the text then, None if as before.
    """

    strategy: str
    hunks: tuple[Hunk, ...]
    count: int = 1
    how: str = ""
    ends: bool | None = None

    def apply(self, text: bytes) -> bytes:
        """`text` with every hunk applied; bytes outside of them are the same."""
        return rewrite(Haystack(text).lines, text, self.hunks, self.ends).data


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
    text there has to be one. `evidence`: how much else than the exact text is taken. Without a
    threshold new text is taken as sent. What is doubtful is said by `how` where nobody is asked.
    Raises `InvalidArguments` for an `old` that is equal to `new` or empty while the text is not, or
    if nothing would change, `InvalidChange` for a doubtful `new`, `NoMatch`, `MultipleMatches`.
    """
    wanted, put = as_quoted(_encoded("old_string", old), text), _encoded("new_string", new)
    _check(old, new, occurrences, evidence.threshold)
    source = Haystack(text, evidence)
    strategy, place, wanted, put = _located(source, wanted, put, occurrences, evidence)
    put, text, verbatim = source.unified(put), source.joined, strategy in VERBATIM
    parts, count, which = [(place.begin, place.end)], 1, ""
    if verbatim and occurrences != "unique":
        parts, count, which = wanted_occurrences(source, place, occurrences)
    there = text[place.begin : place.end]
    whole = [(*part, text[slice(*part)].replace(there, put) if there else put) for part in parts]
    ends = source.ends(*whole[-1])
    sent = [source.hunk(*one) for one in whole]
    hunks, fitted = sent, Fitted(sent[0])
    if count == 1 and evidence.asks:
        quote = there if verbatim else source.unified(wanted)
        closed = put if evidence.whole_lines else _closed_as(source, place, quote, put)
        if closed != put and evidence.threshold is None:
            longer, other = ("new", "old") if len(put) > len(closed) else ("old", "new")
            raise _unlike_ends(f"`{longer}_string` ends with a newline and `{other}_string`")
        fitted = _fitted(source, place, quote, closed, exact=verbatim)
        hunks = sent if evidence.threshold is None else [fitted.hunk]
    changed = _changed(source, hunks, ends)
    grows = put.count(b"\n") > wanted.count(b"\n")  # else a word changes, wherever it is
    asked = [*hunks, *sent] if count == 1 else changed if grows else []
    key = source.lines.count, *changed
    again = occurrences != "unique" or len(there) >= len(text) - 1  # its last line end aside
    sure = partial(confirmed, evidence.doubted, size=len(wanted), again=again)
    doubted = _doubted(source, asked, evidence, partial(sure, key), _meant(again))
    if fitted.doubt and not sure(("depth", *key)):
        raise _doubtful(fitted.doubt.readings, (place.start + 1, place.stop), _meant(again))
    how = ", ".join(filter(None, (fitted.how * (hunks is not sent), which, doubted)))
    return Found(strategy, tuple(changed), count, how, ends)


def _located(
    source: Haystack, wanted: bytes, put: bytes, occurrences: Occurrences, evidence: Evidence
) -> tuple[str, Match, bytes, bytes]:
    """Where a quote is, by which strategy, and both texts as they were found.

    One that begins with line ends is looked for without them, too, if as many begin the new text:
    the first of them ends the line above, which is no line of the quote.
    """
    try:
        return *locate_quote(source, (wanted, put), occurrences, evidence), wanted, put
    except NoMatch:
        exact = evidence.threshold is None or evidence.whole_lines
        wanted, put = source.unified(wanted), source.unified(put)
        ends = _FIRST_ENDS.match(wanted)
        if exact or not ends or not wanted.strip():
            raise
        if not put.startswith(ends[0]) and ends[0].count(b"\n") > 1:
            raise  # blank lines that are to go
        wanted, put = wanted[ends.end() :], put.removeprefix(ends[0])
        with suppress(NoMatch):
            strategy, place = locate_quote(source, (wanted, put), occurrences, evidence)
            if not source.head(place.begin).strip():
                return strategy, place, wanted, put
        raise


def _changed(source: Haystack, hunks: Sequence[Hunk], ends: bool | None) -> list[Hunk]:
    """The parts of the hunks that differ from the lines there; raises where none does."""
    changed = [part for hunk in hunks for part in refine(hunk, source.old(hunk))]
    if changed or ends not in (None, source.lines.ends_with_newline):
        return changed
    raise InvalidArguments(
        "Nothing would change: the file already reads like `new_string` there.",
        hint="Line endings and the spelling of repeated lines stay as the file has them.",
    )


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
    if occurrences not in ("unique", "first", "all") and (
        not isinstance(occurrences, int) or isinstance(occurrences, bool) or occurrences < 1
    ):
        raise InvalidArguments(
            f"occurrences: {occurrences!r} is neither unique, first, all nor a number from 1."
        )
    if threshold is not None and not 0 < threshold <= 1:
        raise InvalidArguments(f"fuzzy_threshold: {threshold!r} is not above 0 and at most 1.")


def _fitted(source: Haystack, place: Match, old: bytes, put: bytes, *, exact: bool) -> Fitted:
    """The hunk of one place, or readings between which nobody can decide."""
    head = source.head(place.begin)
    there = source.lines.between(place.start, place.stop)
    readings, sure = quoted_readings(head, closed_lines(old), closed_lines(put), there, exact=exact)

    def hunk(reading: Reading) -> Hunk:
        lines = b"\n".join(reading.lines) + b"\n" * put.endswith(b"\n")
        return source.hunk(place.begin - len(head), place.end, lines if put else head)

    right = settled(readings, sure, lambda reading: source.parses(hunk(reading)))
    if right is None:
        return _asked(hunk(readings[-1]), readings)
    if len(readings) > 1 or right.how or head or not exact:
        return Fitted(hunk(right), right.how)
    found = hunk(right)
    judged = source.parses(found)
    fitted = fit(source, found, found.start) if judged is not None else Fitted(found)
    if fitted.hunk == found and (judged is False or fitted.doubt):
        return fitted
    if judged is False:
        return _asked(found, [right, Reading(fitted.hunk.new, fitted.how)])
    if levelled := strange_depth(source, found):
        return _asked(found, [right, Reading(levelled, "like the lines there")])
    return Fitted(found)  # what is quoted exactly is put as it was sent


def _asked(hunk: Hunk, readings: Sequence[Reading]) -> Fitted:
    """What is doubtful about the first two readings: the first line of each."""
    firsts = text_of([next(filter(bytes.strip, one.lines), b"") for one in readings[:2]])
    hows = [one.how or AS_SENT for one in readings[:2]]
    shown = "\n".join(map(":\n".join, zip(hows, firsts, strict=True)))
    return Fitted(hunk, doubt=Doubt("", readings=shown))


def _closed_as(source: Haystack, place: Match, old: bytes, put: bytes) -> bytes:
    """New text that ends its last line as the quote does: that line ending is the file's.

    A blank line that was sent stays; before one, the quote may as well reach over it.
    """
    text = source.joined
    behind = text[place.end : place.end + 1]
    if put.endswith(b"\n\n") and behind == b"\n" and not old.endswith(b"\n"):
        raise _unlike_ends("`new_string` ends with a blank line and `old_string`")
    open_ended = bool(put) and not put.endswith(b"\n") and not source.head(place.begin).strip()
    if old.endswith(b"\n") and open_ended and behind not in (b"", b"\n"):
        return put + b"\n"
    if put.endswith(b"\n") and old and not old.endswith(b"\n") and behind == b"\n":
        return put[:-1] if put[:-1].rpartition(b"\n")[2].strip() else put
    return put


def _unlike_ends(what: str) -> InvalidChange:
    return InvalidChange(
        f"{what} does not.",
        hint="End both alike, or quote the line below, too, in both.",
    )


def _doubted(
    source: Haystack,
    hunks: Sequence[Hunk],
    evidence: Evidence,
    sure: Callable[[], bool],
    meant: str,
) -> str:
    """What is doubtful about the hunks; raised where that is to be asked about.

    sure: whether the change is confirmed. meant: how to do that.
    """
    for hunk in dict.fromkeys(hunks):
        found = doubt(source, hunk)
        if found and (not evidence.asks or sure()):
            return found.sentence.rstrip(".")
        if found:
            shown = [(found.shown[0] + 1, found.shown[1])] if found.shown else []
            raise InvalidChange(
                f"`new_string` looks like a slip. {found.sentence}",
                hint=f"{found.way} {meant}".lstrip(),
                details={"places": shown},
            )
    return ""


def _meant(again: bool) -> str:
    """How to confirm a change; again: nothing more can be quoted."""
    what = "send the same again" if again else "quote the lines beside it, too, in both"
    return f"If it is meant, {what}."


def _doubtful(readings: str, lines: tuple[int, int], meant: str) -> InvalidChange:
    return InvalidChange(
        "The indentation of `new_string` can be read in two ways.",
        hint="Quote the lines in `old_string` with the indentation they have in the file, and give "
        f"`new_string` the indentation it should have there. {meant}\n{readings}\n"
        "The file has there:",
        details={"places": [lines]},
    )
