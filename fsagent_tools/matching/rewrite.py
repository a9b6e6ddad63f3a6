"""The text that replaces a match: what the model changed, in the file's own form."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from fsagent_tools.matching.indent import Indents
from fsagent_tools.matching.source import Haystack, indent_of, split_lines
from fsagent_tools.matching.spans import Span
from fsagent_tools.matching.white_space import is_closed

SAMPLE = 400  # lines of the file looked at for its unit of indentation
_COMPARED = 250_000  # old lines times new lines that are compared; more are all new


class Line(NamedTuple):
    text: bytes
    ending: bytes


def literal(source: Haystack, span: Span, old: bytes, new: bytes) -> bytes:
    """`new` as it is but for its line endings, which become the file's."""
    if b"\n" not in new and b"\r" not in new:
        return new
    if source.mixed:
        found, olds = _file_lines(source, span), split_lines(old)
        return _joined(_merged(found, olds, split_lines(new), None, keep=True))
    if source.ending == b"\r":
        return new.replace(b"\r\n", b"\r").replace(b"\n", b"\r")
    return new.replace(b"\r\n", b"\n").replace(b"\n", source.ending)


def adapted(source: Haystack, span: Span, old: bytes, new: bytes, *, keep: bool) -> bytes:
    """`new` indented like the lines it replaces, the lines it repeats from `old` as in the file.

    With `keep`, a repeated line stays as in the file even where it differs from `old` in more than
    the white space around it.
    """
    found, olds, sent = _file_lines(source, span), split_lines(old), split_lines(new)
    if is_closed(old) and not source.text[: span.end].endswith(source.newline):
        olds.pop()  # the file's last line has no ending and keeps none
        if is_closed(new):
            sent.pop()
    line = source.line_of(span.start)
    begins_line = span.start == source.offsets[line]
    pairs = [
        (number, indent_of(old_line), indent_of(file_line.text))
        for number, (old_line, file_line) in enumerate(zip(olds, found, strict=False))
        if old_line.strip() and (number or begins_line)
    ]
    if len(olds) != len(found):
        pairs = pairs[:1] if begins_line else []
    around = source.lines[max(0, line - SAMPLE // 2) :][:SAMPLE]
    indents = Indents(pairs, olds + sent, around)
    return _joined(_merged(found, olds, sent, indents, keep=keep))


def _file_lines(source: Haystack, span: Span) -> list[Line]:
    """The lines of the span, each with the ending it has in the file."""
    first = source.line_of(span.start)
    texts = source.text[span.start : span.end].split(source.newline)
    lines = []
    for text, raw in zip(texts, source.lines[first:], strict=False):
        carried = b"\r" if raw.endswith(b"\r") else b""
        lines.append(Line(text.removesuffix(b"\r"), carried + source.newline))
    if first + len(lines) == len(source.lines):  # the file's last line has no ending of its own
        lines[-1] = lines[-1]._replace(ending=lines[-2].ending if lines[1:] else source.ending)
    return lines


def _merged(
    found: Sequence[Line],
    olds: Sequence[bytes],
    sent: Sequence[bytes],
    indents: Indents | None,
    *,
    keep: bool,
) -> list[Line]:
    merged = []
    for line, (position, repeated) in zip(sent, _origins(olds, sent), strict=True):
        there = found[min(position, len(found) - 1)]
        same = repeated and len(olds) == len(found)
        if same and (keep or there.text.strip() == olds[position].strip()):
            merged.append(there)
        else:
            text = indents.translate(line, position) if indents else line
            merged.append(Line(text, there.ending))
    return merged


def _origins(olds: Sequence[bytes], sent: Sequence[bytes]) -> Iterator[tuple[int, bool]]:
    """For each line sent: the old line it repeats or stands for, and whether it repeats it."""
    shorter = min(len(olds), len(sent))
    head = next((i for i in range(shorter) if olds[i] != sent[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if olds[-1 - i] != sent[-1 - i]), rest)
    yield from ((i, True) for i in range(head))
    old_middle, new_middle = olds[head : len(olds) - tail], sent[head : len(sent) - tail]
    small = len(old_middle) * len(new_middle) <= _COMPARED
    matcher = SequenceMatcher(None, old_middle if small else [], new_middle, autojunk=False)
    for tag, i, end, j, stop in matcher.get_opcodes():
        for step in range(stop - j):
            yield head + min(i + step, max(i, end - 1)), tag == "equal"
    yield from ((i, True) for i in range(len(olds) - tail, len(olds)))


def _joined(lines: Sequence[Line]) -> bytes:
    parts = [part for line in lines[:-1] for part in line]
    return b"".join([*parts, *(line.text for line in lines[-1:])])
