"""Marks that come along when lines are copied, and are not meant to be written."""

import re
from collections.abc import Sequence

MARK = re.compile(rb"(?m)^\s*(?:\d+ ?[\t|:\xe2]|\+|```|~~~)|\\n")  # without one nothing is pasted
_NUMBER = re.compile(rb"\s*(\d+)(?:\t| ?\||\xe2\x86\x92|: )")  # as reads put it before lines
_FENCE = re.compile(rb"\s*(?:```|~~~)[\w+-]*\s*")
_ADDED = re.compile(rb"\+(?![\d+=])")
_WRITTEN_OUT = re.compile(  # a line end outside quotes, and no name that begins so
    rb"(?:[^\"'`\\]|\\(?!n)|\"[^\"]*\"|'[^']*'|`[^`]*`)*\\n(?![a-z\\])"
)


def pasted(new: Sequence[bytes], old: Sequence[bytes], beside: Sequence[bytes]) -> str:
    """What stands before or around all new lines, and before none of the others; "" if nothing.

    Or line ends that are written out, which one line has.
    """
    if any(map(_WRITTEN_OUT.match, new)) and not any(map(_WRITTEN_OUT.match, old)):
        return "line ends written out"
    filled, others = [line for line in new if line.strip()], [*old, *beside]
    for what, mark in (("the numbers of the lines", _NUMBER), ("the signs of a diff", _ADDED)):
        found = [mark.match(line) for line in filled]
        if len(found) == 1 and filled[0][:1].isspace():
            continue  # an entry of a table, or of a dictionary
        if found and None not in found and not any(map(mark.match, others)):
            numbers = [int(match[1]) for match in found if match and match.re is _NUMBER]
            if numbers == [*range(numbers[0], numbers[0] + len(numbers))] if numbers else True:
                return what
    return "a code fence" * _fenced(new, old, beside)


def _fenced(new: Sequence[bytes], old: Sequence[bytes], beside: Sequence[bytes]) -> bool:
    """Whether a fence, or one end of it, came along, and is not the change itself."""
    fences, before = ([bool(_FENCE.fullmatch(line)) for line in part] for part in (new, old))
    whole = len(new) > 2 and fences[0] and fences[-1] and [*new[1:-1]] != [*old]
    odd = len(new) > 1 and sum(fences) % 2 and not any(before)
    return bool(whole or odd) and not any(map(_FENCE.match, (*old, *beside)))
