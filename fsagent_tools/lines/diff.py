"""Diffs from known hunks, unified or with the lines' IDs: nothing is compared again."""

from collections.abc import Sequence
from itertools import takewhile, zip_longest

from fsagent_tools.lines.document import NEARBY, Document
from fsagent_tools.lines.hunks import Hunk, grouped, refine
from fsagent_tools.lines.source import Lines, split, text_of
from fsagent_tools.names import display
from fsagent_tools.text import MAX_LINE_CHARS, changed_part, clip, newline_of

NO_NEWLINE = "\\ No newline at end of file"
_CONTEXT = 1  # unchanged lines beside changes that are one place if these touch
_FEW = 3  # lines that are not told by their ends alone
_WHOLE = 20  # of one changed place that are shown whole
_NAMED = 400  # of the others
MOST_PLACES = 100  # that are shown


def unified(
    path: str, old: Lines, hunks: Sequence[Hunk], *, context: int = 3, ends_with_newline: bool
) -> str:
    """The unified diff of `hunks` (ascending, disjoint) on `old`; "" when there are none.

    `ends_with_newline` tells of the new text; a line count of 0 stands for an absent side.
    """
    hunks = _with_last_line(old, hunks, ends_with_newline=ends_with_newline)
    name = display(path.lstrip("/"))
    parts = [f"--- {'a/' + name if old.count else '/dev/null'}", f"+++ b/{name}"]
    shift = 0
    groups = grouped(hunks, context)
    for group in groups:
        low = max(0, group[0].start - context)
        high = min(old.count, group[-1].stop + context)
        growth = sum(hunk.growth for hunk in group)
        before, after = _range(low, high - low), _range(low + shift, high - low + growth)
        parts.append(f"@@ -{before} +{after} @@")
        parts += _body(old, group, low, high, unended=not ends_with_newline)
        shift += growth
    return "\n".join(parts) if hunks else ""


def compared(path: str, old: bytes, new: bytes) -> str:
    """The unified diff of two texts in UTF-8; "" where only line endings differ."""
    before, after = Lines.of(old, newline_of(old)), Lines.of(new, newline_of(new))
    whole = Hunk(0, before.count, tuple(split(new, after.newline)) if new else ())
    hunks = [*refine(whole, before.between(0, before.count))]
    return unified(path, before, hunks, ends_with_newline=after.ends_with_newline or not new)


def _with_last_line(old: Lines, hunks: Sequence[Hunk], *, ends_with_newline: bool) -> list[Hunk]:
    """`hunks` and the last line of either side, where it stays but its newline came or went."""
    end = old.count
    *before, last = hunks or [Hunk(end, end, ())]
    if last.stop < end:
        before, last = [*before, last], Hunk(end, end, ())
    kept = last.start  # the line above it stays, now perhaps with another end
    had = kept < end or old.ends_with_newline
    has = bool(last.new) or ends_with_newline
    free = not before or before[-1].stop < kept
    if kept and free and had != has and (last.start == last.stop or not last.new):
        last = Hunk(kept - 1, last.stop, (*old.between(kept - 1, kept), *last.new))
    return [*before, last] if last.new or last.stop > last.start else before


def _body(old: Lines, group: Sequence[Hunk], low: int, high: int, *, unended: bool) -> list[str]:
    """The lines of one group; `unended`: no newline ends the new text."""
    rows: list[str] = []
    at, cut = low, not old.ends_with_newline
    for hunk in group:
        last = unended and hunk is group[-1] and hunk.stop == old.count
        rows += _rows(" ", old.between(at, hunk.start))
        rows += _rows("-", old.between(hunk.start, hunk.stop), cut and hunk.stop == old.count)
        rows += _rows("+", hunk.new, last)
        at = hunk.stop
    return rows + _rows(" ", old.between(at, high), cut and high == old.count)


def _rows(mark: str, lines: Sequence[bytes], unended: bool = False) -> list[str]:
    return [*(mark + text for text in text_of(lines)), *[NO_NEWLINE] * (unended and len(lines) > 0)]


