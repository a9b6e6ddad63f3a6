"""What every call did, as one record each: no content unless asked for."""

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from fsagent_tools.call import current
from fsagent_tools.errors import ToolError
from fsagent_tools.events.event import Event
from fsagent_tools.validation import check_types

Sink = Callable[[Mapping[str, Any]], None]


class EventLog:
    """Hands a record of each call to a sink. If that fails, `logging` is told and the call goes on.

    A record says when who did what, where, and how it ended; docs/howto/watch.md lists its fields.

    Args:
        sink: A file to append JSON lines to (readable by its owner only), or a function that takes
            the record.
        content: Include arguments, texts and diffs.

    Examples:
        >>> records = []
        >>> workspace = Workspace(files=MemoryFiles({"a.txt": "one"}), log=EventLog(records.append))
        >>> outcome = toolset("filesystem").bind(workspace)["rm"].call({"path": "a.txt"})
        >>> records[0]["tool"], records[0]["changed"], records[0]["code"]
        ('rm', ['a.txt'], 'OK')
    """

    def __init__(self, sink: str | Path | Sink, *, content: bool = False) -> None:
        check_types(locals(), sink=str | PathLike | Callable, content=bool)
        self._sink: Sink = sink if callable(sink) else partial(_append, Path(sink))
        self._content = content

    @contextmanager
    def event(self, tool: str, effect: str, session: str, **facts: Any) -> Iterator[Event]:
        """Around one call, which the caller tells to the event; `facts` are fields of it."""
        outer = current.get()
        ids = {"session": session, "run": None, "call": os.urandom(8).hex(), **outer.ids}
        event = Event(tool, effect, call=str(ids["call"]), **facts)
        own = {**outer.ids, "call": event.call}
        token = current.set(replace(outer, watch=event.changes.append, ids=own))
        began, start = datetime.now(UTC), time.perf_counter()
        try:
            yield event
        except BaseException as error:
            event.code = error.code if isinstance(error, ToolError) else type(error).__name__
            raise
        finally:
            current.reset(token)
            took = round((time.perf_counter() - start) * 1000, 3)
            known = {"time": began.isoformat(), "duration_ms": took, **ids}
            try:  # a log that fails changes nothing for the call
                self._sink({**known, **event.record(content=self._content)})
            except Exception:
                logging.getLogger("fsagent_tools").exception("The event log failed")


def _append(path: Path, record: Mapping[str, Any]) -> None:
    line = f"{json.dumps(record, ensure_ascii=False, default=str)}\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    with open(os.open(path, flags, 0o600), "ab", buffering=0) as file:
        # one write: lines of processes do not mix
        file.write(line.encode(errors="backslashreplace"))
