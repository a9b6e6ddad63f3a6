"""One call while it runs, and the record that it leaves."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any

from fsagent_tools.call import PendingChange
from fsagent_tools.errors import Denied, ToolError
from fsagent_tools.events.changed import Facts, changed_files, facts_of
from fsagent_tools.gate.request import describe
from fsagent_tools.results import Outcome

PATH_FIELDS = ("path", "source", "destination")
RUN_FIELDS = ("exit_code", "timed_out", "refused")  # what is told of a command that ended
MARK_FIELDS = ("mark", "name", "to", "checkpoint")
LONGEST_DIFF = 100_000  # characters
MOST_DIFFS = 100  # of one command


@dataclass
class Event:
    """A call while it runs; `params` are what it was `sent`, once that is valid.

    root: the directory that a command may change, None for a tool that runs none. virtual: paths
    begin at "/", the root. call: its ID. found: what a history says of the changes of a command
    with that ID, paths and diffs. mark: it is the host's own, and no call of a model. outside: its
    answer may come from outside the project.
    """

    tool: str
    effect: str
    root: Path | None = None
    virtual: bool = False
    sent: Any = None
    params: Any = None
    error: ToolError | None = None
    done: Any = None
    changes: list[PendingChange] = field(default_factory=list)
    code: str = ""
    before: Facts | None = None
    call: str = ""
    mark: bool = False
    outside: bool = False
    found: Callable[[str], Iterator[tuple[str, str]]] = lambda _: iter(())

    def __post_init__(self) -> None:
        self.before = facts_of(self.root) if self.root else None

    @property
    def outcome(self) -> Outcome | None:
        """What it gave, None for what raised."""
        if self.code:
            return None
        if isinstance(self.done, Outcome):
            return self.done
        made = {"checkpoint": self.done} if self.mark else {}
        return Outcome("", data=getattr(self.done, "__dict__", made))

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
            "sent_characters": len(_as_text(self.sent)),
            "answer_characters": len(outcome.text) if outcome else 0,
        }
        if self.outside:
            done["outside"] = True
        if isinstance(self.error, Denied):  # which rule, of what path: nothing that a file holds
            done["reason"] = self.error.message
        if isinstance(command := getattr(self.params, "command", None), str):
            done["command"] = command
            done |= {name: data[name] for name in RUN_FIELDS if name in data}
        for change in self.changes if outcome and outcome.ok else ():
            done |= {"sha256_before": _hash(change.before), "sha256_after": _hash(change.after)}
            done |= {name: data[name] for name in ("insertions", "deletions") if name in data}
        if self.mark:
            known = {**data, **(self.params or {}), "mark": self.tool}
            done |= {name: known[name] for name in MARK_FIELDS if name in known}
        if content:
            arguments = self.params.as_json(given=True) if self.params else self.sent
            done |= {"arguments": arguments, "text": outcome.text if outcome else ""}
            done["diffs"] = list(self._diffs())
        return done

    def _diffs(self) -> Iterator[dict[str, str]]:
        made = self.changes if self.outcome and self.outcome.ok else ()
        diffs = chain(((one.paths[-1], describe(one)) for one in made), self._found())
        for path, text in islice(diffs, MOST_DIFFS):
            if len(text) > LONGEST_DIFF:
                text = f"{text[:LONGEST_DIFF]}\n({len(text):,} characters in all)"
            yield {"path": path, "diff": text}

    def _found(self) -> Iterator[tuple[str, str]]:
        for path, text in self.found(self.call) if self.root else ():
            yield f"/{path}" if self.virtual else path, text

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


def _as_text(sent: Any) -> str:
    return sent if isinstance(sent, str) else json.dumps(sent, ensure_ascii=False, default=str)
