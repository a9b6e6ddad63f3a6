"""Create or overwrite a file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fsagent_tools.answers.action import Effect, Field, Params, Workspace, action
from fsagent_tools.answers.edited import clipped
from fsagent_tools.errors import InvalidArguments, Missing
from fsagent_tools.results import Findings
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.text import encoded


class WriteParams(Params):
    path: str = Field(description="File to write.")
    content: str = Field(description="Whole new text.")
    create_dirs: bool = Field(True, description="Make missing parent directories.")
    encoding: str | None = Field(
        None, description="Text encoding; default: the file's own, UTF-8 for a new one."
    )
    atomic: Literal[True] = Field(
        True, description="Always: the old content stays until the new one is complete."
    )
    advance: bool = Field(
        True, description="Carry line IDs over; False drops the file's line index."
    )
    lint: Lint | None = Field(None, description=LINT)

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """With text as the content: models send the value of a JSON file in its place."""
        content = values.get("content")
        if not isinstance(content, dict | list):
            return values
        if not str(values.get("path")).lower().endswith(".json"):
            raise InvalidArguments("content: send the whole file as text.")
        return {**values, "content": json.dumps(content, ensure_ascii=False, indent=2) + "\n"}


@dataclass(frozen=True)
class WroteFile:
    """What a write did; `diff` is "" for a new file and where only line endings changed."""

    path: str
    absolute: str
    operation: Literal["create", "update"]
    lines: int
    bytes_written: int
    created: bool
    changed: bool
    diff: str
    insertions: int
    deletions: int
    lint: Findings | None
    _broken: str = ""

    def render(self) -> str:
        return "\n".join(filter(None, (self._summary(), self._broken)))

    def _summary(self) -> str:
        if self.created:
            return f"Created {self.path} ({self.bytes_written} bytes)"
        if self.changed and not self.diff:
            return f"Wrote {self.path} ({self.bytes_written} bytes); only line endings changed"
        return (
            clipped(self.diff)
            or f"{self.path} already had this content ({self.bytes_written} bytes)"
        )


@action(effect=Effect.WRITE)
def write(workspace: Workspace, p: WriteParams) -> WroteFile:
    """Create or overwrite a file. Prefer `edit_lines` for changing a part."""
    try:
        written = workspace.write(
            p.path, encoded(p.content, "content"), p.encoding, p.lint, create_dirs=p.create_dirs
        )
    except Missing as error:
        if p.create_dirs:
            raise
        hint = "Set `create_dirs`=true to make its missing directories."
        raise Missing(error.message, hint=hint) from None
    if not p.advance:
        workspace.session.forget(written.path)
    return WroteFile(
        written.path,
        written.absolute,
        "create" if written.created else "update",
        written.lines,
        written.bytes_written,
        written.created,
        written.changed,
        "" if written.created else written.diff(),
        written.insertions,
        written.deletions,
        written.lint,
        written.broken,
    )
