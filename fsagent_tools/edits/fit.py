"""What new text becomes at its place: as it was sent, or with its block at the depth of the place.

The place gives the depth. A parser decides between the readings; where it cannot, a quote tells by
how its own lines differ from those of the file, and without one it is asked.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from fsagent_tools.edits.depth import by, first_alone, goes, in_units, moved, shift, units
from fsagent_tools.edits.doubt import Beside
from fsagent_tools.edits.evidence import WellFormed
from fsagent_tools.lines.align import align
from fsagent_tools.lines.source import indentation, text_of
from fsagent_tools.lines.splice import Hunk
from fsagent_tools.problems import Parsing

_OPENS = re.compile(rb"\s*(?:[-*+]|\d+[.)])\s|.*[:{(\[]\s*$")  # a deeper line may follow
_OPENERS = (b":", b"{")  # at the end of a line behind which a block begins
_QUOTED = re.compile(rb"[\"'`]")
_PREPROCESSED = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".mm", ".cs")
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_BRACES = (*_PREPROCESSED, *_SCRIPTS, ".java", ".go", ".rs", ".css", ".php", ".json")
AS_SENT = "with the indentation that was sent"
LIKE_THERE = "re-indented like the lines there"


class Reading(NamedTuple):
    """New lines, from the margin on, and what was done to the ones sent."""

    lines: tuple[bytes, ...]
    how: str = ""


@dataclass(frozen=True)
class Fitted:
    """A hunk as it is to be, what was done to it, and its readings where it is doubtful which."""

    hunk: Hunk
    how: str = ""
    doubt: tuple[str, str] | None = None


def fit(name: str, hunk: Hunk, beside: Beside, judge: WellFormed) -> Fitted:
    """The hunk with its block at the depth that is meant, in a text of that name.

    Taken as sent are lines that have the depth of their place, or none; else the reading that
    parses alone. Where several do, the depth of the place where braces carry the structure, and
    what was sent where a line around has its depth.
    """
    old, new = (next(filter(bytes.strip, lines), b"") for lines in (beside.there, hunk.new))
    depth, sent = indentation(old), indentation(new)
    if not old or not new or depth == sent:
        return Fitted(hunk)
    inserted = hunk.start == hunk.stop
    flat = not inserted and _is_flat(hunk.new, depth)
    alone = first_alone(hunk.new, sent, depth)
    there = alone if flat else moved(hunk.new, sent, depth)
    if there is None or [*there] == [*beside.there] or _has_no_depth(name, old, new):
        return Fitted(hunk)  # also where nothing but the depth is to change
    known = not flat and _is_known(beside, hunk.new, depth, sent, inserted=inserted)
    verdict = judge(hunk)
    if known and verdict not in (False, "beyond"):
        return Fitted(hunk)
    ways = dict.fromkeys(
        (there, alone) if not sent and not inserted and verdict is False else (there,)
    )
    verdicts = [judge(replace(hunk, new=lines)) for lines in ways]
    right = [lines for lines, parses in zip(ways, verdicts, strict=True) if parses is True]
    braces = name.endswith(_BRACES) and not inserted
    signs = {*b"".join(map(indentation, hunk.new))} <= {*depth}  # else its levels are a guess
    if len(right) == 1 and (verdict is False or flat or (braces and signs and verdict is True)):
        first = ", the first line alone" * (flat or right[0] != there)
        why = "like the lines there" if verdict else "else it would not parse"
        return Fitted(replace(hunk, new=right[0]), f"re-indented {by(sent, depth)}{first}, {why}.")
    if not right and (known if verdict is False else verdicts == [False]):
        return Fitted(hunk)
    return Fitted(hunk, "", _doubt(hunk.new, there, depth, sent))


def _doubt(
    new: Sequence[bytes], there: Sequence[bytes], depth: bytes, sent: bytes
) -> tuple[str, str]:
    """What is doubtful about the depth of new lines, and their readings."""
    columns = len(depth.expandtabs(4)) - len(sent.expandtabs(4))
    change = "lose" if columns > 0 else "gain"
    count = f"{abs(columns)} column{'s' * (abs(columns) != 1)}"
    doubt = f"The first line would {change} {count} of indentation."
    if not columns:
        doubt = "Tabs and blanks of the first line's indentation are not those of its place."
    shown = (text_of([next(filter(bytes.strip, part))])[0] for part in (new, there))
    return doubt, "As sent:\n{}\nOr re-indented:\n{}".format(*shown)


def quoted_readings(
    head: bytes, old: Sequence[bytes], new: Sequence[bytes], there: Sequence[bytes], *, exact: bool
) -> tuple[list[Reading], int | None]:
    """What new lines in the place of quoted ones may become, and which of it the quote tells.

    head: what stands before the quote on its first line. there: the file's lines in its place.
    exact: the text is the quoted one; else lines that come again stay as they are in the file.
    """
    sent = Reading((head + new[0], *new[1:]))
    pairs = _compared(old, there)
    first = next((indentation(line) for line in new if line.strip()), None)
    if head.strip() or first is None or not pairs:
        return [sent], 0
    depth = pairs[0][1]
    was, now = next((pair for pair in pairs if pair[0] != pair[1]), (first, depth))
    same = all(quote == file for quote, file in pairs)
    filled = [
        (indentation(q), indentation(f)) for q, f in zip(old, there, strict=False) if q.strip()
    ]
    kept = {} if exact else _kept(old, new, there)

    def reading(lines: Sequence[bytes] | None, how: str) -> list[Reading]:
        return [Reading(tuple(kept.get(n, x) for n, x in enumerate(lines)), how)] if lines else []

    (sent,) = reading(sent.lines, "")
    if unit := units(filled):
        lines = tuple(in_units(line, *unit) for line in sent.lines)
        return reading(lines, LIKE_THERE if lines != sent.lines else AS_SENT), 0
    whole = reading(moved(new, was, now), shift(was, now))
    whole = [sent if one.lines == sent.lines else one for one in whole]
    if same:
        return [sent], 0
    if (first == depth and first != pairs[0][0]) or (
        head and first.startswith(depth)
    ):  # as the file has it, not the quote
        return [*reading(new, AS_SENT), *whole], 0
    alone = reading(first_alone(new, was, now), f"first line {shift(was, now)}")
    ways = [sent] if head else alone, whole, whole or alone
    how = _way(new, filled, depth, all(goes(quote, was, now) == file for quote, file in pairs))
    right = reading(_like_there(old, new, there), LIKE_THERE) if how is None else ways[how]
    return _distinct([*right, *whole, *alone, sent]), 0 if right else None


def _way(
    new: Sequence[bytes], filled: Sequence[tuple[bytes, bytes]], depth: bytes, alike: bool
) -> int | None:
    """How new lines go with the quoted ones: 0 the first alone, 1 as a whole, 2 what is one line.

    None: each as its own. alike: the quoted lines all differ from the file's by the same.
    """
    later = [line for line in new if line.strip()][1:]
    if len(filled) > 1:
        if all(quote == file for quote, file in filled[1:]):
            return 0
        return 1 if alike else None
    if later and all(line.startswith(depth) for line in later):
        opened = _OPENS.match(new[0]) and indentation(later[0]) == depth
        return 1 if opened else 0
    return 1 if later else 2


def _like_there(
    old: Sequence[bytes], new: Sequence[bytes], there: Sequence[bytes]
) -> list[bytes] | None:
    """Each line moved as the quoted line that it repeats, or in whose place it is, has to be."""
    lines: list[bytes] = []
    matched, at = align([*old], [*new]), -1
    last = min(len(old), len(there)) - 1
    for line, known in zip(new, matched, strict=True):
        at = known if known >= 0 else min(at + 1, last)
        one = moved([line], indentation(old[at]), indentation(there[at]))
        if one is None:
            return None
        lines += one
    return lines


def _compared(old: Sequence[bytes], there: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """The indentation of quoted lines and of the file's, but of those that go on with others."""
    pairs: list[tuple[bytes, bytes]] = []
    opened = True
    for quote, file in zip(old, there, strict=False):
        if not quote.strip():
            continue
        one = indentation(quote), indentation(file)
        if opened or any(
            len(depth) <= len(last) for depth, last in zip(one, pairs[-1], strict=True)
        ):
            pairs.append(one)
        opened = quote.rstrip().endswith(_OPENERS)
    return pairs


