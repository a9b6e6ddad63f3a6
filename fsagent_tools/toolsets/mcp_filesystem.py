"""The names and parameters of the MCP filesystem server."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from fsagent_tools.tools.toolset import Entry, Shape, Toolset

_EVERY = {"include_hidden": True, "include_noise": True}
_TEXT = Shape.flat("output:content")
_PLAIN = {"marks": "none"}
_MOST = 50  # files of one call


def _several(paths: object) -> object:
    if isinstance(paths, list) and not 1 <= len(paths) <= _MOST:
        raise ValueError(f"give 1 to {_MOST} files")
    return [paths] if isinstance(paths, str) else paths


_PATHS = Annotated[
    list[str],
    Field(description="Files to read."),
    BeforeValidator(_several),
    AfterValidator(tuple),
]


def _listing(name: str, **defaults: object) -> Entry:
    return Entry("ls", name=name, show=("path",), defaults={**_EVERY, **defaults}, result=_TEXT)


MCP_FILESYSTEM = Toolset(
    "mcp_filesystem",
    (
        Entry(
            "read",
            name="read_text_file",
            description="Read a text file, or its first (head) or last (tail) lines.",
            rename={"head": "limit"},
            show=("limit", "tail"),
            defaults=_PLAIN,
            describe={"limit": "Most lines, from the first."},
            result=_TEXT,
        ),
        Entry(
            "read",
            name="read_media_file",
            description="Read an image, PDF, office document or notebook.",
            defaults=_PLAIN,
            result=_TEXT,
        ),
        Entry(
            "read",
            name="read_multiple_files",
            description="Read several files in one call.",
            rename={"paths": "path"},
            typed={"paths": _PATHS},
            defaults=_PLAIN,
            result=_TEXT,
        ),
        Entry("write", name="write_file", description="Create or overwrite a file.", result=_TEXT),
        Entry(
            "edit_texts",
            name="edit_file",
            rename={"dryRun": "dry_run"},
            show=("dry_run",),
            typed={"edits": "NamedByServer"},
            result=_TEXT,
        ),
        Entry("mkdir", name="create_directory", result=_TEXT),
        _listing("list_directory"),
        _listing("list_directory_with_sizes", sizes=True),
        _listing("directory_tree", recursive=True),
        Entry("mv", name="move_file", result=_TEXT),
        Entry(
            "glob",
            name="search_files",
            description="Find files and directories by a pattern of their paths.",
            show=("path",),
            defaults={**_EVERY, "kind": "any"},
            result=_TEXT,
        ),
        Entry("stat", name="get_file_info", result=_TEXT),
        Entry("roots", name="list_allowed_directories", result=_TEXT),
    ),
)
