"""What models and their surroundings do to an edit that was meant well; deterministic."""

import random
import re
from collections.abc import Callable, Sequence

from benchmark import fresh, further
from benchmark.case import Case, Lines
from benchmark.hunks import Hunk

ELISION = "... existing code ..."
MIX = {  # how often of 100 calls; what is not here is reported beside the mix
    "clean": 80, "drift above": 6, "target changed": 0.7, "interior changed": 0.3,
    "prefix echoed": 0.5, "neighbour repeated after": 2, "neighbour repeated before": 1,
    "indentation in old": 1, "indentation in both": 1, "trailing blanks": 0.7, "not unique": 2,
    "CRLF": 1, "off by one": 1, "mistyped": 1.5, "final newline": 1, "elision": 0.3,
}  # fmt: skip
BESIDE = ("indentation in new", "flat paste", "off by one, its own words")
KNOWN = (*MIX, *BESIDE)
KINDS = (*KNOWN, *fresh.SLIPS, *fresh.RANGE, *further.SLIPS)
UNTOLD = ("off by one, its own words", *fresh.RANGE)  # nothing in such a call says what was meant
ALIKE = tuple(k for k in (*KNOWN, *fresh.SLIPS) if k not in {"clean", "drift above", *UNTOLD})


def alike(kinds: Sequence[str]) -> dict[str, float]:
    """A mix with as many slips as `MIX`, all of them equally often."""
    return {"clean": 80, "drift above": 6, **dict.fromkeys(kinds, 14 / len(kinds))}


WIDE, EVERY_SLIP = alike(ALIKE), alike((*ALIKE, *further.SLIPS))
ONLY_QUOTES = frozenset({"indentation in old", "trailing blanks", "not unique", "elision in old"})
ONLY_MARKS = frozenset({
    "off by one", "off by one, its own words", *fresh.MARKS, *further.ONLY_MARKS,
})  # fmt: skip
NEWLINES = frozenset({"final newline", "two newlines"})
WRONG_QUOTES = ONLY_QUOTES | {  # slips after which the text quoted first is of no use
    "interior changed", "prefix echoed", "mistyped", "CRLF", "indentation in both",
    *fresh.WRONG_QUOTES,
}  # fmt: skip
NO_RETRY = frozenset({"target changed", "elision", *fresh.NO_RETRY, *further.SLIPS})


def make(hunk: Hunk, kind: str, *, quoting: bool) -> Case | None:
    """The slip happened to this hunk; None where it cannot. Mistyping a mark is the dialect's."""
    text, dice = hunk.before, random.Random(f"{hunk.name} {kind}")
    case = Case(kind, hunk, text, text, hunk.meant, hunk.old, [*hunk.new], quoting, dice=dice)
    if kind == "mistyped" and not quoting:
        return case
    return case if EVERY[kind](case) else None


def _drift(case: Case) -> bool:
    case.disk = f"// a new first line\n\n{case.disk}"
    case.meant = f"// a new first line\n\n{case.meant}"
    return True


def _target(case: Case) -> bool:
    """A line that is to be replaced was changed by someone else."""
    start, stop = case.hunk.core
    lines = case.hunk.lines
    filled = [n for n in range(start, stop) if lines[n].strip()]
    if filled:
        at = case.dice.choice(filled)
        lines[at] = lines[at].replace(lines[at].strip()[:2], "changed", 1)
        case.disk, case.meant = "\n".join(lines), None
    return bool(filled)


def _interior(case: Case) -> bool:
    start, stop = case.hunk.core
    lines = case.hunk.lines
    lines.insert(start + 1, "// came")
    case.disk, case.meant = "\n".join(lines), None
    return stop - start > 1


def _echoed(case: Case) -> bool:
    case.pasted = "every"
    return bool(case.new)


def _after(case: Case) -> bool:
    below = case.hunk.lines[case.hunk.stop : case.hunk.stop + 1]
    case.new += below
    return len(case.new) > 1 and bool("".join(below).strip())


def _before(case: Case) -> bool:
    above = case.hunk.lines[: case.hunk.start][-1:]
    case.new = above + case.new
    return len(case.new) > 1 and bool("".join(above).strip())


def _moved(lines: Lines, step: int) -> Lines:
    return [(x[-step:] if step < 0 else " " * step + x) if x.strip() else x for x in lines]


