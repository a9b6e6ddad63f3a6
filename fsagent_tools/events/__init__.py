"""What every call did, as one record each: no content unless asked for."""

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from fsagent_tools.call import PendingChange, current
from fsagent_tools.events.changed import Facts, changed_files, facts_of
from fsagent_tools.results import Outcome

Sink = Callable[[Mapping[str, Any]], None]
PATH_FIELDS = ("path", "source", "destination")


@dataclass
class Event:
    """A call while it runs; `params` are its own, once they are valid.

    root: the directory that a command may change, None for a tool that runs none.
    """

    tool: str
    effect: str
    root: Path | None = None
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
            arguments = self.params.model_dump(mode="json") if self.params else None
            done |= {"arguments": arguments, "text": outcome.text if outcome else ""}
        return done

    def _changed(self) -> list[str] | None:
        if self.root:
            return changed_files(self.before, facts_of(self.root))
        done = self.outcome and self.outcome.ok
        return sorted({path for change in self.changes for path in change.paths} if done else ())

    def _paths(self) -> list[str]:
        if self.changes:
            return list(self.changes[-1].paths)
        given = (getattr(self.params, name, None) for name in PATH_FIELDS)
        return [path for path in given if isinstance(path, str)]


class EventLog:
    """Hands a record of each call to a sink.

    sink: a file that JSON lines are appended to (made for the owner alone), or a callable that
    takes the record. content: put arguments and texts in as well. A sink that fails is reported
    to `logging` and changes nothing for the call.

    A record has `time` (ISO 8601, UTC), `duration_ms`, `session`, `run` and `call` (see
    `identified`), `tool`, `effect`, `paths` (as asked for), `changed` (files that the call made,
    changed or removed), `code` ("OK", or why not) and, of a shell, `command`; of a written file
    `sha256_before`, `sha256_after`, `insertions`, `deletions`. A command's `changed` are the files
    that differ after it, whoever changed them; None in a tree of more than 100,000 files.

    Examples:
        >>> records = []
        >>> workspace = Workspace(files=MemoryFiles({"a.txt": "one"}), log=EventLog(records.append))
        >>> outcome = toolset("filesystem").bind(workspace)["rm"].call({"path": "a.txt"})
        >>> records[0]["tool"], records[0]["changed"], records[0]["code"]
        ('rm', ['a.txt'], 'OK')
    """

    def __init__(self, sink: str | Path | Sink, *, content: bool = False) -> None:
        self._sink: Sink = sink if callable(sink) else _appending(Path(sink))
        self._content = content

    @contextmanager
    def event(
        self, tool: str, effect: str, session: str, root: Path | None = None
    ) -> Iterator[Event]:
        """Around one call, whose outcome the caller puts into the event."""
        ids = {"session": session, "run": None, "call": os.urandom(8).hex(), **current.get().ids}
        event = Event(tool, effect, root)
        token = current.set(replace(current.get(), watch=event.watch))
        began, start = datetime.now(UTC), time.perf_counter()
        try:
            yield event
        except BaseException as error:
            event.code = type(error).__name__
            raise
        finally:
            current.reset(token)
            took = round((time.perf_counter() - start) * 1000, 3)
            self._tell({"time": began.isoformat(), "duration_ms": took, **ids}, event)

    def _tell(self, known: Mapping[str, Any], event: Event) -> None:
        try:
            self._sink({**known, **event.record(content=self._content)})
        except Exception:
            logging.getLogger("fsagent_tools").exception("The event log failed")


def _appending(path: Path) -> Sink:
    def append(record: Mapping[str, Any]) -> None:
        line = json.dumps(record, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        fd = os.open(path, flags, 0o600)
        try:
            os.write(fd, line)  # one write: lines of several processes do not mix
        finally:
            os.close(fd)

    return append


def _hash(content: bytes | None) -> str | None:
    return None if content is None else sha256(content).hexdigest()
