"""The workspace tools of their document: line IDs, several edits from one read."""

from fsagent_tools.toolkit.toolset import Entry, Shape, Toolset

_FILE_PATH = {"file_path": "path"}
_READ = Shape.flat("output", "line_count", "total_lines", "truncated", "offset")
_WRITE = Shape.flat("output", "path:file_path", "bytes_written", "created")
EDIT_LINES = Shape.flat("output", "changes_applied", "lines_changed")
_GLOB = Shape.flat("output", "files", "count", "truncated")
_GREP = Shape.flat("output", "matches", "count", "truncated")
_LS = Shape.flat("output", "entries")
WEBFETCH = Shape.flat(
    "output", "url", "format", "bytes", "status", "content_type", "title", "truncated"
)
LSP = Shape.flat("output", "diagnostics")
WEBSEARCH = Shape.flat("output", "results")
BASH = Shape.flat("output", "stderr", "exit_code", "truncated")

_ALL_NAMES = {"include_hidden": True}

WORKSPACE = Toolset(
    "workspace",
    (
        Entry("read", rename=_FILE_PATH, show=("offset", "limit", "pages"), result=_READ),
        Entry("write", rename=_FILE_PATH, result=_WRITE),
        Entry("edit_lines", rename=_FILE_PATH, result=EDIT_LINES),
        Entry("glob", show=("path",), defaults=_ALL_NAMES, result=_GLOB),
        Entry("grep", show=("path", "include"), defaults=_ALL_NAMES, result=_GREP),
        Entry("ls", show=("path",), defaults=_ALL_NAMES, result=_LS),
        Entry("bash", show=("timeout", "working_dir", "background"), result=BASH),
        Entry("webfetch", show=("format", "timeout", "offset"), result=WEBFETCH),
        Entry("websearch", show=("num_results",), result=WEBSEARCH),
        Entry("diagnostics", name="lsp", rename=_FILE_PATH, result=LSP),
        Entry("jobs", show=("job", "action", "input", "timeout"), result=BASH),
    ),
)
