"""Blocks of lines moved from one depth to another, in blanks, tabs or levels of either."""

import re
from collections.abc import Sequence
from itertools import accumulate
from math import gcd

from fsagent_tools.lines.source import indentation

_SPANNING = re.compile(rb"\"{3}|'{3}|`")  # around a text whose blanks and tabs are its own


def moved(lines: Sequence[bytes], was: bytes, now: bytes) -> tuple[bytes, ...] | None:
    """The lines, of which one indented by `was` comes to `now`; None where they cannot go along."""
    if unit := _unit(was, now, lines):
        marks = accumulate((len(_SPANNING.findall(line)) for line in lines), initial=0)
        return tuple(
            line if before % 2 else in_units(line, *unit)
            for line, before in zip(lines, marks, strict=False)
        )
    if now.startswith(was):
        less, more = b"", now[len(was) :]
    elif was.startswith(now):
        less, more = was[len(now) :], b""
    else:
        less, more = was, now
    if not all(line.startswith(less) for line in lines if line.strip()):
        return None
    return tuple(more + line[len(less) :] if line.strip() else line for line in lines)


def _unit(was: bytes, now: bytes, lines: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """One level in `was` and in `now`, where one has tabs and the other as many runs of blanks.

    None where a level of `lines` is several of these.
    """
    tabs, blanks = (now, was) if now[:1] == b"\t" else (was, now)
    if tabs.strip(b"\t") or blanks.strip(b" ") or not tabs or len(blanks) % len(tabs):
        return None
    unit = b" " * (len(blanks) // len(tabs))
    if len(unit) < 2:
        return None
    sent, there = (unit, b"\t") if tabs is now else (b"\t", unit)
    several = len(step := _step(lines)) > len(sent) and not len(step) % len(sent)
    return None if several else (sent, there)


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
        if (
            not levels
            or odd
            or size < 1
            or blanks.strip(b" ")
            or not blanks.endswith(tabs[levels:])
        ):
            return None
        unit = b" " * size
        found.add((unit, b"\t") if blanks is pair[0] else (b"\t", unit))
    return found.pop() if len(found) == 1 else None


def in_units(line: bytes, sent: bytes, there: bytes) -> bytes:
    depth = indentation(line)
    levels = (len(depth) - len(depth.lstrip(sent[:1]))) // len(sent)
    return there * levels + line[len(sent) * levels :] if line.strip() else line


def _step(lines: Sequence[bytes]) -> bytes:
    """How much deeper than its first line a block goes on, b"" if it does not."""
    first, second = ([indentation(line) for line in lines if line.strip()] + [b"", b""])[:2]
    return second.removeprefix(first) if second.startswith(first) else b""


def goes(blanks: bytes, was: bytes, now: bytes) -> bytes | None:
    line = moved([blanks + b"."], was, now)
    return line[0][:-1] if line else None


def first_alone(lines: Sequence[bytes], was: bytes, now: bytes) -> tuple[bytes, ...]:
    head = next(n for n, line in enumerate(lines) if line.strip())
    line = now + lines[head].removeprefix(was)
    return (*lines[:head], line, *lines[head + 1 :])


def by(was: bytes, now: bytes) -> str:
    count = abs(len(now.expandtabs(4)) - len(was.expandtabs(4)))
    return f"by {count} column{'s' * (count != 1)}" if count else "with its tabs or blanks"


def shift(was: bytes, now: bytes) -> str:
    if len({*was, *now}) > 1:
        return "re-indented like the lines there"
    count = len(now) - len(was)
    return f"re-indented by {count} column{'s' * (abs(count) != 1)}"
