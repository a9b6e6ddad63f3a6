"""Five tools with few visible parameters: numbered lines, edits by text, absolute paths."""

from fsagent_tools.toolkit.toolset import Entry, Shape, Toolset
from fsagent_tools.toolsets.typed import OFFSET, REPLACE_ALL

_FILE_PATH = {"file_path": "path"}
GLOB_RESULTS, GREP_RESULTS = 200, 250
_READ = Shape.named(
    "metadata", "absolute:path", "size", "total_lines:lines", "mtime", "truncated", "image_data"
)
_WRITE = Shape.named(
    "metadata", "absolute:path", "bytes_written:size", "lines", "operation", "bytes_written"
)
_EDIT = Shape.named(
    "metadata",
    "absolute:path",
    "size",
    "lines",
    "diff",
    "insertions",
    "deletions",
    "replacements",
    "strategy",
)
_GLOB = Shape.named("metadata", "files", "count", "truncated")
_GREP = Shape.named("metadata", "matches", "count", "truncated")

COMPACT = Toolset(
    "compact",
    (
        Entry(
            "read",
            name="Read",
            description="Read a file with line numbers; also PDF, images and notebooks.",
            rename=_FILE_PATH,
            show=("offset", "limit"),
            typed={"offset": OFFSET},
            defaults={"marks": "numbers"},
            zero_based=frozenset({"offset"}),
            result=_READ,
        ),
        Entry(
            "write",
            name="Write",
            description="Create or overwrite a file. Prefer Edit for changing a part.",
            rename=_FILE_PATH,
            pin={"gate": True},
            result=_WRITE,
        ),
        Entry(
            "edit",
            name="Edit",
            description="Replace text in a file that was read before.",
            rename={**_FILE_PATH, "replace_all": "occurrences"},
            typed={"replace_all": REPLACE_ALL},
            defaults={"marks": "none"},
            pin={"gate": True},
            result=_EDIT,
        ),
        Entry(
            "glob",
            name="Glob",
            description="Find files by path pattern, newest first.",
            rename={"type": "kind"},
            show=("path",),
            defaults={"sort": "mtime", "absolute": True, "max_results": GLOB_RESULTS},
            result=_GLOB,
        ),
        Entry(
            "grep",
            name="Grep",
            rename={"glob": "include"},
            show=("path",),
            defaults={"absolute": True, "max_results": GREP_RESULTS},
            pin={"ids": False},
            result=_GREP,
        ),
    ),
)
