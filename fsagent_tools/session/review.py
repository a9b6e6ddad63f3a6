"""Looking through a text before it is written, and behind it."""

from typing import Literal, Protocol

from fsagent_tools.files.base import Place
from fsagent_tools.results import Findings

Lint = Literal["off", "report", "reject"]
LINT = "Check the new text: off, report what is new, or reject a new syntax error."


class Reviewer(Protocol):
    """What texts are shown to, as they were and as they are to be. lint: where a call names none.

    review: before the write, which it may refuse; None where the mode asks for none. written:
    behind it, for what to tell.
    """

    lint: Lint

    def review(
        self, mode: Lint, place: Place, before: bytes | None, after: bytes
    ) -> Findings | None: ...
    def written(self, place: Place, before: bytes, after: bytes) -> str: ...
