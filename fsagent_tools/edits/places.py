"""Which lines beside one of several places tell it from the others."""

from collections.abc import Sequence

from fsagent_tools.edits.haystack import Haystack
from fsagent_tools.edits.spans import Span

_LINES = 30  # that are named in all
_BESIDE = 6  # on either side of a place

LineRange = tuple[int, int]  # first and last line, from 1
_Window = tuple[int, int]  # bytes of whole lines, without the last ending


def telling_lines(source: Haystack, spans: Sequence[Span]) -> list[LineRange]:
    """The lines of each span, with as many beside them as stand beside no other one.

    For as many of the spans as fit into `_LINES` lines.
    """
    places: list[LineRange] = []
    left = _LINES
    spans = [*{_lines(source, span): span for span in reversed(spans)}.values()][::-1]
    for span in spans:  # one of each line
        source.check()
        others = (other for other in spans if other != span)
        first, last = _numbers(source, _grown(source, [span, *others]))
        left -= last - first + 1
        if left < 0 and places:
            break
        places.append((first, last))
    return places


def lines_of(source: Haystack, span: Span) -> LineRange:
    return _numbers(source, _lines(source, span))


def _numbers(source: Haystack, window: _Window) -> LineRange:
    begin, end = window
    first = source.text.count(source.newline, 0, begin) + 1
    return first, first + source.text.count(source.newline, begin, end)


def _grown(source: Haystack, spans: Sequence[Span]) -> _Window:
    """The lines that tell the first span from the others, up and down by turns.

    They end with lines that are not blank, which is easier to quote.
    """
    mine, *others = [_lines(source, span) for span in spans]
    for step in range(2 * _BESIDE):
        there = source.text[slice(*mine)]
        others = [other for other in others if there in source.text[slice(*other)]]
        ends = [line.strip() for line in there.split(source.newline)]
        if not others and ends[0] and ends[-1]:
            break
        up = step % 2 == 0 if others else bool(ends[-1])
        if more := _more(source, mine, up=up):
            grown = [_more(source, other, up=up) for other in others]
            mine, others = more, [other for other in grown if other]
    return mine


def _lines(source: Haystack, span: Span) -> _Window:
    """The whole lines of a span."""
    begin = source.text.rfind(source.newline, 0, span.start) + 1
    end = source.text.find(source.newline, max(span.start, span.end - 1))
    return begin, end if end >= 0 else len(source.text)


def _more(source: Haystack, window: _Window, *, up: bool) -> _Window | None:
    """With the line above, or below; None where there is none."""
    text, newline = source.text, source.newline
    begin, end = window
    if up:
        return (text.rfind(newline, 0, begin - 1) + 1, end) if begin else None
    if end + 1 >= len(text):
        return None
    found = text.find(newline, end + 1)
    return begin, found if found >= 0 else len(text)
