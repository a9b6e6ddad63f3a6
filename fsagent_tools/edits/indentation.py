"""What new text becomes at its place: as it was sent, or with its block at the depth of the place.

The place gives the depth. A parser decides between the readings; where it cannot, a quote tells by
how its own lines differ from those of the file, and without one it is asked.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from math import gcd
from typing import NamedTuple

from fsagent_tools.edits.checks import Context, Doubt, around
from fsagent_tools.lines.document import NEARBY
from fsagent_tools.lines.hunks import Hunk
from fsagent_tools.lines.matching import align
from fsagent_tools.lines.source import indentation, text_of
from fsagent_tools.problems import Parsing

_NEAR = 30  # lines on either side
_ABOVE = 100  # lines in which a block that ends may begin
_OPENS = re.compile(rb"\s*(?:[-*+]|\d+[.)])\s|.*[:{(\[]\s*$")  # a deeper line may follow
_OPENERS = (b":", b"{")  # at the end of a line behind which a block begins
_QUOTED = re.compile(rb"[\"'`]")
_PREPROCESSED = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".mm", ".cs")
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_BRACES = (*_PREPROCESSED, *_SCRIPTS, ".java", ".go", ".rs", ".css", ".php", ".json")
AS_SENT = "with the indentation that was sent"
LIKE_THERE = "re-indented like the lines there"
_SPANNING = re.compile(rb"\"{3}|'{3}|`")  # around a text whose blanks and tabs are its own


class Reading(NamedTuple):
    """New lines, from the margin on, and what was done to the ones sent."""

    lines: tuple[bytes, ...]
    how: str = ""


class Fitted(NamedTuple):
    """A hunk as it is to be, what was done to it, and what is doubtful about its depth."""

    hunk: Hunk
    how: str = ""
    doubt: Doubt | None = None


def fit(context: Context, hunk: Hunk, line: int) -> Fitted:
    """The hunk with its block at the depth that is meant.

    line: the one that is named, beside which an insertion is put. Taken as sent are lines that have
    the depth of their place, or none; else the reading that parses alone. Where several do, the
    depth of the place where braces carry the structure, and what was sent where a line around has
    its depth.
    """
    inserted, name = hunk.start == hunk.stop, context.name
    beside = context.lines.between(line, line + 1 if inserted else hunk.stop)
    old, new = (next(filter(bytes.strip, lines), b"") for lines in (beside, hunk.new))
    depth, sent = indentation(old), indentation(new)
    if not old or not new or depth == sent:
        return Fitted(hunk)
    _, *later = filter(bytes.strip, hunk.new)
    flat = not inserted and not sent and _go_on(new, later, depth)
    alone = first_alone(hunk.new, sent, depth)
    there = alone if flat else moved(hunk.new, sent, depth)
    if there is None or [*there] == beside or _has_no_depth(name, old, new):
        return Fitted(hunk)  # also where nothing but the depth is to change
    known = not flat and _is_known(context, hunk, depth, sent)
    verdict = context.parses(hunk)
    if known and verdict not in (False, "beyond"):
        return Fitted(hunk)
    ways = {there, alone} if not sent and not inserted and verdict is False else {there}
    verdicts = {lines: context.parses(replace(hunk, new=lines)) for lines in ways}
    right = [lines for lines, parses in verdicts.items() if parses is True]
    braces = name.endswith(_BRACES) and not inserted
    signs = {*b"".join(map(indentation, hunk.new))} <= {*depth}  # else its levels are a guess
    if len(right) == 1 and (verdict is False or flat or (braces and signs and verdict is True)):
        first = ", the first line alone" * (flat or right[0] != there)
        why = "like the lines there" if verdict else "else it would not parse"
        return Fitted(replace(hunk, new=right[0]), f"re-indented {by(sent, depth)}{first}, {why}")
    if not right and (known if verdict is False else [*verdicts.values()] == [False]):
        return Fitted(hunk)
    return Fitted(hunk, doubt=_doubted(hunk, new, next(filter(bytes.strip, there)), depth, sent))


def strange_depth(context: Context, hunk: Hunk) -> tuple[bytes, ...] | None:
    """New lines at the depth of their place, where they begin between the levels around it.

    Or where all of them stand at the margin, and no old one does.
    """
    old = [*filter(bytes.strip, context.old(hunk))]
    new = [*filter(bytes.strip, hunk.new)]
    if not old or not new or _has_no_depth(context.name, old[0], new[0]):
        return None
    depth, sent = indentation(old[0]), indentation(new[0])
    flat = all(map(indentation, old)) and not any(map(indentation, new))
    near = context.lines.between(max(0, hunk.start - _NEAR), hunk.stop + _NEAR)
    levels = {indentation(line) for line in near if line.strip()}
    step = gcd(*map(len, levels)) or 1
    fits = {*sent} <= {*b"".join(levels)} and not len(sent) % step
    if depth == sent or not (flat or not fits):
        return None
    there = moved(hunk.new, sent, depth)
    return None if there is None or [*there] == context.old(hunk) else there


def _doubted(hunk: Hunk, new: bytes, there: bytes, depth: bytes, sent: bytes) -> Doubt:
    """What is doubtful about the depth of new lines, of which these are the first in each way."""
    count = len(depth.expandtabs(4)) - len(sent.expandtabs(4))
    change = "lose" if count > 0 else "gain"
    what = f"The first line would {change} {columns(abs(count))} of indentation."
    if not count:
        what = "Tabs and blanks of the first line's indentation are not those of its place."
    readings = "As sent:\n{}\nOr re-indented:\n{}".format(*text_of([new, there]))
    return Doubt(what, shown=around(hunk), readings=readings)


def quoted_readings(
    head: bytes, old: Sequence[bytes], new: Sequence[bytes], there: Sequence[bytes], *, exact: bool
) -> tuple[list[Reading], bool]:
    """What new lines in the place of quoted ones may become; whether the quote tells the first.

    head: what stands before the quote on its first line. there: the file's lines in its place.
    exact: the text is the quoted one; else lines that come again stay as they are in the file.
    """
    reading = partial(_reading, {} if exact else _kept(old, new, there))
    plain = (head + new[0], *new[1:])
    pairs = _compared(old, there)
    first = next((indentation(line) for line in new if line.strip()), None)
    if head.strip() or first is None or not pairs:
        return [Reading(plain)], True
    (sent,) = reading(plain, "")
    depth = pairs[0][1]
    filled = [
        (indentation(q), indentation(f)) for q, f in zip(old, there, strict=False) if q.strip()
    ]
    if unit := units(filled):
        lines = tuple(in_units(line, *unit) for line in sent.lines)
        return reading(lines, LIKE_THERE if lines != sent.lines else AS_SENT), True
    was, now = next((pair for pair in pairs if pair[0] != pair[1]), (depth, depth))
    if was == now:
        return [sent], True
    whole = reading(moved(new, was, now), shift(was, now))
    whole = [sent if one.lines == sent.lines else one for one in whole]
    as_there = first == depth and first != pairs[0][0]
    if as_there or (head and first.startswith(depth)):  # as the file has it, not the quote
        return [*reading(new, AS_SENT), *whole], True
    alone = reading(first_alone(new, was, now), f"first line {shift(was, now)}")
    later = [line for line in new if line.strip()][1:]
    right = whole or alone * (not later)
    others = [quote == file for quote, file in filled[1:]]
    flat = len(was) < len(now) and _go_on(new[0], later, depth)
    if all(others) if others else flat:  # the first line alone is off
        right = [sent] if head else alone
    elif others and not all(
        moved([quote + b"."], was, now) == (file + b".",) for quote, file in pairs
    ):
        right = reading(_like_there(old, new, there), LIKE_THERE)
    ways = dict[tuple[bytes, ...], Reading]()
    for one in (*right, *whole, *alone, sent):
        ways.setdefault(one.lines, one)
    return [*ways.values()], bool(right)


def _reading(kept: Mapping[int, bytes], lines: Sequence[bytes] | None, how: str) -> list[Reading]:
    return [Reading(tuple(kept.get(n, x) for n, x in enumerate(lines)), how)] if lines else []


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
    readings: Sequence[Reading], sure: bool, parses: Callable[[Reading], Parsing]
) -> Reading | None:
    """The reading that the quote tells, unless another one alone parses; None: nobody can tell."""
    if len(readings) == 1 or (sure and parses(readings[0]) is not False):
        return readings[0]
    right = [reading for reading in readings if parses(reading) is True]
    if len(right) == 1:
        return right[0]
    return readings[0] if sure and not right else None


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


def _go_on(first: bytes, later: Sequence[bytes], depth: bytes) -> bool:
    """Whether lines stand where they would if the first one had this depth."""
    if not later or not all(line.startswith(depth) for line in later):
        return False
    return not _OPENS.match(first) or indentation(later[0]) != depth


def _has_no_depth(name: str, *lines: bytes) -> bool:
    """Whether one is a line for a preprocessor, which may stand anywhere."""
    return name.endswith(_PREPROCESSED) and any(x.lstrip().startswith(b"#") for x in lines)


def _is_known(context: Context, hunk: Hunk, old: bytes, depth: bytes) -> bool:
    """Whether the lines around give a new line this depth.

    It is theirs, or that of a block that ends here; behind what opens one it may be any deeper.
    """
    between = context.lines.between
    above = [*filter(bytes.strip, between(max(0, hunk.start - _ABOVE), hunk.start))]
    last = above[-1] if above else b""
    outer = indentation(last)
    if _OPENS.match(last) and len(old) <= len(outer) < len(depth) - 1 and depth.startswith(outer):
        return True
    if depth.startswith(old) or old.startswith(depth):
        if not all(line.startswith(depth) for line in hunk.new if line.strip()):
            return True  # it ends blocks, too
        if hunk.start < hunk.stop:
            return False
    below = next(filter(bytes.strip, between(hunk.stop, hunk.stop + NEARBY)), b"")
    return depth in _levels([*map(indentation, above)], indentation(below))


def _levels(above: Sequence[bytes], below: bytes) -> set[bytes]:
    """The depths of the lines around, and of the blocks that end between them."""
    found = {below}
    least: bytes | None = None
    for depth in reversed(above):
        if least is None or len(depth) < len(least):
            least = depth
            found.add(depth)
        if len(depth) <= len(below):
            break
    return found


def moved(lines: Sequence[bytes], was: bytes, now: bytes) -> tuple[bytes, ...] | None:
    """The lines, of which one indented by `was` comes to `now`; None where they cannot go along."""
    unit = units([(was, now)])
    if unit and len(b"".join(unit)) > 2 and not _several(lines, len(unit[0])):
        marks = accumulate((len(_SPANNING.findall(line)) for line in lines), initial=0)
        return tuple(
            line if before % 2 else in_units(line, *unit)
            for line, before in zip(lines, marks, strict=False)
        )
    same = max(was, now, key=len).startswith(min(was, now, key=len))
    kept = min(len(was), len(now)) if same else 0
    less, more = was[kept:], now[kept:]
    if not all(line.startswith(less) for line in lines if line.strip()):
        return None
    return tuple(more + line[len(less) :] if line.strip() else line for line in lines)


def _several(lines: Sequence[bytes], size: int) -> bool:
    """Whether one level of the lines, as their second goes on, is several of that size."""
    first, second = ([indentation(line) for line in lines if line.strip()] + [b"", b""])[:2]
    step = len(second) - len(first) if second.startswith(first) else 0
    return step > size and not step % size


def units(pairs: Sequence[tuple[bytes, bytes]]) -> tuple[bytes, bytes] | None:
    """One level of the first of each pair and of the second, where blanks stand for tabs in all.

    Or wider blanks for narrower ones, which two depths have to show: one is a shift.
    """
    if not b"".join(map(b"".join, pairs)).strip(b" "):
        sent, there = (gcd(*(len(pair[side]) for pair in pairs)) for side in (0, 1))
        scaled = all(len(one) * there == len(other) * sent for one, other in pairs)
        told = scaled and 0 < sent != there > 0 and len({*pairs}) > 1
        return (b" " * sent, b" " * there) if told else None
    found = set[tuple[bytes, bytes]]()
    for pair in pairs:
        tabs, blanks = sorted(pair)  # a tab is less than a blank
        levels = len(tabs) - len(tabs.lstrip(b"\t"))
        if not levels and tabs == blanks:
            continue
        size, odd = divmod(len(blanks) - len(tabs) + levels, levels or 1)
        same = not blanks.strip(b" ") and blanks.endswith(tabs[levels:])
        if not levels or odd or size < 1 or not same:
            return None
        unit = b" " * size
        found.add((unit, b"\t") if blanks is pair[0] else (b"\t", unit))
    return found.pop() if len(found) == 1 else None


def in_units(line: bytes, sent: bytes, there: bytes) -> bytes:
    depth = indentation(line)
    levels = (len(depth) - len(depth.lstrip(sent[:1]))) // len(sent)
    return there * levels + line[len(sent) * levels :] if line.strip() else line


def first_alone(lines: Sequence[bytes], was: bytes, now: bytes) -> tuple[bytes, ...]:
    head = next(n for n, line in enumerate(lines) if line.strip())
    line = now + lines[head].removeprefix(was)
    return (*lines[:head], line, *lines[head + 1 :])


def by(was: bytes, now: bytes) -> str:
    count = abs(len(now.expandtabs(4)) - len(was.expandtabs(4)))
    return f"by {columns(count)}" if count else "with its tabs or blanks"


def shift(was: bytes, now: bytes) -> str:
    mixed = len({*was, *now}) > 1
    return LIKE_THERE if mixed else f"re-indented {by(was, now)}"


def columns(count: int) -> str:
    return f"{count} column{'s' * (abs(count) != 1)}"
