"""Looking through a text before it is written."""

from collections.abc import Callable
from typing import Literal, Protocol

from fsagent_tools.files.port import Place
from fsagent_tools.results import Findings

Lint = Literal["off", "report", "reject", "follow"]
LINT = (
    "Check the new text: off, report what is new, reject a new syntax error, or follow: tell new "
    "errors, also of other files, when language servers have them."
)
Review = Callable[[Place, bytes | None, bytes], Findings]  # the text before and after; may refuse


class Reviewer(Protocol):
    """Makes reviews. lint: the mode where a call names none."""

    @property
    def lint(self) -> Lint: ...
    def review(self, mode: Lint) -> Review: ...
    def written(self, mode: Lint, place: Place, before: bytes | None, after: bytes) -> str: ...
