"""New lines whose first line stands at another depth than the line they replace."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

from fsagent_tools.lines.source import indentation, text_of
from fsagent_tools.lines.splice import Hunk

# Does the text parse with it? None: nobody can tell; "beyond": it is too much to parse.
WellFormed = Callable[[Hunk], bool | Literal["beyond"] | None]
Meant = Literal["as sent", "shifted", "doubtful"]
_ITEM = re.compile(rb"\s*(?:[-*+]|\d+[.)])\s")
_OPENS = re.compile(_ITEM.pattern + rb"|.*[:{(\[]\s*$")  # a deeper line may follow
_ENDS = rb"end(?:if|for|foreach|while|function|macro|block)?|else|elif|elsif|elseif|fi|done|esac"
_ENDS += rb"|except|catch|rescue|ensure|finally|case|default|when"
_CLOSES = re.compile(rb"(?i)\s*(?:[)}\]]|\*/|</|(?:\{[%{]-?\s*|[@#])?(?:" + _ENDS + rb")\b)")
_SPANNING = re.compile(rb"\"{3}|'{3}|`")  # around a text whose blanks and tabs are its own
_TAG = re.compile(rb"\s*<[A-Za-z](?:[^<>]*[^<>/])?>\s*$")  # alone in its line
_COMMENT = re.compile(rb"\s*(?://|/\*|\*|#)")
_PREPROCESSED = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".mm", ".cs")
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_BRACES = (*_PREPROCESSED, *_SCRIPTS, ".java", ".go", ".rs", ".css", ".php", ".json")
_MARKDOWN = (".md", ".markdown")
_CODE = 4  # blanks that make a line of Markdown code


@dataclass(frozen=True)
class Readings:
    """A hunk as it was sent, and with its block moved to the depth of the line at its place.

    columns: how far; 0 where only tabs and blanks differ.
    """

    sent: Hunk
    shifted: Hunk
    columns: int
    usual: bool  # the surroundings have the depth that was sent, or let it be
    odd: bool  # it is one blank off, which no line around is
    flat: bool = False  # the first line alone lost its depth, and alone is moved

    def verdict(self, parses: WellFormed, *, braces: bool = False) -> Meant:
        """Which reading is right: the one that parses, where only one does.

        braces: the depth of the line is no part of what it means.
        """
        sent, shifted = parses(self.sent), parses(self.shifted)
        if {sent, shifted} == {True, False}:
            return "shifted" if shifted is True else "as sent"
        if sent is shifted is True and self.odd:
            return "shifted"
        if "beyond" in (sent, shifted):  # what is written must not depend on who may look
            return "doubtful"
        if shifted is True and (self.flat or (braces and sent is True and not self.usual)):
            return "shifted"
        return "as sent" if self.usual else "doubtful"

    def how(self) -> str:
        count, what = abs(self.columns), ", the first line alone" * self.flat
        by = f"by {count} column{'s' * (count != 1)}" if count else "with its tabs or blanks"
        return by + what

    def told(self) -> tuple[str, str]:
        """What is doubtful, and both readings."""
        sent, shifted = (text_of(r.new[:1])[0] for r in (self.sent, self.shifted))
        change = "lose" if self.columns > 0 else "gain"
        doubt = f"The first line would {change} {abs(self.columns)} columns of indentation."
        if not self.columns:
            doubt = "Tabs and blanks of the first line's indentation are not those of its place."
        return doubt, f"As sent:\n{sent}\nOr re-indented:\n{shifted}"


def readings(
    hunk: Hunk, there: Sequence[bytes], above: Sequence[bytes], below: bytes, *, alone: bool
) -> Readings | None:
    """Both readings of `hunk`; None when it keeps the depth, or is no block that can be moved.

    there: the lines it replaces, or the one it is put beside. above: some lines above it. below:
    the next line with text.
    """
    old = next((indentation(line) for line in there if line.strip()), None)
    new = next((indentation(line) for line in hunk.new if line.strip()), None)
    if old is None or new is None or old == new:
        return None
    if hunk.start < hunk.stop and _is_flat(hunk.new, old):
        head = next(n for n, line in enumerate(hunk.new) if line.strip())
        alone_moved = (*hunk.new[:head], old + hunk.new[head], *hunk.new[head + 1 :])
        columns = len(old.expandtabs(4))
        return Readings(hunk, replace(hunk, new=alone_moved), columns, False, False, flat=True)
    moved = _moved(hunk.new, new, old)
    if moved is None or list(moved) == list(there):  # nothing but the depth is to change
        return None
    if _unit(new, old, hunk.new):
        usual = new in _levels(above, indentation(below))
        return Readings(hunk, replace(hunk, new=moved), 0, usual, odd=False)
    columns = len(old.expandtabs(4)) - len(new.expandtabs(4))
    last = next((line for line in reversed(above) if line.strip()), b"")
    depth = indentation(last)
    usual = bool(_OPENS.match(last)) and old <= depth < new and not _one_blank(depth, new)
    usual |= bool(_TAG.match(last)) and depth == old and new == depth + _step(hunk.new)
    usual |= not all(line.startswith(new) for line in hunk.new if line.strip())  # ends blocks, too
    if hunk.start < hunk.stop:
        outer = alone and _is_outer(new, depth) and _is_outer(new, indentation(below))
        usual |= columns > 0 and bool(new) and (not outer or _closes(hunk.new))  # a plain dedent
        usual |= old < new == indentation(below) and not _one_blank(old, new)
    else:
        usual |= new in _levels(above, indentation(below))
    around = {indentation(line) for line in (last, below, *there) if line.strip()}
    odd = new not in around and (_one_blank(old, new) or _one_blank(new, old))
    return Readings(hunk, replace(hunk, new=moved), columns, usual, odd)


def _is_flat(lines: Sequence[bytes], old: bytes) -> bool:
    """Whether the first line begins at the margin, and the others where they would at its place."""
    first, *rest = [line for line in lines if line.strip()]
    if not old or not rest or indentation(first) or not all(line.startswith(old) for line in rest):
        return False
    return not _OPENS.match(first) or indentation(rest[0]) != old


def has_no_depth(name: str, line: bytes) -> bool:
    """Whether it is a line for a preprocessor, which may stand anywhere."""
    return name.endswith(_PREPROCESSED) and line.lstrip().startswith(b"#")


def is_nested_by_braces(name: str, line: bytes) -> bool:
    """Whether the line is code whose indentation says nothing, in a text of this name."""
    return name.endswith(_BRACES) and not _COMMENT.match(line)


def _moved(lines: Sequence[bytes], new: bytes, old: bytes) -> tuple[bytes, ...] | None:
    """The lines with their first one, indented by `new`, at `old`; None where they cannot be."""
    if unit := _unit(new, old, lines):
        marks = accumulate((len(_SPANNING.findall(line)) for line in lines), initial=0)
        return tuple(
            line if before % 2 else _in_units(line, *unit)
            for line, before in zip(lines, marks, strict=False)
        )
    if old.startswith(new):
        less, more = b"", old[len(new) :]
    elif new.startswith(old):
        less, more = new[len(old) :], b""
    else:
        less, more = new, old
    if not all(line.startswith(less) for line in lines if line.strip()):
        return None
    return tuple(more + line[len(less) :] if line.strip() else line for line in lines)


def _unit(new: bytes, old: bytes, lines: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """One level in `new` and in `old`, where one has tabs and the other as many runs of blanks.

    None where a level of `lines` is several of these.
    """
    tabs, blanks = (old, new) if old[:1] == b"\t" else (new, old)
    if tabs.strip(b"\t") or blanks.strip(b" ") or not tabs or len(blanks) % len(tabs):
        return None
    unit = b" " * (len(blanks) // len(tabs))
    if len(unit) < 2:
        return None
    sent, there = (unit, b"\t") if tabs is old else (b"\t", unit)
    several = len(step := _step(lines)) > len(sent) and not len(step) % len(sent)
    return None if several else (sent, there)


def _in_units(line: bytes, sent: bytes, there: bytes) -> bytes:
    depth = indentation(line)
    levels = (len(depth) - len(depth.lstrip(sent[:1]))) // len(sent)
    return there * levels + line[len(sent) * levels :] if line.strip() else line


def _levels(above: Sequence[bytes], below: bytes) -> set[bytes]:
    """The depths that the lines around give a new line: theirs, and those of blocks that end here.

    In an item of a list what stands behind its mark has a depth, too. below: the indentation of
    the next line.
    """
    found = {below}
    least: bytes | None = None
    for line in filter(bytes.strip, reversed(above)):
        depth = indentation(line)
        if least is None or len(depth) < len(least):
            least = depth
            item = _ITEM.match(line)
            found |= {depth, depth + b" " * (item.end() - len(depth)) if item else depth}
        if len(depth) <= len(below):
            break
    return found


def _step(lines: Sequence[bytes]) -> bytes:
    """How much deeper than its first line a block goes on, b"" if it does not."""
    first, second = ([indentation(line) for line in lines if line.strip()] + [b"", b""])[:2]
    return second.removeprefix(first) if second.startswith(first) else b""


def _is_outer(less: bytes, more: bytes) -> bool:
    return less != more and more.startswith(less)


def _closes(lines: Sequence[bytes]) -> bool:
    """Whether a block ends with the first line, so that the last one may open another."""
    return bool(_CLOSES.match(next(filter(bytes.strip, lines), b"")))


def _one_blank(less: bytes, more: bytes) -> bool:
    """Whether the depths differ by a single blank, by which nothing is nested."""
    return more == less + b" "


def is_taste(name: str, old: bytes, new: bytes, above: Sequence[bytes]) -> bool:
    """Whether a line may lose its indentation without a change of what it means.

    In Markdown that is so for less than four blanks, but in a list. above: the lines above it.
    """
    if not name.endswith(_MARKDOWN) or new or old.strip(b" ") or len(old) >= _CODE:
        return False
    outer = next((line for line in reversed(above) if line.strip() and line[:1] != b" "), b"")
    return not _ITEM.match(outer)
