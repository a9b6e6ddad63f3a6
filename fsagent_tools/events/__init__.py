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
from fsagent_tools.results import Outcome

Sink = Callable[[Mapping[str, Any]], None]
PATH_FIELDS = ("path", "source", "destination")


@dataclass
class Event:
    """A call while it runs; `params` are its own, once they are valid."""

    tool: str
    effect: str
    params: Any = None
    outcome: Outcome | None = None
    changes: list[PendingChange] = field(default_factory=list)
    code: str = ""

    def watch(self, change: PendingChange) -> None:
        self.changes.append(change)

    def record(self, *, content: bool) -> dict[str, Any]:
        """Fields that are always there, then hashes and counts of what changed."""
        outcome, data = self.outcome, self.outcome.data if self.outcome else {}
        done: dict[str, Any] = {
            "tool": self.tool,
            "effect": self.effect,
            "paths": self._paths(),
            "code": outcome.code if outcome else self.code,
        }
        for change in self.changes if outcome and outcome.ok else ():
            done |= {"sha256_before": _hash(change.before), "sha256_after": _hash(change.after)}
            done |= {name: data[name] for name in ("insertions", "deletions") if name in data}
        if content:
            arguments = self.params.model_dump(mode="json") if self.params else None
            done |= {"arguments": arguments, "text": outcome.text if outcome else ""}
        return done

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
    """

    def __init__(self, sink: str | Path | Sink, *, content: bool = False) -> None:
        self._sink: Sink = sink if callable(sink) else _appending(Path(sink))
        self._content = content

    @contextmanager
    def event(self, tool: str, effect: str) -> Iterator[Event]:
        """Around one call, whose outcome the caller puts into the event."""
        event = Event(tool, effect)
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
            self._tell({"time": began.isoformat(), "duration_ms": took}, event)

    def _tell(self, times: Mapping[str, Any], event: Event) -> None:
        try:
            self._sink({**times, **event.record(content=self._content)})
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
