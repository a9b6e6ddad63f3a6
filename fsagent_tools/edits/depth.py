"""Blocks of lines moved from one depth to another, in blanks, tabs or levels of either."""

import re
from collections.abc import Sequence
from itertools import accumulate
from math import gcd

from fsagent_tools.lines.source import indentation

LIKE_THERE = "re-indented like the lines there"
_SPANNING = re.compile(rb"\"{3}|'{3}|`")  # around a text whose blanks and tabs are its own


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
