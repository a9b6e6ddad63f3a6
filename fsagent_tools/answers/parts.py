"""The answers of several reads as one."""

import re
from collections.abc import Callable, Sequence

from fsagent_tools.answers.window import Read
from fsagent_tools.errors import ToolError

_LINES = re.compile(r"(?:(.+?):)?(\d+)(?:[-:](\d+))?")


def together(
    first: Read, parts: Sequence[str], room: int, read: Callable[[str, int, int | None, int], Read]
) -> tuple[str, list[Read]]:
    """Each part under its name, in what room those before it left, and what could be read.

    parts: files, or lines of one such as `a.py:10-20`, without a name those of the first. read: is
    given a path, the first and the last line, and the bytes that are left. What a part lacks stands
    in its place.
    """
    texts, every = [_titled(first)], [first]
    for part in parts:
        left = room - sum(len(text.encode()) + 1 for text in texts)
        named = _LINES.fullmatch(part)
        path, start, end = named.groups() if named else (part, "1", None)
        low, high = sorted(map(int, (start, end or start)))
        try:
            if left <= 0:
                raise ToolError("Not read: the answer is full.", hint="Read it in another call.")
            every.append(read(path or "", low, high if named else None, left))
            texts.append(_titled(every[-1]))
        except ToolError as refusal:
            texts.append(f"== {part}\nError: {refusal}")
    return "\n".join(texts), every


def _titled(found: Read) -> str:
    lines = f"lines {found.offset}-{found.end_line} of {found.total_lines}"
    return f"== {found.path}, {lines}\n{found.render()}"
