"""A patch of files in the form that models of OpenAI write (V4A): read, nothing is placed yet."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from fsagent_tools.errors import InvalidArguments

BEGIN, END = "*** Begin Patch", "*** End Patch"
MOVE, END_OF_FILE = "*** Move to: ", "*** End of File"
_HEADS: dict[str, Literal["add", "delete", "update"]] = {
    "*** Add File: ": "add",
    "*** Delete File: ": "delete",
    "*** Update File: ": "update",
}
_WRAPPED = re.compile(r"```\w*|(?:apply_?patch\s*)?<<-?\s*(['\"]?)\w+\1")  # as in a shell, a page
_NUMBERS = re.compile(r"-\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?")  # of a unified diff

GRAMMAR = r"""start: begin file+ end
begin: "*** Begin Patch" LF
end: "*** End Patch" LF?
file: add | delete | update
add: "*** Add File: " path LF added+
delete: "*** Delete File: " path LF
update: "*** Update File: " path LF move? part*
move: "*** Move to: " path LF
part: anchor* line+ last?
anchor: ("@@" | "@@ " /(.+)/) LF
line: ("+" | "-" | " ") /(.*)/ LF
last: "*** End of File" LF
added: "+" /(.*)/ LF
path: /(.+)/
%import common.LF
"""


class PatchHunk(NamedTuple):
    """Lines as they are and as they become; anchors: lines above them, the outermost first.

    at_end: the lines end the file.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    anchors: tuple[str, ...] = ()
    at_end: bool = False


class FilePatch(NamedTuple):
    """What becomes of one file. text: of a new one. target: its new path, "" to stay."""

    verb: Literal["add", "delete", "update"]
    path: str
    text: str = ""
    target: str = ""
    hunks: tuple[PatchHunk, ...] = ()


class _Lines:
    """The lines of a patch, read from the first to the last."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines, self.at = lines, 0

    @property
    def next(self) -> str | None:
        return self.lines[self.at] if self.at < len(self.lines) else None

    def while_in(self, first: str) -> Iterator[str]:
        """The lines that begin with one of the characters; an empty line counts as a blank."""
        while (line := self.next) is not None and (line or " ")[0] in first:
            self.at += 1
            yield line

    def refused(self, what: str, hint: str) -> InvalidArguments:
        shown = "" if self.next is None else f" Line {self.at + 2} reads {self.next[:80]!r}."
        return InvalidArguments(f"{what}{shown} Nothing was written.", hint=hint)


def parse_patch(patch: str) -> list[FilePatch]:
    """The parts of a patch. Raises `InvalidArguments`, which names the line."""
    lines = patch.replace("\r\n", "\n").strip().split("\n")
    if len(lines) > 2 and _WRAPPED.fullmatch(lines[0].strip()):
        lines = "\n".join(lines[1:-1]).strip().split("\n")
    if "\0" in patch:
        raise InvalidArguments("The patch has a NUL character. Nothing was written.")
    for mark, line in ((BEGIN, lines[0]), (END, lines[-1])):
        if line.strip() != mark:
            where = "begin" if mark == BEGIN else "end"
            raise InvalidArguments(
                f"The patch does not {where} with the line {mark!r}. Nothing was written.",
                hint=f"Send it whole, from {BEGIN!r} to {END!r}.",
            )
    source, files = _Lines(lines[1:-1]), list[FilePatch]()
    while source.next is not None:
        if source.next.strip():
            files.append(_file(source))
        else:
            source.at += 1
    if not files:
        raise InvalidArguments(
            "The patch has no file in it. Nothing was written.",
            hint="After the first line comes '*** Update File: path' or another one like it.",
        )
    return files


def _file(source: _Lines) -> FilePatch:
    head = (source.next or "").strip()
    mark = next((mark for mark in _HEADS if head.startswith(mark)), "")
    path = head.removeprefix(mark).strip()
    if not mark or not path:
        raise source.refused(
            "A file of the patch begins with '*** Add File: path', '*** Delete File: path' or "
            "'*** Update File: path'.",
            "Lines of a file begin with +, - or a blank.",
        )
    source.at += 1
    if _HEADS[mark] == "delete":
        return FilePatch("delete", path)
    if _HEADS[mark] == "add":
        added = [line[1:] for line in source.while_in("+")]
        return FilePatch("add", path, "".join(f"{line}\n" for line in added))
    target = ""
    if (line := source.next) is not None and line.strip().startswith(MOVE):
        target = line.strip().removeprefix(MOVE).strip()
        source.at += 1
    hunks = tuple(_hunks(source))
    if not hunks and not target:
        raise source.refused(
            f"The patch says to update {path}, but not how.",
            "After '@@' come the old lines, with - or a blank before each, and new ones with +.",
        )
    return FilePatch("update", path, "", target, hunks)


def _hunks(source: _Lines) -> Iterator[PatchHunk]:
    while (line := source.next) is not None and not line.strip().startswith("***"):
        anchors, lines = tuple(_anchors(source)), [*source.while_in("+- ")]
        ended = source.next is not None and source.next.strip() == END_OF_FILE
        source.at += ended
        while lines and not lines[-1]:
            lines.pop()  # blank lines before what comes next
        if not (source.next or END).startswith(("@@", "***")) or not (lines or line == ""):
            raise source.refused(
                "A line of a patch begins with +, - or a blank.",
                "Put one of them before every line of the file; the blank before what stays.",
            )
        old = tuple(line[1:] for line in lines if line[:1] != "+")
        new = tuple(line[1:] for line in lines if line[:1] != "-")
        if old != new:
            yield PatchHunk(old, new, anchors, ended)


def _anchors(source: _Lines) -> Iterator[str]:
    while (line := source.next) is not None and line.startswith("@@"):
        source.at += 1
        if told := _NUMBERS.sub("", line[2:].strip()).strip().removesuffix(" @@"):
            yield told
