"""What an action may do, and the permission and risk words that follow from it."""

from enum import Enum


class Effect(Enum):
    """What an action may do: the one classification that policy and metadata derive from."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    EXECUTE = "execute"
    NETWORK = "network"

    @property
    def changes_files(self) -> bool:
        return self in (Effect.WRITE, Effect.DELETE)


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
EFFECTS = {  # of every action, and of every tool that has another name
    **dict.fromkeys(("read", "glob", "grep", "ls", "stat"), Effect.READ),
    **dict.fromkeys(("find", "file_stat", "read_file", "Read", "Glob", "Grep"), Effect.READ),
    **dict.fromkeys(("write", "edit_lines", "edit", "insert", "mkdir", "mv", "cp"), Effect.WRITE),
    **dict.fromkeys(("edit_file", "search_replace", "Write", "Edit"), Effect.WRITE),
    "rm": Effect.DELETE,
    **dict.fromkeys(("bash", "lsp", "diagnostics"), Effect.EXECUTE),
    **dict.fromkeys(("webfetch", "websearch"), Effect.NETWORK),
}
