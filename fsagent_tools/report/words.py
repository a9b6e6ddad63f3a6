"""What a person reads of a record: its kind, its numbers, why it was refused."""

from collections.abc import Mapping

from fsagent_tools.report.logged import LoggedCall

_CHARACTERS = 4  # per token, of code and English; for an estimate
_EFFECTS = {
    "read": "read",
    "write": "edit",
    "delete": "edit",
    "execute": "command",
    "network": "web",
}
_WHY = {  # in a log without contents, which has the reason of a denial only
    "FILE_CHANGED": "The file changed while it was being edited.",
    "FILE_NOT_READ": "The file was to be edited and had not been read.",
    "NO_LINE_INDEX": "A line ID was used before the file was read.",
    "STALE_LINE_IDS": "The lines changed since they were read.",
    "UNKNOWN_LINE_ID": "No line has the ID that was given.",
    "INVALID_CHANGE": "The changes contradict each other, or would not do what seems to be meant.",
    "STRING_NOT_FOUND": "The text to replace is not in the file.",
    "MULTIPLE_MATCHES": "The text to replace is in the file more than once.",
    "LINT_REJECTED": "The text would have had a new syntax error.",
    "VALIDATION_ERROR": "The arguments are not what the tool takes.",
    "OUTCOME_UNKNOWN": "An approved call had begun before, and how it ended is not known.",
}


def kinds(record: LoggedCall) -> list[str]:
    """What a filter finds it by."""
    if record.get("mark"):
        return ["mark"]
    found = [_EFFECTS.get(record.get("effect", ""), "other")]
    refused = was_refused(record) or record.get("refused")
    return [*found, "refused"] if refused else found


def was_refused(record: LoggedCall) -> bool:
    return record["code"] not in ("OK", "")


def why(record: LoggedCall) -> str:
    """Why a call, or a part of a command, was refused; "" for one that was not."""
    if not was_refused(record):
        return "; ".join(map(str, record.get("refused", ())))
    text = record.get("text", "").removeprefix("Error: ").split("\n", 1)[0]
    return str(record.get("reason") or text or _WHY.get(record["code"], ""))


def subject(record: LoggedCall) -> str:
    """What the call was about, in one line."""
    if command := record.get("command", ""):
        return str(command).strip()
    given = record.get("arguments")
    arguments = given if isinstance(given, Mapping) else {}
    sought = (str(arguments.get(name) or "") for name in ("pattern", "url", "query"))
    paths = ", ".join(map(str, record.get("paths", ())))
    return "  ".join(filter(None, (*sought, record.get("name", ""), paths)))


def tokens(record: LoggedCall) -> int:
    """About how many tokens the call cost the model, both ways."""
    characters = record.get("sent_characters", 0) + record.get("answer_characters", 0)
    return -int(-characters // _CHARACTERS)


def milliseconds(record: LoggedCall) -> float:
    return float(record.get("duration_ms", 0))


def duration(ms: float) -> str:
    """`12 ms`, `3.4 s`, `5 min`."""
    if ms < 1_000:
        return f"{ms:.0f} ms"
    return f"{ms / 1_000:.1f} s" if ms < 120_000 else f"{ms / 60_000:.0f} min"


def changed_lines(record: LoggedCall) -> tuple[int, int]:
    return record.get("insertions", 0), record.get("deletions", 0)
