"""Looking through a text before it is written."""

from collections.abc import Callable
from typing import Literal, Protocol

from fsagent_tools.files.port import Place
from fsagent_tools.results import Findings

Lint = Literal["off", "report", "reject"]
LINT = "Check the new text: off, report what is new, or reject a new syntax error."
Review = Callable[[Place, bytes | None, bytes], Findings]  # the text before and after; may refuse


class Reviewer(Protocol):
    """Makes reviews. lint: the mode where a call names none."""

    @property
    def lint(self) -> Lint: ...
    def review(self, mode: Lint) -> Review: ...
    def broken(self, path: str, before: bytes, after: bytes) -> str: ...
