"""Every default and limit that the five documents give, as a number, against the tools."""

import pytest

from fsagent_tools import TOOLSETS, Policy
from fsagent_tools.types import Entry

DOCUMENTED = {
    "line_ids": {
        "read": {"offset": 1, "limit": 2000, "max_line_chars": 2000, "max_bytes": 51_200},
        "glob": {"max_results": 100},
        "grep": {"max_results": 100, "timeout": 30},
        "ls": {"recursive": False},
        "write": {"create_dirs": True},
    },
    "workspace": {
        "read": {"offset": 1, "limit": 2000},
        "glob": {"max_results": 100},
        "bash": {"timeout": 120, "max_output": 51_200},
        "webfetch": {"timeout": 30, "format": "markdown"},
        "websearch": {"num_results": 10},
    },
    "compact": {
        "Write": {"create_dirs": True, "atomic": True},
        "Edit": {"fuzzy_threshold": 0.85, "max_suggestions": 3, "occurrences": "unique"},
        "Glob": {"max_results": 200, "sort": "mtime", "include_hidden": False},
        "Grep": {"max_results": 250},
    },
    "file_ops": {
        "read_file": {"offset": 1},  # 0 in the model's count
        "edit_file": {"occurrences": "unique"},
        "search_replace": {"occurrences": "first"},
    },
    "filesystem": {
        "read": {"offset": 1, "end_line": None},
        "write": {"create_dirs": False},
        "edit": {"occurrences": 1, "fuzzy_threshold": None},  # "exact text to find"
        "ls": {"path": ".", "recursive": False, "pattern": None, "include_hidden": False},
        "grep": {
            "path": ".", "include": None, "recursive": True, "max_results": 100,
            "case_sensitive": True,
        },
        "find": {"path": ".", "max_results": 100},
        "mv": {"overwrite": False},
        "cp": {"overwrite": False},
        "rm": {"recursive": False},
    },
}  # fmt: skip
ROWS = [
    pytest.param(toolset, tool, field, value, id=f"{toolset}.{tool}.{field}")
    for toolset, tools in DOCUMENTED.items()
    for tool, fields in tools.items()
    for field, value in fields.items()
]


def default(entry: Entry, field: str):
    """What the action gets when nobody says anything."""
    knob = entry.action.params.model_fields[field]
    own = knob.get_default(call_default_factory=True)
    return {field: own, **entry.defaults, **entry.pin}[field]


@pytest.mark.parametrize(("toolset", "tool", "field", "value"), ROWS)
def test_a_default_is_the_documented_one(toolset, tool, field, value):
    [entry] = [each for each in TOOLSETS[toolset].entries if each.shown_name == tool]
    assert default(entry, field) == value


def test_the_gate_before_an_edit_lets_small_files_pass():
    assert Policy().read_before_edit == 500


def test_filesystem_limits_the_size_of_a_file():
    assert TOOLSETS["filesystem"].max_file_size == "100MB"
