"""Renaming by language server; to be joined to another toolset."""

from fsagent_tools.toolkit.toolset import Entry, Shape, Toolset

_FILE_PATH = {"file_path": "path"}

REFACTOR = Toolset(
    "refactor",
    (
        Entry(
            "rename",
            rename=_FILE_PATH,
            show=("line",),
            result=Shape.flat("output", "files", "count"),
        ),
    ),
)
