"""The filesystem module: numbered lines, twelve tools, permissions and risk for each."""

from typing import Annotated

from pydantic import AfterValidator, Field

from fsagent_tools.toolkit.toolset import Entry, Shape, Toolset

_EVERY = {"include_noise": True}
_READ = Shape.bare(
    "path",
    "content",
    "total_lines",
    "offset:start_line",
    "end_line",
    "size:size_bytes",
    "truncated",
    "image_data",
)
_WRITE = Shape.bare("path", "bytes_written", "created")
_LS = Shape.bare("entries", "count", "truncated")
_GREP = Shape.bare("matches", "count", "truncated", rows={"content": "text"})
FIND = Shape.bare("files", "count", "truncated")
ENDS = Shape.bare("source", "destination")
COPY = Shape.bare("source", "destination", "files", "size_bytes", "skipped")
STAT = Shape.bare(
    "path", "name", "type", "size_bytes", "modified", "created", "permissions", "is_symlink"
)
_EDIT = Shape.bare("path", "replacements", "preview")
INSERT = Shape.bare("path", "preview")


def _or_all(count: int) -> int | str:
    return count or "all"


Count = Annotated[
    int,
    Field(ge=0, description="Occurrences to replace, from the top (default 1); 0 for all."),
    AfterValidator(_or_all),
]
EVERY_LINE = 2**31  # a limit that only the bytes of an answer set

FILESYSTEM = Toolset(
    "filesystem",
    (
        Entry(
            "read",
            description="Read a text file with line numbers, as a whole or a range of lines.",
            rename={"start_line": "offset"},
            pin={"marks": "numbers", "limit": EVERY_LINE},
            show=("offset", "end_line", "encoding"),
            result=_READ,
        ),
        Entry(
            "write",
            description="Create or overwrite a file. Prefer edit for changing a part.",
            defaults={"create_dirs": False},
            show=("create_dirs", "encoding"),
            result=_WRITE,
        ),
        Entry(
            "edit",
            description="Replace text in a file; the first occurrence unless `count` is given.",
            rename={"count": "occurrences"},
            typed={"count": Count},
            describe={"old_string": "Text to replace."},
            defaults={"occurrences": 1, "marks": "none", "fuzzy_threshold": None},
            show=("occurrences",),
            result=_EDIT,
        ),
        Entry("insert", defaults={"marks": "none"}, result=INSERT),
        Entry(
            "ls",
            defaults={"sizes": True, **_EVERY},
            show=("path", "recursive", "pattern", "include_hidden"),
            result=_LS,
        ),
        Entry(
            "grep",
            defaults={"ids": False, **_EVERY},
            show=("path", "include", "recursive", "max_results", "case_sensitive"),
            result=_GREP,
        ),
        Entry(
            "glob",
            name="find",
            description="Find files and directories by path pattern.",
            rename={"type": "kind"},
            defaults={"kind": "any", **_EVERY},
            show=("path", "kind", "max_results", "include_hidden"),
            result=FIND,
        ),
        Entry("mv", show=("overwrite",), result=ENDS),
        Entry("cp", show=("overwrite",), result=COPY),
        Entry("rm", show=("recursive",), result=Shape.bare("path")),
        Entry("mkdir", result=Shape.bare("path", "created")),
        Entry("stat", name="file_stat", result=STAT),
    ),
    max_file_size="100MB",
)
