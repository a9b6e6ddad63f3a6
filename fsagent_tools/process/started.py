"""A running program, whoever holds it: a room of a keeper, or this process itself."""

import os
from typing import Self

from fsagent_tools.sandbox.connections import NOWHERE


class Started:
    """What is known of it.

    exit_code: 128 + N after signal N, as a shell has it; None while it runs. left: names of
    processes that it left behind. gone: nothing more is to be heard. is_alone: it ended and left
    nothing. tried: how far something tried to get beyond a private network.
    """

    def __init__(self) -> None:
        self.exit_code: int | None = None
        self.left: list[str] = []
        self.gone = self.is_alone = False
        self.tried = NOWHERE

    @property
    def exited(self) -> bool:
        return self.exit_code is not None or self.gone


class Pipes:
    """The standard streams of a program that starts inside the block, in their order.

    Behind it its ends are closed, and ours as well where it did not start. Raises `OSError`.
    """

    def __init__(self) -> None:
        self.ours, self.theirs = list[int](), list[int]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        for fd in (*self.theirs, *(self.ours if failed else ())):
            os.close(fd)

    @property
    def streams(self) -> tuple[int, int, int]:
        """Input, output and errors; two may be one."""
        return self.theirs[0], self.theirs[1], self.theirs[-1]

    def nothing(self) -> None:
        """An empty input."""
        self.theirs.append(os.open(os.devnull, os.O_RDONLY))

    def reading(self) -> int:
        """Our end of what it writes."""
        return self._add(*os.pipe())

    def writing(self) -> int:
        """Our end of what it reads."""
        return self._add(*reversed(os.pipe()))

    def _add(self, ours: int, theirs: int) -> int:
        self.ours.append(ours)
        self.theirs.append(theirs)
        return ours
