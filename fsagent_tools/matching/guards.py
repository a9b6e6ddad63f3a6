"""New text that looks like a slip: it repeats what stands beside it, or was pasted with marks."""

from dataclasses import replace
from functools import partial

from fsagent_tools.errors import InvalidChange
from fsagent_tools.matching.slips import numbered_as_read
from fsagent_tools.matching.source import Haystack, split_lines
from fsagent_tools.matching.spans import Found, Replacement, Span
from fsagent_tools.matching.white_space import is_closed

_SHOWN = 80  # characters of a line


def refuse_slips(source: Haystack, found: Found, old: bytes, new: bytes) -> None:
    """Raise `InvalidChange` for new text with read prefixes, or that repeats a line beside it.

    Of several places only those are looked at that get more lines than they had.
    """
    above = source.text.count(source.newline, 0, found.replacements[0].span.start)
    if numbered_as_read(new, above + 1, old):
        raise InvalidChange(
            "`new_string` has the prefixes that stand before lines when read.",
            hint="Send the bare text.",
        )
    if len(found.replacements) < found.count:
        return
    if found.count == 1 or len(split_lines(new)) > len(split_lines(old)):
        for replacement in found.replacements:
            _refuse_repeats(source, replacement, old)


def _refuse_repeats(whole_text: Haystack, change: Replacement, old: bytes) -> None:
    """Raise `InvalidChange` where a line beside the change would stand twice, or a blank be left.

    The same call is refused again; one whose `old` reaches over the line beside it is not.
    """
    source, begins = _around(whole_text, change.span)
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
    closed = is_closed(change.text) and b"".join(new[-2:-1]).strip()  # a blank line sent is meant
    if not tail.strip() and closed and old and not is_closed(old):
        _refuse_blank(source, last, above())
    for at, line, there in ((first - 1, new[0], olds[0]), (last + 1, new[-1], olds[-1])):
        beside = _line(source, at)
        if beside is not None and beside.strip() and line == beside != there:
            _refuse_echo("above" if at < first else "below", at + above(), beside)


def _around(source: Haystack, span: Span) -> tuple[Haystack, int]:
    """The lines of the span with one above and two below, and where they begin."""
    text, newline = source.text, source.newline
    start = text.rfind(newline, 0, max(0, text.rfind(newline, 0, span.start))) + 1
    stop = span.end
    for _ in range(3):
        found = text.find(newline, stop)
        stop = found + 1 if found >= 0 else len(text)
    near = Haystack(text[start:stop])
    near.newline = newline
    return near, start


def _line(source: Haystack, number: int) -> bytes | None:
    return source.lines[number].removesuffix(b"\r") if 0 <= number < len(source.lines) else None


def _refuse_echo(where: str, number: int, line: bytes) -> None:
    raise InvalidChange(
        f"`new_string` repeats the line {where} the match, which stays; it would then stand twice:"
        f"\n{number + 1} {_shown(line)}",
        hint=f"If that is what you mean, quote line {number + 1} in `old_string`, too; if not, "
        "leave it out of `new_string`.",
    )


def _refuse_blank(source: Haystack, last: int, above: int) -> None:
    below = _line(source, last + 1)
    if below is None:  # the text ends here, and gets its final line ending
        return
    raise InvalidChange(
        "`new_string` ends with a line ending and `old_string` does not: behind line "
        f"{above + last + 1} a blank line would be left.",
        hint="If that is what you mean, quote the next line in both"
        f"{f' ({_shown(below.strip())!r})' if below.strip() else ''}; if not, leave out the "
        "line ending.",
    )


def _shown(line: bytes) -> str:
    return line.decode(errors="replace")[:_SHOWN]
