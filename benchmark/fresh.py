"""Slips that no rule was built against when they were added, beside those of `slips.py`.

A function changes the case, and says whether the slip can happen to it.
"""

import keyword
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from benchmark.case import Case, Lines, Pasted
from benchmark.hunks import Hunk

COMMENTS = {  # of which a line that only remarks on something consists
    "#": "py pyi rb sh toml yaml yml cfg ini",
    "<!--": "md html rst txt",
    "/*": "css",
}
ELISIONS = {
    "dots": "...",
    "rest": "{} ... rest of the code unchanged ...",
    "unchanged": "{} (unchanged)",
    "as before": "{} same as before",
    "omitted": "{} [remaining lines omitted]",
    "sign of dots": "{} … existing code …",
}
CURLY = {'"': "“”", "'": "‘’"}


def _swapped(case: Case) -> bool:
    case.ends = case.hunk.stop - 1, case.hunk.start + 1
    return case.hunk.stop - case.hunk.start > 1


def _of_another(case: Case) -> bool:
    case.other = "".join(f"{line} of another\n" for line in case.hunk.lines)
    return True


def _formatted(case: Case) -> bool:
    """Other quotes and fewer blank lines, everywhere but in the lines addressed."""
    lines, (start, stop) = case.hunk.lines, (case.hunk.start, case.hunk.stop)
    above, below = _formatting(lines[:start]), _formatting(lines[stop:])
    case.disk = "\n".join([*above, *lines[start:stop], *below])
    case.meant = "\n".join([*above, *case.hunk.new, *below])
    return case.disk != case.shown


def _formatting(lines: Lines) -> Lines:
    kept = [x for n, x in enumerate(lines) if x or lines[n - 1 : n] != [""]]
    return [x.replace("'", '"') if x.count("'") == 2 and '"' not in x else x for x in kept]


def _edited(case: Case, *, same: bool) -> bool:
    """By the same session: a line that is to be replaced, or one elsewhere."""
    (start, stop), lines = case.hunk.core, case.hunk.lines
    inside = range(start, stop) if same else [
        *range(case.hunk.start - 3), *range(case.hunk.stop + 3, len(lines))
    ]  # fmt: skip
    found = [n for n in inside if lines.count(lines[n]) == 1 and renamed(lines[n]) != lines[n]]
    if not found:
        return False
    at = case.dice.choice(found)
    new = renamed(lines[at])
    case.first = Hunk(case.hunk.name, "", case.hunk.path, case.shown, at, at + 1, (new,))
    lines[at] = new
    case.meant = None if same else replace(case.hunk, before="\n".join(lines)).meant
    return True


def renamed(line: str, more: str = "x") -> str:
    """One of its words is longer."""
    words = [m for m in re.finditer(r"[a-z_]{4,}", line) if not keyword.iskeyword(m[0])]
    return f"{line[: words[0].end()]}{more}{line[words[0].end() :]}" if words else line


def _longer(case: Case) -> bool:
    """Someone put a word before the first line that is to be replaced."""
    (start, stop), lines = case.hunk.core, case.hunk.lines
    bare = lines[start].lstrip() if start < stop else ""
    lines[start] = lines[start].replace(bare, f"other_{bare}", 1)
    case.disk, case.meant = "\n".join(lines), None
    return bool(bare)


def _pasted(case: Case, how: Pasted) -> bool:
    case.pasted = how
    return bool(case.new) and bool(case.new[0].strip())


def _numbers(case: Case) -> bool:
    sign = case.dice.choice(["\t", ": ", " | "])
    case.old, case.new = (
        [f"{case.hunk.start + 1 + n}{sign}{x}" for n, x in enumerate(lines)]
        for lines in (case.old, case.new)
    )
    return bool(case.new)


def _signs(case: Case) -> bool:
    case.new = [f"+{line}" for line in case.new]
    return bool(case.new)


def _fence(case: Case) -> bool:
    begins = case.dice.choice([["```"], []])
    case.new = [*begins, *case.new, "```"]
    return len(case.new) > 1 + len(begins)


def _replaced(case: Case, change: Callable[[str], str]) -> bool:
    """Another spelling of the new text."""
    sent = "\n".join(case.new)
    case.new = change(sent).split("\n") if sent else []
    return "\n".join(case.new) != sent


def _curly(text: str) -> str:
    for plain, curly in CURLY.items():
        text = re.sub(f"{plain}([^{plain}\n]*){plain}", rf"{curly[0]}\1{curly[1]}", text)
    return text


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _first_flat(case: Case) -> bool:
    """As where the rest was copied from the first word on."""
    if len(case.new) < 2 or case.new[0] == case.new[0].lstrip():
        return False
    case.new = [case.new[0].lstrip(), *case.new[1:]]
    case.old = [case.old[0].lstrip(), *case.old[1:]] if case.old else []
    return True


