"""One call while it runs, and the record that it leaves."""

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any

from fsagent_tools.call import PendingChange
from fsagent_tools.effects import Effect
from fsagent_tools.errors import Denied, ToolError
from fsagent_tools.gate.request import describe
from fsagent_tools.results import Outcome
from fsagent_tools.search.walk import NOISE, OWN_CACHE

_RUN_FIELDS = ("exit_code", "timed_out", "refused")  # what is told of a command that ended
LONGEST_DIFF = 100_000  # characters
MOST_DIFFS = 100  # of one command
MOST_ENTRIES = 100_000  # in a tree that is looked at
MOST_CHANGED = 1_000  # paths in one record
Facts = dict[str, tuple[int, ...]]


@dataclass
class Event:
    """A call while it runs; `params` are what it was `sent`, once that is valid.

    workspace: its directory, None for files without one. virtual: paths begin at "/", the root.
    call: its ID. found: what a history says of the changes of a command with that ID, paths and
    diffs. mark: it is the host's own, and no call of a model. outside: its answer may come from
    outside the project.
    """

    tool: str
    effect: str
    workspace: Path | None = None
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
    def root(self) -> Path | None:
        """The directory that a command may change, None for a tool that runs none."""
        return self.workspace if self.effect == Effect.EXECUTE.value else None

    @property
    def outcome(self) -> Outcome | None:
        """What it gave, None for what raised."""
        if self.code:
            return None
        if isinstance(self.done, Outcome):
            return self.done
        made = {"checkpoint": self.done} if self.mark else {}
        return Outcome("", data=getattr(self.done, "__dict__", made))

    def record(self, *, content: bool) -> dict[str, Any]:
        """Fields that are always there, then hashes and counts of what changed."""
        outcome, data = self.outcome, self.outcome.data if self.outcome else {}
        made = self.changes if outcome and outcome.ok else ()
        sent = self.sent
        if not isinstance(sent, str):
            sent = json.dumps(sent, ensure_ascii=False, default=str)
        done: dict[str, Any] = {
            "workspace": str(self.workspace.absolute()) if self.workspace else "",
            "tool": self.tool,
            "effect": self.effect,
            "paths": self._paths(),
            "changed": self._changed(made),
            "code": outcome.code if outcome else self.code,
            "sent_characters": len(sent),
            "answer_characters": len(outcome.text) if outcome else 0,
        }
        if self.outside:
            done["outside"] = True
        if isinstance(self.error, Denied):  # which rule, of what path: nothing that a file holds
            done["reason"] = self.error.message
        if isinstance(command := getattr(self.params, "command", None), str):
            done["command"] = command
            done |= {name: data[name] for name in _RUN_FIELDS if name in data}
        for change in made:
            held = {"sha256_before": change.before, "sha256_after": change.after}
            done |= {n: None if x is None else sha256(x).hexdigest() for n, x in held.items()}
            done |= {name: data[name] for name in ("insertions", "deletions") if name in data}
        if self.mark:
            known = {**data, **(self.params or {}), "mark": self.tool}
            names = ("mark", "name", "to", "checkpoint")
            done |= {name: known[name] for name in names if name in known}
        if content:
            arguments = self.params.as_json(given=True) if self.params else self.sent
            done |= {"arguments": arguments, "text": outcome.text if outcome else ""}
            done["diffs"] = list(self._diffs(made))
        return done

    def _diffs(self, made: Iterable[PendingChange]) -> Iterator[dict[str, str]]:
        diffs = [(one.paths[-1], describe(one)) for one in made]
        kept = self.found(self.call) if self.root else ()
        slash = "/" * self.virtual
        for path, text in islice(chain(diffs, ((slash + p, t) for p, t in kept)), MOST_DIFFS):
            more = f"\n({len(text):,} characters in all)" * (len(text) > LONGEST_DIFF)
            yield {"path": path, "diff": text[:LONGEST_DIFF] + more}

    def _changed(self, made: Iterable[PendingChange]) -> list[str] | None:
        """Files made, changed or removed, by name, at most `MOST_CHANGED`; None if nobody knows."""
        if not self.root:
            return sorted({path for change in made for path in change.paths})
        before, after = self.before, facts_of(self.root)
        if before is None or after is None:
            return None
        either = before.keys() | after.keys()
        changed = sorted(path for path in either if before.get(path) != after.get(path))
        return [f"{'/' * self.virtual}{path}" for path in changed[:MOST_CHANGED]]

    def _paths(self) -> list[str]:
        if self.changes:
            return list(self.changes[-1].paths)
        names = ("path", "source", "destination")
        given = (getattr(self.params, name, None) for name in names)
        return [path for path in given if isinstance(path, str)]


def facts_of(root: Path) -> Facts | None:
    """What tells that a file changed, by path; None for a tree that is too large."""
    found: Facts = {}
    for place, below, names in os.walk(root):
        prefix = "".join(f"{name}/" for name in Path(place).relative_to(root).parts)
        below[:] = [n for n in below if n not in NOISE and prefix + n != OWN_CACHE]
        for name in (*names, *below):
            with suppress(OSError):  # gone, or not ours to read
                s = Path(place, name).lstat()
                if not stat.S_ISDIR(s.st_mode):
                    times = s.st_mtime_ns, s.st_ctime_ns
                    found[prefix + name] = (s.st_ino, s.st_size, *times, s.st_mode)
        if len(found) > MOST_ENTRIES:
            return None
    return found
