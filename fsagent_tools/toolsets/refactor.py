"""What language servers know of a name, and renaming it; to be joined to another toolset."""

from fsagent_tools.tools.toolset import Entry, Shape, Toolset

_FILE_PATH = {"file_path": "path"}

REFACTOR = Toolset(
    "refactor",
    (
        Entry(
            "references",
            rename=_FILE_PATH,
            show=("line",),
            result=Shape.flat("output", "matches", "count", "truncated"),
        ),
        Entry(
            "rename",
            rename=_FILE_PATH,
            show=("line",),
            result=Shape.flat("output", "files", "count"),
        ),
    ),
)