def _range(start: int, count: int) -> str:
    if count == 1:
        return str(start + 1)
    return f"{start + bool(count)},{count}"


def marked_diff(document: Document, old: Lines, hunks: Sequence[Hunk]) -> str:
    """One diff whose new and unchanged lines carry their IDs; `document` is the text as it is now.

    hunks: what made it of the lines `old`. Where an ID is quoted with words of its line, a line in
    the place of a line is told by the new one alone.
    """
    rows: list[str] = []
    groups = grouped(hunks, _CONTEXT)
    shift = 0
    for group in groups[:MOST_PLACES]:
        rows += _with_ids(document, old, group, shift)
        shift += sum(hunk.growth for hunk in group)
    if (more := len(groups) - MOST_PLACES) > 0:
        rows.append(f"({more} more places not shown)")
    if not document.lines.count:
        rows.append("(the file is empty now)")
    return "\n".join(rows)


def _with_ids(document: Document, old: Lines, group: Sequence[Hunk], shift: int) -> list[str]:
    """`shift`: how many lines the places above have added."""
    rows: list[str] = []
    start = stop = -1
    for hunk, below in zip_longest(group, group[1:]):
        start = hunk.start + shift
        rows += [f"@@ {start + 1}"] * (start != stop)
        stop = start + len(hunk.new)
        if hunk.growth < 0:
            rows += _removed(old, hunk)
        if not hunk.growth and any(len(line) > MAX_LINE_CHARS for line in hunk.new):
            rows += _parts(document, old, hunk, start)
        else:
            rows += _now(document, start, stop, moved=hunk.origin is not None)
        if (len(hunk.new) != 1 or hunk.growth) and not (below and below.start == hunk.stop):
            rows.append(_next(document, start, stop))
        shift += hunk.growth
    return rows


def _parts(document: Document, old: Lines, hunk: Hunk, start: int) -> list[str]:
    """New lines in the place of old ones, of long ones what is around the change."""
    pairs = zip(text_of(old.between(hunk.start, hunk.stop)), text_of(hunk.new), strict=True)
    texts = "\n".join(changed_part(*pair)[1] for pair in pairs).encode()
    ids = document.show(document.lines.window(start, start + len(hunk.new)))
    return [f"+{line}" for line in document.style.lines(ids, texts).split("\n")]


def _removed(old: Lines, hunk: Hunk) -> list[str]:
    rows = [
        f"-{clip(text, MAX_LINE_CHARS)}" for text in text_of(old.between(hunk.start, hunk.stop))
    ]
    last = next((row for row in reversed(rows) if row[1:].strip()), rows[-1])
    return rows if len(rows) <= _FEW else [rows[0], f"({len(rows) - 2} lines)", last]


def _now(document: Document, start: int, stop: int, *, moved: bool) -> list[str]:
    def whole(first: int, last: int) -> list[str]:
        shown = document.tagged(first, last).split("\n") if last > first else []
        return [f"+{line}" for line in shown]

    ends = 1 if moved else _WHOLE // 2
    middle = range(start + ends, stop - ends)
    if len(middle) <= _FEW - 2 * moved:
        return whole(start, stop)
    rows = [f"({len(middle)} lines)"]
    if not moved:
        rows = [f"({len(middle)} lines by ID and first words, without blank ones:)"]
        named = (document.named(line) for line in middle[:_NAMED])
        rows += [f"+{name}" for name in named if " " in name]
    return [*whole(start, middle.start), *rows, *whole(middle.stop, stop)]


def _next(document: Document, start: int, stop: int) -> str:
    """Which line follows the new ones, with the number of blank lines before it."""
    ahead = document.lines.between(stop, stop + NEARBY)
    blank = sum(1 for _ in takewhile(lambda line: not line.strip(), ahead))
    after = stop + blank
    ends = min(document.lines.count, after + 1)
    # what is below the one that follows is not shown: others may have put that one there
    document.seen.add(document.index.show(document.lines.window(start, ends), document.name))
    gap = f" {blank} blank line{'s' * (blank > 1)}" if blank else ""
    return f"then{gap}: {document.named(after) if blank < len(ahead) else 'the end'}"
