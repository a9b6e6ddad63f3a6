"""One call while it runs, and the record that it leaves."""

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from fsagent_tools.call import PendingChange
from fsagent_tools.events.changed import Facts, changed_files, facts_of
from fsagent_tools.results import Outcome

PATH_FIELDS = ("path", "source", "destination")


@dataclass
class Event:
    """A call while it runs; `params` are its own, once they are valid.

    root: the directory that a command may change, None for a tool that runs none. virtual: paths
    begin at "/", the root.
    """

    tool: str
    effect: str
    root: Path | None = None
    virtual: bool = False
    params: Any = None
    outcome: Outcome | None = None
    changes: list[PendingChange] = field(default_factory=list)
    code: str = ""
    before: Facts | None = None

    def __post_init__(self) -> None:
        self.before = facts_of(self.root) if self.root else None

    def watch(self, change: PendingChange) -> None:
        self.changes.append(change)

    def record(self, *, content: bool) -> dict[str, Any]:
        """Fields that are always there, then hashes and counts of what changed."""
        outcome, data = self.outcome, self.outcome.data if self.outcome else {}
        done: dict[str, Any] = {
            "tool": self.tool,
            "effect": self.effect,
            "paths": self._paths(),
            "changed": self._changed(),
            "code": outcome.code if outcome else self.code,
        }
        if isinstance(command := getattr(self.params, "command", None), str):
            done["command"] = command
        for change in self.changes if outcome and outcome.ok else ():
            done |= {"sha256_before": _hash(change.before), "sha256_after": _hash(change.after)}
            done |= {name: data[name] for name in ("insertions", "deletions") if name in data}
        if content:
            arguments = self.params.as_json() if self.params else None
            done |= {"arguments": arguments, "text": outcome.text if outcome else ""}
        return done

    def _changed(self) -> list[str] | None:
        if self.root:
            changed = changed_files(self.before, facts_of(self.root))
            return [f"/{path}" for path in changed] if changed and self.virtual else changed
        done = self.outcome and self.outcome.ok
        return sorted({path for change in self.changes for path in change.paths} if done else ())

    def _paths(self) -> list[str]:
        if self.changes:
            return list(self.changes[-1].paths)
        given = (getattr(self.params, name, None) for name in PATH_FIELDS)
        return [path for path in given if isinstance(path, str)]


def _hash(content: bytes | None) -> str | None:
    return None if content is None else sha256(content).hexdigest()
