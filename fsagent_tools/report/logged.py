"""Records as an event log's file has them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fsagent_tools.errors import InvalidArguments, Missing

LoggedCall = Mapping[str, Any]
_DEEPEST = 30
_LARGEST = 10**15  # of the numbers; those of an event log are far below
_FORMS: Mapping[str, Any] = {
    "paths": (list, tuple),
    "changed": (list, tuple),
    "refused": (list, tuple),
    "diffs": (list, tuple),
    "duration_ms": (int, float),
    "insertions": int,
    "deletions": int,
    "sent_characters": int,
    "answer_characters": int,
    "exit_code": int,
}


def read_log(path: str | Path) -> tuple[list[LoggedCall], int]:
    """The records of a file of JSON lines, and how many lines are none.

    A line that was cut off, or is of another program, is passed over. Raises `Missing` where there
    is no such file, and `InvalidArguments` where it has lines, and not one is a record.
    """
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        raise Missing(
            f"There is no event log {path}.", hint="`EventLog(path)` writes one."
        ) from None
    except OSError as error:
        raise InvalidArguments(f"{path} cannot be read: {error.strerror}.") from None
    records: list[LoggedCall] = []
    wrong = 0
    for line in raw.splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict) and isinstance(record.get("tool"), str):
            records.append(record)
        elif line.strip():
            wrong += 1
    if wrong and not records:
        raise InvalidArguments(
            f"{path} is not an event log: none of its lines is a record.",
            hint="Name a file that `EventLog(path)` wrote.",
        )
    return records, wrong


def tidied(record: LoggedCall) -> LoggedCall:
    """Without fields that have another form than an event log gives them; all else is text."""
    found: dict[str, Any] = {"tool": "", "session": "", "code": ""}
    for name, value in record.items():
        if name not in _FORMS and name != "arguments":
            found[name] = "" if value is None else str(_shallow(value, _DEEPEST))
        elif isinstance(value, _FORMS.get(name, object)) and _is_usual(value):
            found[name] = _shallow(value, _DEEPEST)
    return found


def _is_usual(value: Any) -> bool:
    return not isinstance(value, int | float) or -_LARGEST < value < _LARGEST


def _shallow(value: Any, left: int) -> Any:
    """`value` without what is nested too deep to be walked through."""
    if isinstance(value, str | int | float):
        return value
    if left == 0:
        return "…"
    if isinstance(value, Mapping):
        return {str(name): _shallow(part, left - 1) for name, part in value.items()}
    return [_shallow(p, left - 1) for p in value] if isinstance(value, list | tuple) else value
