"""Where a hunk of a patch goes: where its lines are, beneath its anchors and in their order."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from fsagent_tools.edits.evidence import Choice
from fsagent_tools.edits.finding import Found
from fsagent_tools.edits.patch import PatchHunk
from fsagent_tools.edits.quotes import Haystack, Match
from fsagent_tools.errors import InvalidArguments, NoMatch
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.lines.source import indentation
from fsagent_tools.text import newline_of

Seek = Callable[[bytes, str, str, Choice], Found]  # of a quote in a text


def put_hunk(
    text: bytes, hunks: Sequence[PatchHunk], after: int, seek: Seek
) -> tuple[bytes, int, Found]:
    """The text with the first of the hunks in it, the line behind it, and how it was found.

    after: the line behind the hunk before it. Raises what `seek` does, and `InvalidArguments` for
    new lines that nothing gives a place.
    """
    hunk = hunks[0]
    old, new = ["\n".join(lines) for lines in (hunk.old, hunk.new)]
    added = b""
    if not hunk.old and text:
        if not hunk.at_end:
            raise InvalidArguments(
                f"It has new lines and none to put them beside. {NOTHING}",
                hint="Give the line above or below them as it stands, with a blank before it; or "
                "end it with '*** End of File' to append.",
            )
        old = _last_lines(text)
        new = "\n".join([old, *hunk.new])
    elif not hunk.new:
        old += "\n"  # the lines go with their ends, and a last one without an end has one meanwhile
        ending = b"\r\n" if b"\r\n" in text else newline_of(text)
        added = b"" if text.endswith(ending) else ending
    elif not hunk.old:
        new += "\n"
    text += added
    blocks = _blocks(Haystack(text).every, hunk.anchors)
    found = seek(text, old, new, partial(_among, hunks, after, blocks))
    for part in found.hunks:
        if not any(block.start <= part.start <= block.stop for block in blocks):
            raise NoMatch(
                f"Its lines are at line {part.start + 1}, which is not within "
                f"'@@ {hunk.anchors[-1]}'. {NOTHING}",
                hint="Give the class or function that they are in, or '@@' alone.",
            )
    growth = sum(part.growth for part in found.hunks)
    behind = max((part.stop for part in found.hunks), default=after) + growth
    return found.apply(text).removesuffix(added), behind, found


def _last_lines(text: bytes) -> str:
    """From the last one that is not blank."""
    lines = Haystack(text).every
    first = next((n for n in range(len(lines) - 1, -1, -1) if lines[n].strip()), 0)
    return b"\n".join(lines[first:]).decode()


def _among(
    hunks: Sequence[PatchHunk],
    after: int,
    blocks: Sequence[range],
    text: Haystack,
    found: list[Match],
) -> list[Match]:
    """The places that the first hunk may mean: all where neither order nor anchors decide."""
    hunk = hunks[0]
    if hunk.at_end:
        found = [one for one in found if one.stop >= len(text.every)] or found
    elif hunk.anchors:
        found = [one for one in found if any(one.start in block for block in blocks)] or found
    if len(found) > 1 and after:
        found = [one for one in found if one.start >= after] or found
    alike = sum(one.old == hunk.old for one in hunks)  # as many places: one each, in their order
    return found[:1] if len(found) == alike else found


def _blocks(lines: Sequence[bytes], anchors: Iterable[str]) -> list[range]:
    """What lies beneath the lines that the anchors quote, each one within the one before it."""
    blocks = [range(len(lines))]
    for anchor in anchors:
        told = anchor.strip().encode(errors="replace")
        inside = [n for block in blocks for n in block]
        heads = [n for n in inside if lines[n].strip() == told]
        heads = heads or [n for n in inside if lines[n].strip().startswith(told)]
        if not heads:
            raise NoMatch(
                f"'@@ {anchor}' is no line of the file. {NOTHING}",
                hint="Give the class or function as its line begins, or '@@' alone.",
            )
        blocks = [_block(lines, head) for head in heads]
    return blocks


def _block(lines: Sequence[bytes], head: int) -> range:
    """A line and those below it that are deeper, with what closes its brackets; or all below it."""
    depth, stop = len(indentation(lines[head]).expandtabs()), head + 1
    deeper = False
    while stop < len(lines):
        line = lines[stop].strip()
        inner = len(indentation(lines[stop]).expandtabs()) > depth
        if line and not inner and line[:1] not in b"{}()[]":
            break
        deeper |= bool(line) and inner
        stop += 1
    return range(head, stop if deeper else len(lines))
