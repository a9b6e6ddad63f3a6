"""Blocks of Markdown in their order, indented as the quotes and lists around them ask."""

import re
from dataclasses import dataclass

DEEPEST = 10  # quotes and list items within each other that are indented
FRAMES = {"blockquote": ("> ", "> "), "dd": (":   ", "    ")}  # element -> first line, others


@dataclass(eq=False, slots=True)
class Frame:
    """What is around a block: `marker` starts its first line, `rest` the others.

    tight: no empty line before it.
    """

    marker: str
    rest: str
    tight: bool


class Blocks:
    """`texts` are the blocks so far, each with what joins it to the one before.

    plain: lists and quotes leave no mark.
    """

    def __init__(self, *, plain: bool) -> None:
        self.texts: list[str] = []
        self._plain = plain
        self._frames: list[Frame] = []
        self._last: list[Frame] = []
        self._numbers: list[int | None] = []  # of the next item, one for each list that is open
        self._first_item = True

    @property
    def framed(self) -> bool:
        """Whether the next block stands in a quote or a list."""
        return bool(self._frames)

    def begin_list(self, tag: str, start: str) -> None:
        first = int(start) if re.fullmatch(r"\d{1,9}", start) else 1
        self._numbers.append(first if tag == "ol" else None)
        self._first_item = len(self._numbers) == 1

    def end_list(self) -> None:
        self._numbers.pop()

    def begin_item(self) -> str:
        """Gives the item's marker."""
        number = self._numbers[-1] if self._numbers else None
        marker = "- "
        if number is not None:
            marker = f"{number}. "
            self._numbers[-1] = number + 1
        self._indent(Frame(marker, " " * len(marker), tight=not self._first_item))
        self._first_item = False
        return marker

    def begin_frame(self, tag: str) -> None:
        self._indent(Frame(*FRAMES[tag], tight=tag == "dd"))

    def dedent(self) -> None:
        self._frames.pop()

    def put(self, text: str, *, joined: bool = False) -> None:
        """Add a block; joined: as the next line of the one before."""
        frames = self._frames[:DEEPEST]
        if not frames:
            self._last = frames
            self.texts.append(f"\n{text}" if joined else f"\n\n{text}")
            return
        first, tight = "", joined
        shared = "" if joined else self._shared(frames)
        for frame in frames:
            first += frame.marker or frame.rest
            if frame.marker:
                tight |= frame.tight
                frame.marker = ""
        if "\n" in text:
            text = _indented(text, "".join(frame.rest for frame in frames))
        empty = "" if tight else f"{shared.rstrip()}\n"
        self.texts.append(f"\n{empty}{first}{text}")
        self._last = frames

    def _indent(self, frame: Frame) -> None:
        self._frames.append(Frame("", "", tight=False) if self._plain else frame)

    def _shared(self, frames: list[Frame]) -> str:
        """The indent of an empty line before this block: a quote that holds both goes on."""
        shared = ""
        for before, now in zip(self._last, frames, strict=False):
            if before is not now:
                break
            shared += now.rest
        return shared


def _indented(text: str, rest: str) -> str:
    """`text` with `rest` before its lines but the first."""
    line, *lines = text.split("\n")
    return line + "".join(f"\n{rest}{line}" if line else f"\n{rest.rstrip()}" for line in lines)
