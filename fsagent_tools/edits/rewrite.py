"""The text that replaces a match: what the model changed, in the file's own form."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple

from fsagent_tools.edits.haystack import BLANKS, Haystack, indent_of, split_lines
from fsagent_tools.edits.indent import OPENERS, Example, Indents, columns, continuations, votes
from fsagent_tools.edits.spans import Span
from fsagent_tools.edits.white_space import is_closed

SAMPLE = 400  # lines of the file looked at for its unit of indentation
AS_SENT = "with the indentation that was sent"
_QUOTED = re.compile(rb"[\"'`]")
_COMPARED = 250_000  # old lines times new lines that are compared; more are all new


# a line sent, the old line it stands for, whether it goes on with the line above
Indent = Callable[[bytes, int, bool], bytes]


class Line(NamedTuple):
    text: bytes
    ending: bytes


class Candidates(NamedTuple):
    """Texts for a span, the likeliest first, each with what was done to the one sent.

    sure: the first one holds unless a parser says otherwise.
    """

    texts: Mapping[bytes, str]
    sure: bool = True


def literal(source: Haystack, span: Span, old: bytes, new: bytes) -> bytes:
    """`new` as it is but for its line endings, which become the file's."""
    if b"\n" not in new and b"\r" not in new:
        return new
    if source.mixed:
        source.check()
        found, olds = _file_lines(source, span), split_lines(old)
        return _joined(_merged(found, olds, split_lines(new), None, keep=True))
    return new.replace(b"\r\n", b"\n").replace(b"\n", source.ending)


