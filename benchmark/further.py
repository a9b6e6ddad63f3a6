"""Slips that say little of what was meant: another extent, another place, a text gone wrong.

A function changes the case, and says whether the slip can happen to it.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from benchmark.case import Case, Lines
from benchmark.fresh import renamed
from benchmark.hunks import Hunk

MOST = 600, 80  # lines of a whole file, or of a block, that somebody sends
LEAST = 4  # lines of a block
FORGOTTEN = 3  # lines of context
DEFINES = re.compile(r"\s*(?:export |default |async |public |private |static )*(?:def|class|"
                     r"function|func|fn|interface|struct|impl)\b|.*\)[^;]*\{\s*$")  # fmt: skip
BLANKS = "\N{NO-BREAK SPACE}", " \N{ZERO WIDTH SPACE}", " \N{ZERO WIDTH NO-BREAK SPACE}"


def named(case: Case, start: int, stop: int, new: Lines) -> bool:
    """These lines are addressed, which begin and end with some text, and become the new ones."""
    lines = case.hunk.lines
    case.ends, case.old, case.new = (start, stop), lines[start:stop], new
    whole = 0 <= start < stop < len(lines) and bool(new)
    return whole and all(line.strip() for line in (lines[start], lines[stop - 1]))


def put(case: Case, at: int, new: Lines, *, above: bool) -> bool:
    """New lines are put above or below line `at`, which stays."""
    line = case.hunk.lines[at]
    gap = at + (not above)
    case.old, case.new = [line], [*new, line] if above else [line, *new]
    if not case.quoting:
        case.hunk, case.new = replace(case.hunk, start=gap, stop=gap), new
    return bool(line.strip()) and "\n".join(case.old) != "\n".join(case.new)


def changed(case: Case) -> Lines:
    """The new lines in place of the ones that really change."""
    start, stop = case.hunk.core
    new = case.hunk.new
    return [*new[start - case.hunk.start : len(new) - (case.hunk.stop - stop)]]


def depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def block(hunk: Hunk, head: re.Pattern[str]) -> tuple[int, int] | None:
    """The lines of the innermost block around the change that begins with such a head."""
    lines, start = hunk.lines, hunk.core[0]
    inner = next(filter(str.strip, lines[start:]), "")
    for first in range(start - 1, -1, -1):
        if not lines[first].strip() or depth(lines[first]) >= depth(inner):
            continue
        inner = lines[first]
        if not head.match(inner):
            continue
        stop = first + 1
        while stop < len(lines) and (not lines[stop].strip() or depth(lines[stop]) > depth(inner)):
            stop += 1
        stop += stop < len(lines) and lines[stop].strip()[:1] in {"}", "]", ")"}
        while not lines[stop - 1].strip():
            stop -= 1
        around = hunk.core[1] <= stop and LEAST <= stop - first <= MOST[1]
        return (first, stop) if around else None
    return None


def as_meant(hunk: Hunk, start: int, stop: int) -> Lines:
    """What becomes of lines around the hunk."""
    lines = hunk.lines
    return [*lines[start : hunk.start], *hunk.new, *lines[hunk.stop : stop]]


def _whole_file(case: Case, at: int | None) -> bool:
    new = case.hunk.meant.removesuffix("\n").split("\n")
    few = len(case.hunk.lines) <= MOST[0] and at is not None and len(new) >= LEAST
    return few and at is not None and named(case, at, at + 1, new)


def _over_first_line(case: Case) -> bool:
    return _whole_file(case, next((n for n, x in enumerate(case.hunk.lines) if x.strip()), None))


def _over_first_definition(case: Case) -> bool:
    lines = case.hunk.lines
    return _whole_file(case, next((n for n, x in enumerate(lines) if n and DEFINES.match(x)), None))


def _over_head(case: Case) -> bool:
    found = block(case.hunk, DEFINES)
    if not found:
        return False
    return named(case, found[0], found[0] + 1, as_meant(case.hunk, *found))


def _half_way(case: Case) -> bool:
    found = block(case.hunk, re.compile(""))
    if not found:
        return False
    start, stop = found
    half = [n for n in range(start + 1, stop - 1) if case.hunk.lines[n - 1].strip()]
    middle = half[len(half) // 2] if half else 0
    return bool(half) and named(case, start, middle, as_meant(case.hunk, start, stop))


def _next_paragraph(case: Case) -> bool:
    lines, stop = case.hunk.lines, case.hunk.stop
    while stop < len(lines) and not lines[stop].strip():
        stop += 1
    while stop < len(lines) and lines[stop].strip():
        stop += 1
    return stop < len(lines) - 1 and named(case, case.hunk.start, stop, case.new)


def _beside_old(case: Case) -> bool:
    start, stop = case.hunk.core
    new = changed(case)
    return stop > start and bool("".join(new).strip()) and put(case, stop - 1, new, above=False)


def _inserted(case: Case) -> tuple[int, Lines] | None:
    """The line above an insertion, and what is inserted."""
    start, stop = case.hunk.core
    new = changed(case)
    return (start - 1, new) if start == stop and start and "".join(new).strip() else None


def _anchor_replaced(case: Case) -> bool:
    found = _inserted(case)
    return found is not None and named(case, found[0], found[0] + 1, found[1])


def _before(case: Case) -> bool:
    found = _inserted(case)
    return found is not None and put(case, *found, above=True)


def _rest_shifted(case: Case) -> bool:
    first, *rest = case.new or [""]
    filled = [line for line in rest if line.strip()]
    left = all(line.startswith("    ") for line in filled) and case.dice.random() < 0.5
    case.new = [first, *((x[4:] if left else f"    {x}") if x.strip() else x for x in rest)]
    return bool(first.strip() and filled)


def _blanks(case: Case) -> bool:
    """One line has blanks that only look like one."""
    found = [n for n, line in enumerate(case.new) if " " in line.strip()]
    if found:
        at = case.dice.choice(found)
        line = case.new[at]
        text = line.strip().replace(" ", case.dice.choice(BLANKS))
        case.new = [*case.new[:at], line[: depth(line)] + text, *case.new[at + 1 :]]
    return bool(found)


def _cut(lines: Lines, at: int) -> Lines:
    line = lines[at]
    return [*lines[:at], line[: depth(line) + len(line.strip()) // 2]]


def _text_cut(case: Case) -> bool:
    case.new = _cut(case.new, len(case.new) - 1) if case.new else []
    return len("".join(case.new[-1:]).strip()) > 2 and bool(case.hunk.old)


def _block_cut(case: Case) -> bool:
    found = block(case.hunk, re.compile(""))
    new = as_meant(case.hunk, *found) if found else []
    at = max((n for n in range(len(new) * 2 // 3) if len(new[n].strip()) > 5), default=0)
    return found is not None and at > 1 and named(case, *found, _cut(new, at))


def _line_twice(case: Case) -> bool:
    found = [n for n, line in enumerate(case.new) if line.strip()]
    at = case.dice.choice(found) if found else 0
    case.new = [*case.new[: at + 1], *case.new[at:]]
    return bool(found)


def _text_twice(case: Case) -> bool:
    case.new = [*case.new, *case.new]
    return len(case.new) > 2 and bool("".join(case.new).strip())


def _context_forgotten(case: Case) -> bool:
    start, stop = case.hunk.start, case.hunk.stop + FORGOTTEN
    return bool(case.hunk.old) and named(case, start, stop, case.new)


def _from_memory(case: Case) -> bool:
    """A line that the session changed before is sent as it was, between others that are named."""
    start, stop = case.hunk.start - 2, case.hunk.stop
    if start < 0 or not named(case, start, stop, as_meant(case.hunk, start, stop)):
        return False
    lines = case.hunk.lines
    new = renamed(lines[start + 1])
    case.first = Hunk(case.hunk.name, "", case.hunk.path, case.shown, start + 1, start + 2, (new,))
    lines[start + 1] = new
    case.meant = replace(case.hunk, before="\n".join(lines)).meant
    return new != case.hunk.lines[start + 1] and bool(case.hunk.old)


def _twin(case: Case) -> bool:
    """The same lines at the end of the file are named."""
    old = case.hunk.old
    if not "".join(old).strip():
        return False
    again = "\n".join(["", *old, ""])
    case.shown, case.disk, case.meant = (
        text + again for text in (case.shown, case.disk, case.hunk.meant)
    )
    at = len(case.hunk.lines)
    case.ends = at, at + len(old)
    return bool(old[0].strip() and old[-1].strip())


def _sibling(case: Case, *, read: bool) -> bool:
    case.sibling, case.meant = "read" if read else "unread", None
    return True


def _shared_line(case: Case) -> bool:
    """Two changes, the second of which begins with the last line of the first."""
    hunk, lines = case.hunk, case.hunk.lines
    below = lines[hunk.stop] if hunk.stop < len(lines) - 1 else ""
    after = renamed(below)
    if not hunk.old or not hunk.new or after == below or not hunk.new[-1].strip():
        return False
    last, both = hunk.new[-1], [*hunk.new, after]
    case.meant = "\n".join([*lines[: hunk.start], *both, *lines[hunk.stop + 1 :]])
    case.old, case.new = [last, below], [last, after]
    if case.quoting:
        case.first = replace(hunk)
        return True
    case.new = [*hunk.new]
    case.more = replace(case, ends=(hunk.stop - 1, hunk.stop + 1), new=[last, after])
    return bool(lines[hunk.stop - 1].strip())


ONLY_MARKS = frozenset({"own edit undone from memory", "equal lines elsewhere"})
SLIPS: dict[str, Callable[[Case], bool]] = {
    "whole file over its first line": _over_first_line,
    "whole file over its first definition": _over_first_definition,
    "function over its head": _over_head,
    "whole block over its first half": _half_way,
    "range over the next paragraph": _next_paragraph,
    "new lines below the old ones": _beside_old,
    "anchor replaced": _anchor_replaced,
    "before instead of after": _before,
    "all but the first line shifted": _rest_shifted,
    "blanks of another kind": _blanks,
    "text cut in a line": _text_cut,
    "block cut in a line": _block_cut,
    "a line twice": _line_twice,
    "new text twice": _text_twice,
    "context below forgotten": _context_forgotten,
    "own edit undone from memory": _from_memory,
    "equal lines elsewhere": _twin,
    "equal file, not read": lambda case: _sibling(case, read=False),
    "equal file, read": lambda case: _sibling(case, read=True),
    "two changes that share a line": _shared_line,
}
