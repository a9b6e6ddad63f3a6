"""What every call did, as one record each: no content unless asked for."""

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fsagent_tools.call import current
from fsagent_tools.events.event import Event

Sink = Callable[[Mapping[str, Any]], None]


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
        self,
        tool: str,
        effect: str,
        session: str,
        root: Path | None = None,
        *,
        virtual: bool = False,
    ) -> Iterator[Event]:
        """Around one call, whose outcome the caller puts into the event."""
        ids = {"session": session, "run": None, "call": os.urandom(8).hex(), **current.get().ids}
        event = Event(tool, effect, root, virtual)
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
