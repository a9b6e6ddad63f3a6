"""What models of Anthropic were trained on: a text editor, a shell that lasts, a memory."""

from fsagent_tools.actions.bash import TIMEOUT
from fsagent_tools.toolkit.toolset import Entry, Shape, Toolset
from fsagent_tools.toolsets.typed import REPLACE_ALL, from_zero
from fsagent_tools.toolsets.workspace import BASH

MEMORIES = "memories"  # directory of the workspace, for models "/memories"
EDITOR = "str_replace_based_edit_tool"
_INSERT_LINE = from_zero("Line to insert after; 0: at the top.")
_WRITTEN = Shape.flat("output", "path", "diff")
_EDITING = {
    "view": Entry(
        "view",
        show=("view_range",),
        result=Shape.flat("output", "path", "total_lines", "truncated", "entries"),
    ),
    "create": Entry(
        "write",
        rename={"file_text": "content"},
        describe={"path": "File or directory.", "content": "create: whole text."},
        result=Shape.flat("output", "path", "bytes_written", "created"),
    ),
    "str_replace": Entry(
        "edit",
        rename={"old_str": "old_string", "new_str": "new_string", "replace_all": "occurrences"},
        typed={"replace_all": REPLACE_ALL},
        describe={"old_string": "Text to replace, unique."},
        defaults={"marks": "none", "new_string": ""},
        result=_WRITTEN,
    ),
    "insert": Entry(
        "insert",
        rename={"insert_line": "line", "insert_text": "content"},
        typed={"insert_line": _INSERT_LINE},
        zero_based=frozenset({"line"}),
        describe={"content": "insert: whole lines."},
        defaults={"marks": "none"},
        result=_WRITTEN,
    ),
}
_REMEMBERING = {
    **_EDITING,
    "delete": Entry("rm", pin={"recursive": True}, result=Shape.flat("output", "path")),
    "rename": Entry(
        "mv",
        rename={"old_path": "source", "new_path": "destination"},
        describe={"source": "rename: from.", "destination": "rename: to."},
        result=Shape.flat("output", "source", "destination"),
    ),
}

ANTHROPIC = Toolset(
    "anthropic",
    (
        Entry(
            "edit",
            name=EDITOR,
            description="View, create and edit files.",
            commands=_EDITING,
            native={"anthropic": {"type": "text_editor_20250728", "name": EDITOR}},
        ),
        Entry(
            "bash",
            description="Run a command in a shell that lasts: directory and variables stay. "
            f"A command is stopped after {TIMEOUT} s.",
            show=("restart",),
            pin={"session": "shell"},
            result=BASH,
            native={"anthropic": {"type": "bash_20250124", "name": "bash"}},
        ),
        Entry(
            "edit",
            name="memory",
            description=f"Notes that last, as files below /{MEMORIES}. View it first.",
            commands=_REMEMBERING,
            view={"paths": "virtual", "beneath": (MEMORIES,)},
            native={"anthropic": {"type": "memory_20250818", "name": "memory"}},
        ),
    ),
)
