"""Insert lines into a file by number."""

from fsagent_tools.edits.by_id import split_new
from fsagent_tools.edits.checks import Context, doubt
from fsagent_tools.encoding import encoded
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.lines.document import NOTHING
from fsagent_tools.lines.hunks import Hunk
from fsagent_tools.session.editing import Edit, Written, editing
from fsagent_tools.session.review import LINT, Lint
from fsagent_tools.toolkit.action import Effect, Field, Params, Workspace, action
from fsagent_tools.toolkit.edited import Edited, EditMarks, How, edited_of


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
        written, how = insert_lines(edit, p.line, encoded(p.content, "content"))
        return edited_of(edit, written, how, p.marks)


def insert_lines(edit: Edit, line: int, utf8: bytes) -> tuple[Written, How]:
    """Put the text `utf8` before 1-based `line`, with the file's line endings.

    What is doubtful about it is told. Raises `InvalidArguments`.
    """
    count = edit.document.lines.count
    if not 1 <= line <= count + 1:
        raise InvalidArguments(
            f"`line`={line} is past the end; {edit.path} has {count} lines. {NOTHING}"
        )
    if not utf8:
        raise InvalidArguments("The new text is empty, so nothing would change.")
    new = tuple(text.encode() for text in split_new(utf8.decode()))
    hunk = Hunk(line - 1, line - 1, new)
    found = doubt(Context(edit.document.lines, edit.utf8), hunk)
    written = edit.apply([hunk])
    return written, How(note=found.sentence.rstrip(".") if found else "")