def _tabs(text: str) -> str:
    return re.sub("(?m)^(?: {4})+", lambda m: "\t" * (len(m[0]) // 4), text)


def _blanks(text: str) -> str:
    return re.sub("(?m)^\t+", lambda m: "    " * len(m[0]), text)


def _two_after(case: Case) -> bool:
    below = case.hunk.lines[case.hunk.stop : case.hunk.stop + 2]
    case.new += below
    return bool(case.hunk.new) and len(list(filter(str.strip, below))) == 2


def _after_deeper(case: Case) -> bool:
    below = case.hunk.lines[case.hunk.stop : case.hunk.stop + 1]
    case.new += [f"    {line}" for line in below]
    return bool(case.hunk.new) and bool("".join(below).strip())


def _left_out(case: Case, spelling: str) -> Lines:
    """The line that stands for others, at the depth of the first."""
    ending = case.hunk.path.rpartition(".")[2]
    sign = next((sign for sign, known in COMMENTS.items() if ending in known.split()), "//")
    ends = {"<!--": " -->", "/*": " */"}.get(sign, "") if "{}" in spelling else ""
    first = case.new[0]
    return [first[: len(first) - len(first.lstrip())] + spelling.format(sign) + ends]


def _elision(case: Case, spelling: str) -> bool:
    start, stop = case.hunk.core
    if len(case.hunk.new) > 4 and stop > start:
        case.new = [case.new[0], *_left_out(case, spelling), case.new[-1]]
        return True
    return False


def _insertion(case: Case) -> bool:
    start, stop = case.hunk.core
    count = len(case.hunk.new) - len(case.hunk.old)
    if stop > start or count < 3:
        return False
    at = start - case.hunk.start
    spelling = case.dice.choice([*ELISIONS.values()])
    first, rest = case.new[: at + 1], case.new[at + count :]
    case.new = [*first, *_left_out(case, spelling), *rest]
    return True


def _elided_old(case: Case) -> bool:
    case.old = [*case.old[:1], "...", *case.old[-1:]]
    return len(case.hunk.old) > 3


def _two_newlines(case: Case) -> bool:
    case.tail = "\n\n"
    return bool(case.new)


def _unended(case: Case) -> bool:
    """No newline ends the file."""
    case.shown, case.disk = (text.removesuffix("\n") for text in (case.shown, case.disk))
    case.meant = case.meant and case.meant.removesuffix("\n")
    return case.hunk.stop < len(case.hunk.lines) - 1


def _twice(case: Case) -> bool:
    case.twice = True
    return True


def _named(case: Case, start: int, stop: int) -> bool:
    case.ends, case.old = (start, stop), case.hunk.lines[start:stop]
    return bool(case.new) and all(x.strip() for x in (*case.old[:1], *case.old[-1:]))


def _short(case: Case) -> bool:
    start, stop = case.hunk.start, case.hunk.stop
    return stop - start > 1 and case.new[-1:] != case.old[-1:] and _named(case, start, stop - 1)


def _long(case: Case) -> bool:
    start, stop, lines = case.hunk.start, case.hunk.stop, case.hunk.lines
    return stop > start and "".join(lines[stop:]).strip() != "" and _named(case, start, stop + 1)


def _first_only(case: Case) -> bool:
    start, stop = case.hunk.start, case.hunk.stop
    return stop - start > 2 and _named(case, start, start + 1)


def _cut(case: Case) -> bool:
    case.new = case.new[:-1]
    return len(case.new) > 2 and case.hunk.stop > case.hunk.start


Slip = Callable[[Case], bool]
MARKS: dict[str, Slip] = {
    "swapped ends": _swapped,
    "mark of another file": _of_another,
    "invented mark": lambda case: True,  # the dialect's
}
WITH_ELISION: dict[str, Slip] = {
    f"elision: {name}": partial(_elision, spelling=spelling) for name, spelling in ELISIONS.items()
} | {"elision in an insertion": _insertion, "elision in old": _elided_old}
SLIPS: dict[str, Slip] = {
    **MARKS,
    "formatted elsewhere": _formatted,
    "same lines edited before": partial(_edited, same=True),
    "other line edited before": partial(_edited, same=False),
    "a word before the target": _longer,
    "prefix on the first line": partial(_pasted, how="first"),
    "half a prefix": partial(_pasted, how="half"),
    "line numbers": _numbers,
    "diff signs": _signs,
    "code fence": _fence,
    "line ends written out": partial(_replaced, change=lambda text: text.replace("\n", "\\n")),
    "quotes written out": partial(_replaced, change=lambda text: text.replace('"', '\\"')),
    "curly quotes": partial(_replaced, change=_curly),
    "HTML entities": partial(_replaced, change=_entities),
    "first line flat": _first_flat,
    "tabs for blanks": partial(_replaced, change=_tabs),
    "blanks for tabs": partial(_replaced, change=_blanks),
    "two neighbours repeated after": _two_after,
    "neighbour repeated deeper": _after_deeper,
    **WITH_ELISION,
    "two newlines": _two_newlines,
    "no last newline": _unended,
    "sent twice": _twice,
}
RANGE: dict[str, Slip] = {  # a wrong end, or text that is cut: nobody can decide most of them
    "range too short": _short,
    "range too long": _long,
    "first line named": _first_only,
    "new text cut": _cut,
}
WRONG_QUOTES = frozenset({
    "a word before the target", "prefix on the first line", "half a prefix", "line numbers",
    "first line flat", "other line edited before", "elision in old", *RANGE,
})  # fmt: skip
NO_RETRY = frozenset({
    "same lines edited before", "a word before the target", "sent twice", *WITH_ELISION, *RANGE,
}) - {"elision in old"}  # fmt: skip
