"""What a read answers, and the answers of several as one."""

import re
from collections.abc import Callable, Sequence

from fsagent_tools.errors import ToolError
from fsagent_tools.records import dataclass
from fsagent_tools.results import Block

_LINES = re.compile(r"(?:(.+?):)?(\d+)(?:-(\d+))?")


@dataclass(frozen=True)
class Read:
    """A window of a file, lines `offset` to `end_line`, from 1; `mtime` seconds since 1970.

    truncated: less is shown than was asked for, or than there is if no window was. blocks: its
    pictures. note: how to go on.
    """

    content: str
    line_count: int
    total_lines: int
    truncated: bool
    offset: int
    end_line: int
    path: str
    absolute: str
    size: int
    mtime: float
    note: str
    blocks: tuple[Block, ...] = ()
    _text: str = ""  # for the model, where `content` is more than it gets

    def render(self) -> str:
        if not self.total_lines:
            return f"({self.path} is empty)"
        return self._text or self.content


@dataclass(frozen=True)
class ReadPicture(Read):
    """An image file; `image_data` is base64."""

    image_data: str = ""


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
