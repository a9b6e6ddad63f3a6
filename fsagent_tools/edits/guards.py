"""New text that looks like a slip: it repeats what stands beside it, or was pasted with marks."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from fsagent_tools.edits.doubts import repeated
from fsagent_tools.edits.fuzzy import Parses
from fsagent_tools.edits.haystack import Haystack, indent_of, split_lines
from fsagent_tools.edits.pasted import TRACES, pasted_marks
from fsagent_tools.edits.slips import numbered_as_read
from fsagent_tools.edits.spans import Found, Replacement, Span
from fsagent_tools.edits.white_space import closed_lines, is_closed, word_characters
from fsagent_tools.errors import InvalidChange
from fsagent_tools.text import in_quotes

_SHOWN = 80  # characters of a line
_ENDINGS = (b"\n", b"\r")
_SIGNS = (b",", b";")  # that no line has twice at its end
_TELLING = 4  # letters and digits without which a text comes twice by chance


def refuse_slips(source: Haystack, found: Found, old: bytes, new: bytes) -> None:
    """Raise `InvalidChange` for new text with read prefixes, or that repeats a line beside it.

    Of several places only those are looked at that get more lines than they had.
    """
    above = partial(source.text.count, source.newline, 0, found.replacements[0].span.start)
    if numbered_as_read(new, above, old):
        raise InvalidChange(
            "`new_string` has the prefixes that stand before lines when read.",
            hint="Send the bare text.",
        )
    if len(found.replacements) < found.count:
        return
    if found.count == 1 or len(split_lines(new)) > len(split_lines(old)):
        for replacement in found.replacements:
            _refuse_repeats(source, replacement, old)


def refuse_marks(
    source: Haystack, found: Found, old: bytes, new: bytes, parses: Parses | None
) -> None:
    """Raise `InvalidChange` for marks in `new`, unless it parses with them and not without."""
    if not TRACES.search(new):
        return
    change = found.replacements[0]
    first = source.text.count(source.newline, 0, change.span.start) + 1
    olds, news = closed_lines(old), closed_lines(new)
    near, _ = _around(source, change.span)
    mark = pasted_marks(news, olds, near.lines, first)
    begin = source.text.rfind(source.newline, 0, change.span.start) + 1
    inside = source.text[begin : change.span.start].strip()
    if mark is None or inside:
        return
    if parses and found.count == 1:
        head, tail = source.text[: change.span.start], source.text[change.span.end :]
        bare = head + b"\n".join(mark.bare) + tail
        if parses(head + change.text + tail) and parses(bare) is False:
            return
    raise InvalidChange(
        f"`new_string` has {mark.what} in it.",
        hint="Send the bare text. If it is meant, quote a line beside it, too, in both.",
    )


def _refuse_repeats(whole_text: Haystack, change: Replacement, old: bytes) -> None:
    """Raise `InvalidChange` where a line beside the change would stand twice, or a blank be left.

    The same call is refused again; one whose `old` reaches over the line beside it is not.
    """
    source, begins = _around(whole_text, change.span, change.text.count(whole_text.newline) + 1)
    change = replace(change, span=Span(change.span.start - begins, change.span.end - begins))
    above = partial(whole_text.text.count, source.newline, 0, begins)  # lines, for who must know
    first, last = source.line_of(change.span.start), source.line_of(change.span.end)
    whole = change.span.end == source.offsets[last] and last > first
    if whole and change.text[-1:] in (b"", source.newline):
        last -= 1
    begin, end = source.offsets[first], source.offsets[last] + len(source.lines[last])
    head, tail = source.text[begin : change.span.start], source.text[change.span.end : end]
    new = [line.removesuffix(b"\r") for line in (head + change.text + tail).split(source.newline)]
    if last < source.line_of(change.span.end) and not new[-1]:
        new.pop()
    olds = [line.removesuffix(b"\r") for line in source.lines[first : last + 1]]
    if not change.text.strip():
        return
    _refuse_rest(change.text, old, head.lstrip(), tail.rstrip())
    _refuse_joint("ends", tail if whole and is_closed(old) > is_closed(change.text) else b"")
    depth = indent_of(old.lstrip(b"\r\n"))
    begins = old.startswith(_ENDINGS) and depth != b"" and indent_of(change.text) == depth
    _refuse_joint("begins", head if begins else b"")
    closed = is_closed(change.text) and b"".join(new[-2:-1]).strip()  # a blank line sent is meant
    if not tail.strip() and closed and old and not is_closed(old):
        _refuse_blank(source, last, above())
    beside = [line.removesuffix(b"\r") for line in source.lines]
    beside = beside[:-1] if not beside[-1] else beside
    if again := repeated(new, olds, beside[:first], beside[last + 1 :]):
        at = first - len(again[1]) if again[0] == "above" else last + 1
        _refuse_echo(*again, at + above())


def _around(source: Haystack, span: Span, beside: int = 1) -> tuple[Haystack, int]:
    """The lines of the span with some above and one more below, and where they begin."""
    text, newline = source.text, source.newline
    start = text.rfind(newline, 0, span.start) + 1
    for _ in range(beside):
        start = text.rfind(newline, 0, max(0, start - 1)) + 1
    stop = span.end
    for _ in range(beside + 2):
        found = text.find(newline, stop)
        stop = found + 1 if found >= 0 else len(text)
    near = Haystack(text[start:stop])
    near.newline = newline
    return near, start


def _line(source: Haystack, number: int) -> bytes | None:
    return source.lines[number].removesuffix(b"\r") if 0 <= number < len(source.lines) else None


def _refuse_rest(new: bytes, old: bytes, head: bytes, tail: bytes) -> None:
    """Raise `InvalidChange` where what stands beside the match on its line comes again."""
    new, old = new.strip(), old.strip()
    begins = new.startswith(head) and not old.startswith(head)
    ends = new.endswith(tail) and not old.endswith(tail)
    for what, rest, again in (
        ("begins with what stands before", head, begins),
        ("ends with what stands behind", tail, ends),
    ):
        closes = rest.lstrip().startswith(b"</")  # the same behind a nested element is usual
        telling = word_characters(rest) >= _TELLING or (rest in _SIGNS and rest == tail)
        if again and not closes and telling:
            raise InvalidChange(
                f"`new_string` {what} `old_string` on its line, which stays and would then stand "
                f"twice: {in_quotes(_shown(rest.strip()))}.",
                hint="Quote it in `old_string`, too, or leave it out of `new_string`.",
            )


def _refuse_joint(what: str, rest: bytes) -> None:
    """Raise `InvalidChange` where the new text and the rest of a line would become one line."""
    if rest.strip():
        raise InvalidChange(
            f"`old_string` {what} with a line ending and `new_string` does not: it would be joined "
            f"to the line beside it, {in_quotes(_shown(rest.strip()))}.",
            hint="Send the line ending in both or in neither. If one line is meant, quote that "
            "line, too, in both.",
        )


def _refuse_echo(where: str, lines: Sequence[bytes], at: int) -> None:
    what, number = f"the line {where} the match, which stays; it", f"line {at + 1}"
    if more := len(lines) - 1:
        what = f"the {more + 1} lines {where} the match, which stay; they"
        number = f"lines {at + 1} to {at + 1 + more}"
    raise InvalidChange(
        f"`new_string` repeats {what} would then stand twice.",
        hint=f"Leave out of `new_string` what stays; if it is meant, quote {number} in "
        f"`old_string`, too.\n{at + 1} {_shown(lines[0])}",
    )


def _refuse_blank(source: Haystack, last: int, above: int) -> None:
    below = _line(source, last + 1)
    if below is None:  # the text ends here, and gets its final line ending
        return
    quote = f" ({in_quotes(_shown(below.strip()))})" if below.strip() else ""
    way = f"quote the next line in both{quote}"
    if not below and last + 2 == len(source.lines):  # there is none
        way = "end `old_string` with one line ending and `new_string` with two"
    raise InvalidChange(
        "`new_string` ends with a line ending and `old_string` does not: behind line "
        f"{above + last + 1} a blank line would be left.",
        hint=f"If that is what you mean, {way}; if not, leave out the line ending.",
    )


def _shown(line: bytes) -> str:
    return line.decode(errors="replace")[:_SHOWN]
