"""Insert lines into a file by number."""

from collections.abc import Sequence

from fsagent_tools.answers.action import action
from fsagent_tools.answers.edited import Edited, EditMarks, How, told
from fsagent_tools.edits.changes import split_new
from fsagent_tools.edits.doubts import repeated
from fsagent_tools.edits.placeholders import elided
from fsagent_tools.effects import Effect
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.lines.source import Lines
from fsagent_tools.lines.splice import Hunk
from fsagent_tools.params.arguments import Params
from fsagent_tools.params.knob import Field
from fsagent_tools.session.editing import Edit, Written, editing
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.text import clip, encoded
from fsagent_tools.workspace import Workspace

_SHOWN = 80  # characters of a line


class InsertParams(Params):
    path: str = Field(description="File to change.")
    line: int = Field(
        ge=1, description="Insert before this line, from 1; one past the last appends."
    )
    content: str = Field(description="Whole lines to insert.")
    encoding: str | None = Field(None, description="Text encoding; default: detected.")
    marks: EditMarks = Field("ids", description="Return the new lines' IDs.")
    lint: Lint | None = Field(None, description=LINT)


@action(effect=Effect.WRITE, permissions=("fs.read", "fs.write"))
def insert(workspace: Workspace, p: InsertParams) -> Edited:
    """Insert lines into a text file before a line number."""
    with editing(workspace, p.path, p.encoding, p.lint) as edit:
        written = insert_lines(edit, p.line, encoded(p.content, "content"))
        return told(edit, written, How(), p.marks)


def insert_lines(edit: Edit, line: int, utf8: bytes) -> Written:
    """Put the text `utf8` before 1-based `line`, with the file's line endings.

    Raises `InvalidArguments`.
    """
    count = edit.document.lines.count
    if not 1 <= line <= count + 1:
        raise InvalidArguments(
            f"Line {line} is not within 1-{count + 1}; {edit.path} has {count} lines. {NOTHING}"
        )
    if not utf8:
        raise InvalidArguments("The new text is empty, so nothing would change.")
    content = utf8.decode()
    if left_out := elided(content, ""):
        raise InvalidArguments(
            f"The placeholder {left_out!r} would be written as it is. {NOTHING}",
            hint="Write the whole text.",
        )
    new = tuple(text.encode() for text in split_new(content))
    _refuse_echo(edit.document.lines, line, new)
    return edit.apply([Hunk(line - 1, line - 1, new)])


def _refuse_echo(lines: Lines, line: int, new: Sequence[bytes]) -> None:
    """Refuse text that begins with the lines above its place, or ends with those below."""
    above, below = (
        lines.between(max(0, line - 1 - len(new)), line - 1),
        lines.between(line - 1, line - 1 + len(new)),
    )
    if again := repeated(new, (), above, below):
        where, there = again
        number = line - len(there) if where == "above" else line
        what = "line" if len(there) == 1 else f"{len(there)} lines"
        raise InvalidArguments(
            f"The text repeats the {what} {where} its place, which would then stand twice. "
            f"{NOTHING}",
            hint=f"If that is what you mean, use `edit` and quote line {number}; if not, leave "
            f"it out.\n{number} {clip(there[0].decode(), _SHOWN)}",
        )
