"""Create or overwrite a file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from fsagent_tools.edits.placeholders import elided
from fsagent_tools.encoding import encoded
from fsagent_tools.errors import Conflict, InvalidArguments, InvalidChange, Missing
from fsagent_tools.files.base import COMPARED
from fsagent_tools.files.guarded import LockedFile
from fsagent_tools.lines.diff import compared
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.notebook import Notebook, is_notebook
from fsagent_tools.results import Findings
from fsagent_tools.session.editing import Edit
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.text import MAX_LINE_CHARS, first_lines, in_quotes
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.edited import clipped, of_sent

_ENDS = (b"\n", b"\r")
_PART = "Or change a part with `edit_lines`. Or change a part with `edit`."  # one is there, mostly
_SHOWN = 40  # lines of a diff in a refusal


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
    gate: bool = Field(False, description="Refuse large files that were not read in this session.")

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
    _unread: bool = False  # before
    _replaced: str = ""  # of what is not compared

    def render(self) -> str:
        note = self._replaced and f"Replaced {self._replaced}."
        if self._unread and self.deletions:
            lines = "a line" if self.deletions == 1 else f"{self.deletions:,} lines"
            note = f"Replaced {lines} that you had not read."
        return "\n".join(filter(None, (note, self._summary(), self._broken)))

    def _summary(self) -> str:
        if self.created:
            return f"Created {self.path} ({self.bytes_written} bytes)"
        if self._replaced:
            return f"Wrote {self.path} ({self.bytes_written} bytes)"
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
        new = encoded(p.content, "content")
        check = _Check(workspace, new, p.gate)
        written = workspace.write(
            p.path, new, p.encoding, p.lint, create_dirs=p.create_dirs, check=check
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
        "" if written.created or check.replaced else written.diff(),
        written.insertions,
        written.deletions,
        written.lint,
        written.broken,
        check.unread,
        check.replaced,
    )


@dataclass
class _Check:
    """What is asked about a whole text in place of another, under the lock of its file.

    A read of the file answers every question: it is what the model had not seen, or the sign that
    the same text is meant.
    """

    workspace: Workspace
    new: bytes
    gate: bool
    unread: bool = False
    replaced: str = ""

    def __call__(self, target: LockedFile, edit: Edit | None) -> None:
        """Raise `NotRead`, `Conflict` or `InvalidChange`."""
        session, name, told = self.workspace.session, target.place.relative, target.place.told
        self.unread = name not in session.seen
        size = target.version.size if target.version else 0
        if edit and self.new == edit.utf8:
            return
        if edit is None:
            large = size > COMPARED
            what = "bytes, which are too many to compare" if large else "bytes that were no text"
            self.replaced = f"{size:,} {what}"
            if not large:
                self._confirm_binary(name, f"{told} is a binary file ({size:,} bytes)")
                return
        if self.gate and edit:
            edit.require_seen()
        elif self.gate and self.unread:
            self.workspace.files.policy.check_seen(told, size)
        change = f"\n{_change(edit, self.new)}" if edit else ""
        if session.changed_since(name, edit.text.identity if edit else f"version:{target.version}"):
            raise Conflict(
                f"{told} has changed since you read it. {NOTHING}",
                hint=f"Read it, keep what has changed, and write again.{change}",
            )
        old = edit.utf8 if edit else b""
        cells = edit and is_notebook(edit.path) and Notebook.of(self.new)
        doubt = None if cells else _doubt(self.new, old)
        if doubt and not session.confirms(name, sha256(self.new).hexdigest()):
            raise InvalidChange(
                f"{doubt[0]} {NOTHING}",
                hint=f"{doubt[1]} If it is meant, read the file and send the same again.{change}",
            )

    def _confirm_binary(self, name: str, what: str) -> None:
        """Most such files cannot be read: the same call again is the answer."""
        if not self.workspace.session.confirms(name, sha256(self.new).hexdigest(), read=False):
            raise InvalidChange(
                f"{what}, and `content` is text. {NOTHING}",
                hint="Choose another name. If the file is to be replaced, send the same again.",
            )


def _doubt(new: bytes, old: bytes) -> tuple[str, str] | None:
    """What is wrong with a text that looks incomplete, and what to do."""
    if left_out := elided(new.splitlines(), old.splitlines()):
        what = f"`content` has a placeholder for omitted text: {in_quotes(left_out)}."
        return what, "Write every line in full. " + _PART
    if b"\n" in new and old.endswith(_ENDS) and not new.endswith(_ENDS):
        what = "The last line of `content` has no newline, and that of the file has one: "
        return f"{what}the text may be cut off.", "Write all of it, with a newline at the end."
    return None


def _change(edit: Edit, new: bytes) -> str:
    """What the write would change in the file as it is."""
    diff = of_sent(compared(edit.path, edit.utf8, new))
    shown = first_lines(diff, _SHOWN, MAX_LINE_CHARS, " of the diff not shown")
    return f"The write would make this change:\n{shown}"
