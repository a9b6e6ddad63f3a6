"""The names and parameters of LangChain's FileManagementToolkit."""

from fsagent_tools.tools.toolset import Entry, Shape, Toolset

_FILE, _FOLDER = {"file_path": "path"}, {"dir_path": "path"}
_ENDS = {"source_path": "source", "destination_path": "destination"}
_EVERY = {"include_hidden": True, "include_noise": True}

FILE_MANAGEMENT = Toolset(
    "file_management",
    (
        Entry("cp", name="copy_file", rename=_ENDS, result=Shape.flat("output", *_ENDS.values())),
        Entry("rm", name="file_delete", rename=_FILE, result=Shape.flat("output", "path")),
        Entry(
            "glob",
            name="file_search",
            description="Find files by a pattern of their names, in a directory and below it.",
            rename=_FOLDER,
            show=("path",),
            defaults=_EVERY,
            result=Shape.flat("output", "files", "count", "truncated"),
        ),
        Entry(
            "ls",
            name="list_directory",
            rename=_FOLDER,
            show=("path",),
            defaults=_EVERY,
            result=Shape.flat("output", "entries"),
        ),
        Entry("mv", name="move_file", rename=_ENDS, result=Shape.flat("output", *_ENDS.values())),
        Entry(
            "read",
            name="read_file",
            description="Read a file; also PDF, images and notebooks.",
            rename=_FILE,
            defaults={"marks": "none"},
            show=("offset", "limit"),
            result=Shape.flat("output", "path", "total_lines", "truncated"),
        ),
        Entry(
            "write",
            name="write_file",
            description="Create or overwrite a file.",
            rename={**_FILE, "text": "content"},
            result=Shape.flat("output", "path", "bytes_written", "created"),
        ),
    ),
)