def _indentation(case: Case, old: bool, new: bool) -> bool:
    """All lines four columns to the left, or one to the right."""
    step = case.dice.choice([-4, -4, 1])
    sent = [*case.old * (old and case.quoting), *case.new * new]
    if step < 0 and not all(x.startswith("    ") for x in sent if x.strip()):
        return False
    case.old = _moved(case.old, step) if old else case.old
    case.new = _moved(case.new, step) if new else case.new
    return any(x.strip() for x in sent)


def _flat(case: Case) -> bool:
    """Every line of the new text at the left margin."""
    case.new = [line.lstrip() for line in case.new]
    return tuple(case.new) != case.hunk.new


def _blanks(case: Case) -> bool:
    case.old = [line + "  " * bool(line.strip()) for line in case.old]
    return True


def _not_unique(case: Case) -> bool:
    """The bare lines are quoted, which stand in the file more than once."""
    start, stop = case.hunk.core
    bare = case.hunk.lines[start:stop]
    size = len(case.hunk.new) - (len(case.hunk.old) - len(bare))
    at = start - case.hunk.start
    case.old, case.new = bare, [*case.hunk.new[at : at + size]]
    text = "\n".join(bare)
    return bool(text.strip()) and bool(case.new) and case.hunk.before.count(text) > 1


def _crlf(case: Case) -> bool:
    case.ending = "\r\n"
    case.shown, case.disk = (text.replace("\n", "\r\n") for text in (case.shown, case.disk))
    case.meant = case.meant and case.meant.replace("\n", "\r\n")
    return True


def _off(case: Case) -> bool:
    case.off = case.dice.choice([-1, 1])
    first, last = case.hunk.start + case.off, max(case.hunk.stop - 1, case.hunk.start) + case.off
    lines = case.hunk.lines
    return (
        first >= 0 and last < len(lines) - 1 and bool(lines[first].strip() and lines[last].strip())
    )


def _mistyped(case: Case) -> bool:
    """In the quoted text, and wherever the same line comes again."""
    sent = "\n".join(case.old), "\n".join(case.new)
    typed = with_typo(*sent)
    case.old, case.new = typed[0].split("\n"), typed[1].split("\n") if typed[1] else []
    return typed != sent


def _newline(case: Case) -> bool:
    case.tail = "\n"
    return bool(case.new)


def _elision(case: Case) -> bool:
    start, stop = case.hunk.core
    case.new = [*case.new[:1], f"    // {ELISION}", *case.new[-1:]]
    return len(case.hunk.new) > 4 and stop > start


def with_typo(old: str, new: str) -> tuple[str, str]:
    """One letter swapped, dropped, doubled or wrong in one line, wherever the line stands."""
    dice = random.Random(old)
    lines = old.split("\n")
    places = [
        (number, match.start())
        for number, line in enumerate(lines)
        if len(line.strip()) >= 12
        for match in re.finditer(r"(?<=[A-Za-z])[a-z](?=[a-z])", line)
    ]
    if not places:
        return old, new
    number, at = dice.choice(places)
    line = lines[number]
    slip = dice.choice([line[at + 1] + line[at], "", line[at] * 2, "z"])
    typed = line[:at] + slip + line[at + (2 if len(slip) == 2 and slip[0] != slip[1] else 1) :]
    lines[number] = typed
    return "\n".join(lines), "\n".join(typed if x == line else x for x in new.split("\n"))


SLIPS: dict[str, Callable[[Case], bool]] = {
    "clean": lambda case: True,
    "drift above": _drift,
    "target changed": _target,
    "interior changed": _interior,
    "prefix echoed": _echoed,
    "neighbour repeated after": _after,
    "neighbour repeated before": _before,
    "indentation in old": lambda case: _indentation(case, old=True, new=False),
    "indentation in new": lambda case: _indentation(case, old=False, new=True),
    "indentation in both": lambda case: _indentation(case, old=True, new=True),
    "flat paste": _flat,
    "trailing blanks": _blanks,
    "not unique": _not_unique,
    "CRLF": _crlf,
    "off by one": _off,
    "off by one, its own words": _off,
    "mistyped": _mistyped,
    "final newline": _newline,
    "elision": _elision,
}
EVERY = SLIPS | fresh.SLIPS | fresh.RANGE | further.SLIPS
