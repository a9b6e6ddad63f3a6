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