def settled(
    readings: Sequence[Reading], told: int | None, parses: Callable[[Reading], Parsing]
) -> Reading | None:
    """The reading that the quote tells, unless another one alone parses; None: nobody can tell."""
    if len(readings) == 1:
        return readings[0]
    if told is not None and parses(readings[told]) is not False:
        return readings[told]
    right = [reading for reading in readings if parses(reading) is True]
    if len(right) == 1:
        return right[0]
    return readings[told] if told is not None and not right else None


def _distinct(readings: Sequence[Reading]) -> list[Reading]:
    known: dict[tuple[bytes, ...], Reading] = {}
    for reading in readings:
        known.setdefault(reading.lines, reading)
    return [*known.values()]


def _kept(old: Sequence[bytes], new: Sequence[bytes], there: Sequence[bytes]) -> dict[int, bytes]:
    """The new lines that repeat quoted ones, as the file has them.

    But other blanks within a line are a wish, if none are in quotes, where a program prints them.
    """
    stays = [
        q.strip() == f.strip() or q.split() != f.split() or bool(_QUOTED.search(f))
        for q, f in zip(old, there, strict=False)
    ]
    matched = align([*old], [*new])
    return {y: there[x] for y, x in enumerate(matched) if 0 <= x < len(stays) and stays[x]}


def _is_flat(lines: Sequence[bytes], old: bytes) -> bool:
    """Whether the first line begins at the margin, and the others where they would at its place."""
    first, *rest = [line for line in lines if line.strip()]
    if not old or not rest or indentation(first) or not all(line.startswith(old) for line in rest):
        return False
    return not _OPENS.match(first) or indentation(rest[0]) != old


def _has_no_depth(name: str, *lines: bytes) -> bool:
    """Whether one is a line for a preprocessor, which may stand anywhere."""
    return name.endswith(_PREPROCESSED) and any(x.lstrip().startswith(b"#") for x in lines)


def _is_known(
    beside: Beside, new: Sequence[bytes], old: bytes, depth: bytes, *, inserted: bool
) -> bool:
    """Whether the lines around give a new line this depth.

    It is theirs, or that of a block that ends here; behind what opens one it may be any deeper.
    """
    last = next(filter(bytes.strip, reversed(beside.above)), b"")
    outer = indentation(last)
    if _OPENS.match(last) and len(old) <= len(outer) < len(depth) - 1 and depth.startswith(outer):
        return True
    if depth.startswith(old) or old.startswith(depth):
        if not all(line.startswith(depth) for line in new if line.strip()):  # it ends blocks, too
            return True
        if not inserted:
            return False
    return depth in _levels(beside.above, indentation(beside.below))


def _levels(above: Sequence[bytes], below: bytes) -> set[bytes]:
    """The depths of the lines around, and of the blocks that end between them."""
    found = {below}
    least: bytes | None = None
    for depth in map(indentation, filter(bytes.strip, reversed(above))):
        if least is None or len(depth) < len(least):
            least = depth
            found.add(depth)
        if len(depth) <= len(below):
            break
    return found
