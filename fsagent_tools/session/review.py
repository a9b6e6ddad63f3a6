"""Looking through a text before it is written, and behind it."""

from typing import Literal, Protocol

from fsagent_tools.files.base import Place
from fsagent_tools.results import Findings

_MAX_FILES, _MAX_BYTES = 200, 1 << 20  # whose first text is kept, and of one of them
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


class Originals(dict[str, bytes]):
    """The texts of files before this session's first change, by absolute path; b"" for new files.

    At most 200 of at most 1 MB each: of others nothing tells what is new.
    """

    def keep(self, path: str, before: bytes | None) -> None:
        """Before a change; only the first one of a file counts."""
        if path not in self and len(before or b"") <= _MAX_BYTES:
            self[path] = before or b""
            if len(self) > _MAX_FILES:
                self.pop(next(iter(self)), None)
