"""The names and parameters of deepagents' tools, "/" as the root; edits quote the text."""

from fsagent_tools.toolkit.toolset import Entry, Shape, Toolset
from fsagent_tools.toolsets.typed import OFFSET, REPLACE_ALL

_FILE_PATH = {"file_path": "path"}
_EVERY = {"include_hidden": True, "include_noise": True}
_WINDOW = 100  # lines of a read, as deepagents has it

DEEPAGENTS = Toolset(
    "deepagents",
    (
        Entry(
            "ls",
            show=("path",),
            defaults={"absolute": True, **_EVERY},
            describe={"path": "Directory to list, from the root /."},
            result=Shape.flat("output", "entries", "truncated"),
        ),
        Entry(
            "read",
            name="read_file",
            description="Read a file; also PDF, images and notebooks.",
            rename=_FILE_PATH,
            show=("offset", "limit"),
            typed={"offset": OFFSET},
            defaults={"marks": "none", "limit": _WINDOW},
            describe={"path": "File, from the root /, such as /src/a.py."},
            zero_based=frozenset({"offset"}),
            result=Shape.flat("output", "path", "total_lines", "truncated"),
        ),
        Entry(
            "write",
            name="write_file",
            description="Create or overwrite a file. Prefer edit_file for changing a part.",
            rename=_FILE_PATH,
            result=Shape.flat("output", "path", "bytes_written", "created"),
        ),
        Entry(
            "edit",
            name="edit_file",
            rename={**_FILE_PATH, "replace_all": "occurrences"},
            typed={"replace_all": REPLACE_ALL},
            show=("occurrences",),
            defaults={"marks": "none"},
            result=Shape.flat("output", "path", "replacements", "diff"),
        ),
        Entry(
            "rm",
            name="delete",
            description="Delete a file, or a directory with everything in it.",
            rename=_FILE_PATH,
            pin={"recursive": True},
            result=Shape.flat("output", "path"),
        ),
        Entry(
            "glob",
            description="Find files by path pattern.",
            show=("path",),
            defaults={"include_noise": True},
            describe={
                "pattern": "e.g. src/**/*.py; *.py matches at any depth, /*.py in `path` only"
            },
            result=Shape.flat("output", "files", "count", "truncated"),
        ),
        Entry(
            "grep",
            description="Search file contents for plain text, not a regex.",
            rename={"glob": "include", "max_count": "max_results"},
            show=("path", "include", "output_mode", "max_results"),
            pin={"fixed": True, "ids": False},
            defaults={"output_mode": "files_with_matches", **_EVERY},
            describe={"pattern": "Text", "max_results": "Most matches shown."},
            result=Shape.flat("output", "matches", "count", "truncated"),
        ),
        Entry(
            "bash",
            name="execute",
            show=("timeout",),
            result=Shape.flat("output", "stderr", "exit_code", "truncated"),
        ),
    ),
    paths="virtual",
)
