"""The default toolset: line IDs, several edits from one read."""

from fsagent_tools.actions.edit_lines import edit_lines
from fsagent_tools.actions.read import read
from fsagent_tools.actions.write import write
from fsagent_tools.results import Shape
from fsagent_tools.tools import Entry, Toolset

FILE_PATH = {"file_path": "path"}
READ = Shape(
    fields={
        "output": "output",
        "line_count": "line_count",
        "total_lines": "total_lines",
        "truncated": "truncated",
        "offset": "offset",
    }
)
WRITE = Shape(
    fields={
        "output": "output",
        "file_path": "path",
        "bytes_written": "bytes_written",
        "created": "created",
    }
)
EDIT_LINES = Shape(
    fields={
        "output": "output",
        "changes_applied": "changes_applied",
        "lines_changed": "lines_changed",
    }
)

WORKSPACE = Toolset(
    "workspace",
    (
        Entry(read, rename=FILE_PATH, result=READ),
        Entry(write, rename=FILE_PATH, result=WRITE),
        Entry(edit_lines, rename=FILE_PATH, result=EDIT_LINES),
    ),
)