def adapted(source: Haystack, span: Span, old: bytes, new: bytes, *, keep: bool) -> Candidates:
    """`new` indented like the lines it replaces, the lines it repeats from `old` as in the file.

    With `keep`, a repeated line stays as in the file even where it differs from `old` in more than
    the white space around it; one with quotes always does. The first reading is the likelier one.
    """
    found, olds, sent = _file_lines(source, span), split_lines(old), split_lines(new)
    if is_closed(old) and not source.text[: span.end].endswith(source.newline):
        olds.pop()  # the file's last line has no ending and keeps none
        if is_closed(new):
            sent.pop()
    files = [line.text for line in found]
    pairs = [
        Example(n, *two) for n, two in enumerate(zip(olds, files, strict=False)) if two[0].strip()
    ]
    if len(olds) != len(files):
        pairs = pairs[:1]
    around = source.lines[max(0, source.line_of(span.start) - SAMPLE // 2) :][:SAMPLE]
    indents = Indents(pairs, sent, around)

    def text(indent: Indent) -> bytes:
        def checked(line: bytes, position: int, continues: bool) -> bytes:
            source.check()
            return indent(line, position, continues)

        return _joined(_merged(found, olds, sent, checked, keep=keep))

    as_sent = text(lambda line, *_: line)
    if indents.same:
        return Candidates({as_sent: ""})
    moved = {text(partial(indents.translate, late=late)): indents.shift() for late in (False, True)}
    sides = votes(olds, sent, files) if len(olds) == len(files) else set()
    kept = {as_sent: AS_SENT}
    if sides == {"file"}:
        return Candidates({**kept, **moved})
    return Candidates({**moved, **kept}, sure=len(sides) < 2 and len(moved) == 1)


def completed(source: Haystack, span: Span, old: bytes, new: bytes) -> tuple[Span, Candidates]:
    """`new` for an `old` that was found to the byte, but behind the indentation of its line.

    Later lines that begin left of that indentation lack it, too; a first line that has it brought
    it along. An indentation quoted in part is that of another place.
    """
    start = source.text.rfind(source.newline, 0, span.start) + 1
    blanks, sent = source.text[start : span.start], split_lines(new)
    as_sent = literal(source, span, old, new)
    later = [line for line in sent[1:] if line.strip()]
    if not blanks:
        return span, Candidates({as_sent: "", **_at_the_depth(source, span, old, new)})
    if blanks.strip(BLANKS) or not sent[0].strip() or not old.strip():
        return span, Candidates({as_sent: ""})
    line = Span(start, span.end)
    if old[:1] in BLANKS and len(split_lines(old.rstrip())) == 1:
        readings = adapted(source, line, old, new, keep=False)
        known = {text: how * (text != blanks + as_sent) for text, how in readings.texts.items()}
        return line, readings._replace(texts=known)
    if sent[0].startswith(blanks) and old[:1] not in BLANKS and new.strip() != old.strip():
        return line, Candidates({literal(source, span, old, new): AS_SENT, blanks + as_sent: ""})
    flat = sent[0].rstrip().endswith(OPENERS) and later and indent_of(later[0]) == blanks
    if all(line.startswith(blanks) for line in later) and not flat:
        return span, Candidates({as_sent: ""})
    inside = [blanks + line if line.strip() else line for line in sent[1:]]
    moved = literal(source, span, old, b"\n".join([sent[0], *inside]))
    quoted = {line for line in split_lines(old)[1:] if line.strip()}
    kept, gone = quoted & {*later}, quoted & {*filter(None, inside)}
    texts = {moved: columns(len(blanks)), as_sent: ""}
    if kept and not gone:
        texts = dict(reversed(texts.items()))
    return span, Candidates(texts, sure=not (kept and gone))


def _at_the_depth(source: Haystack, span: Span, old: bytes, new: bytes) -> dict[bytes, str]:
    """`new` moved to where `old` begins, for a parser that does not take it as sent.

    As a whole, or its first line alone where that lost its indentation.
    """
    there, sent = indent_of(old), split_lines(new)
    here, later = indent_of(sent[0]), [line for line in sent[1:] if line.strip()]
    if here == there or not old.strip() or not sent[0].strip():
        return {}
    if not all(line.startswith(here) for line in later) or _repeats(source, span, sent):
        return {}
    how = columns(len(there) - len(here))
    moved = [there + line[len(here) :] if line.strip() else line for line in sent]
    readings = [(moved, how)]
    if later and not here:
        alone = [there + sent[0], *sent[1:]], f"first line {how}"
        opened = sent[0].rstrip().endswith(OPENERS) and indent_of(later[0]) == there
        kept = {*later} & {*split_lines(old)} or all(line.startswith(there) for line in later)
        in_place = kept and not opened  # else what follows would stand beside what it is inside of
        readings = [alone, *readings] if in_place else [*readings, alone]
    texts = {literal(source, span, old, b"\n".join(lines)): told for lines, told in readings}
    texts.pop(source.text[span.start : span.end], None)
    return texts


def _repeats(source: Haystack, span: Span, sent: Sequence[bytes]) -> bool:
    """Whether a line beside the span came along: that is a slip, wherever it stands."""
    text, newline = source.text, source.newline
    above = text[text.rfind(newline, 0, max(0, span.start - 1)) + 1 : max(0, span.start - 1)]
    start = span.end + text.startswith(newline, span.end)
    end = text.find(newline, start)
    below = text[start : end if end >= 0 else len(text)]
    return sent[0] == above.removesuffix(b"\r") or sent[-1] == below.removesuffix(b"\r")


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
    indent: Indent | None,
    *,
    keep: bool,
) -> list[Line]:
    merged, continued = [], continuations(enumerate(sent))
    for number, (line, (position, origin)) in enumerate(
        zip(sent, _origins(olds, sent), strict=True)
    ):
        there = found[min(position, len(found) - 1)]
        same = len(olds) == len(found)
        if same and origin == "equal" and (keep or _stays(there.text, olds[position])):
            merged.append(there)
        else:
            text = indent(line, position, number in continued) if indent else line
            merged.append(Line(text, there.ending))
    return merged


def _stays(file: bytes, old: bytes) -> bool:
    """Whether a repeated line is left alone: inside quotes white space is what a program prints."""
    return file.strip() == old.strip() or bool(_QUOTED.search(file))


def _origins(olds: Sequence[bytes], sent: Sequence[bytes]) -> Iterator[tuple[int, str]]:
    """For each line sent: the old line it repeats or stands for, and which of the two.

    "equal", "replace" for one line in the place of one, else "insert".
    """
    for tag, i, end, j, stop in _opcodes(olds, sent):
        tag = tag if end - i == stop - j else "insert"
        for step in range(stop - j):
            yield min(i + step, max(i, end - 1)), tag


def _opcodes(
    olds: Sequence[bytes], sent: Sequence[bytes]
) -> Iterator[tuple[str, int, int, int, int]]:
    """What becomes of which lines, as difflib says it; equal ends are found first."""
    shorter = min(len(olds), len(sent))
    head = next((i for i in range(shorter) if olds[i] != sent[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if olds[-1 - i] != sent[-1 - i]), rest)
    last, end = len(olds) - tail, len(sent) - tail
    yield "equal", 0, head, 0, head
    old_middle, new_middle = olds[head:last], sent[head:end]
    if len(old_middle) * len(new_middle) > _COMPARED:
        yield "insert", head, head, head, end
    else:
        matcher = SequenceMatcher(None, old_middle, new_middle, autojunk=False)
        for tag, i, stop, j, until in matcher.get_opcodes():
            yield tag, head + i, head + stop, head + j, head + until
    yield "equal", last, len(olds), end, len(sent)


def _joined(lines: Sequence[Line]) -> bytes:
    parts = [part for line in lines[:-1] for part in line]
    return b"".join([*parts, *(line.text for line in lines[-1:])])
