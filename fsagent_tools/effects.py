"""What an action may do, and the permission and risk words that follow from it."""

from enum import Enum


class Effect(Enum):
    """What an action may do: READ, WRITE, DELETE, EXECUTE or NETWORK."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    EXECUTE = "execute"
    NETWORK = "network"

    def __init__(self, word: str) -> None:
        self.changes_files = word in ("write", "delete")


PERMISSIONS = {
    Effect.READ: ("fs.read",),
    Effect.WRITE: ("fs.write",),
    Effect.DELETE: ("fs.delete",),
    Effect.EXECUTE: ("process.execute",),
    Effect.NETWORK: ("network.fetch",),
}
RISK = {
    Effect.READ: "low",
    Effect.WRITE: "medium",
    Effect.DELETE: "high",
    Effect.EXECUTE: "high",
    Effect.NETWORK: "medium",
}
SIDE_EFFECTS = {
    Effect.WRITE: ("filesystem_write",),
    Effect.DELETE: ("filesystem_delete",),
    Effect.EXECUTE: ("process_execute",),
    Effect.NETWORK: ("network_request",),
}
ASKED = frozenset({Effect.WRITE, Effect.DELETE, Effect.EXECUTE})  # for approval, by default
_NAMES = {  # of every action, and of every tool of a toolset
    Effect.READ: "read glob grep ls Read Glob Grep read_file find file_stat view stat",
    Effect.WRITE: (
        "write edit_lines Write Edit edit_file search_replace edit insert mv cp mkdir "
        "write_file apply_patch str_replace_based_edit_tool rename undo"
    ),
    Effect.EXECUTE: "bash lsp jobs execute shell diagnostics",
    Effect.NETWORK: "webfetch websearch",
    Effect.DELETE: "rm delete memory",
}
BY_NAME = {name: effect for effect, names in _NAMES.items() for name in names.split()}
