"""The file operations API: raw content, exact text, `{success, data}` or `{success, error}`."""

from fsagent_tools.toolkit.toolset import Entry, Shape, Toolset
from fsagent_tools.toolsets.typed import OFFSET, all_or

_FILE_PATH = {"file_path": "path"}
ALL_LINES = 2**31
_LINE_CHARS = 50_000  # of a line in the model's text
_KEPT = ("FILE_NOT_FOUND", "NOT_A_FILE", "MULTIPLE_MATCHES", "STRING_NOT_FOUND", "INTERNAL_ERROR")
_INVALID = (
    *("VALIDATION_ERROR", "INVALID_PATH", "INVALID_REGEX", "PATH_OUTSIDE_WORKSPACE", "PATH_DENIED"),
    *("NOT_A_DIRECTORY", "LINK_LOOP", "READONLY", "ACTION_NOT_ALLOWED", "APPROVAL_DENIED"),
    "INVALID_CHANGE",
)
_CODES = {code: code for code in _KEPT} | dict.fromkeys(_INVALID, "VALIDATION_ERROR")
_WRITING = {**_CODES, "ENCODING_ERROR": "VALIDATION_ERROR"}  # of the text that was sent
_READ = {
    "content": "content",
    "lineCount": "total_lines",
    "file_path": "absolute",
    "image_data": "image_data",
}
_WRITTEN = {"file_path": "absolute", "bytes_written": "bytes_written"}
_REPLACED = {"file_path": "absolute", "replacements": "replacements"}
_REPLACE_ALL = all_or("first", "Replace every occurrence, not only the first.")
_EXACT = {"fuzzy_threshold": None}  # a host may open it

FILE_OPS = Toolset(
    "file_ops",
    (
        Entry(
            "read",
            name="read_file",
            description="Read a file, or some lines of it.",
            rename=_FILE_PATH,
            show=("offset", "limit"),
            typed={"offset": OFFSET},
            describe={"limit": "Most lines; default all."},
            defaults={
                "marks": "none",
                "limit": ALL_LINES,
                "max_line_chars": _LINE_CHARS,
                "whole": True,
            },
            zero_based=frozenset({"offset"}),
            result=Shape("data", _READ, _CODES, otherwise="FILE_READ_ERROR"),
            risk="none",
        ),
        Entry(
            "write",
            description="Create or overwrite a file.",
            rename=_FILE_PATH,
            result=Shape("data", _WRITTEN, _WRITING, otherwise="FILE_WRITE_ERROR"),
            risk="dangerous",
        ),
        Entry(
            "edit",
            name="edit_file",
            description="Replace a text that occurs once in a file.",
            rename=_FILE_PATH,
            defaults=_EXACT,
            pin={"marks": "none", "occurrences": "unique"},
            result=Shape("data", _REPLACED, _WRITING, otherwise="FILE_EDIT_ERROR"),
            risk="dangerous",
        ),
        Entry(
            "edit",
            name="search_replace",
            description="Replace the first or every occurrence of a text in a file.",
            rename={
                **_FILE_PATH,
                "search_string": "old_string",
                "replace_string": "new_string",
                "replace_all": "occurrences",
            },
            typed={"replace_all": _REPLACE_ALL},
            describe={"old_string": "Text to find."},
            show=("occurrences",),
            defaults={**_EXACT, "occurrences": "first"},
            pin={"marks": "none"},
            result=Shape("data", _REPLACED, _WRITING, otherwise="FILE_REPLACE_ERROR"),
            risk="dangerous",
        ),
    ),
)
