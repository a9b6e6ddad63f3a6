"""The head of the page: numbers, refusal_table, files."""

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from fsagent_tools.report.logged import LoggedCall
from fsagent_tools.report.rows import moment, printed
from fsagent_tools.report.words import (
    changed_lines,
    duration,
    kinds,
    milliseconds,
    tokens,
    was_refused,
    why,
)

_ROWS = 12  # rows of a table


def numbers(records: Sequence[LoggedCall], sessions: Sequence[str]) -> Iterator[str]:
    """What was done, one number and its word each."""
    of = Counter(kind for record in records for kind in kinds(record))
    edits = sum("edit" in kinds(record) and not was_refused(record) for record in records)
    added, removed = (
        sum(column) for column in zip((0, 0), *map(changed_lines, records), strict=True)
    )
    moments = [at for at in map(moment, records) if at]
    pairs = [
        _counted(len(records) - of["mark"], "call"),
        _counted(edits, "edit"),
        (f"<ins>+{added:,}</ins> <del>−{removed:,}</del>", "lines"),
        _counted(of["command"], "command"),
        (f"{of['refused']:,}", "refused"),
        (duration(sum(map(milliseconds, records))), "in tools"),
        (f"≈ {sum(map(tokens, records)):,}", "tokens"),
    ]
    if len(sessions) > 1:
        pairs.insert(0, (f"{len(sessions):,}", "sessions"))
    if moments:
        took = (max(moments) - min(moments)).total_seconds() * 1000
        pairs.append((duration(took), f"from {min(moments):%Y-%m-%d %H:%M} UTC"))
    for number, word in pairs:
        yield f"<div><b>{number}</b> {word}</div>"


def _counted(number: int, word: str) -> tuple[str, str]:
    return f"{number:,}", word if number == 1 else f"{word}s"


def refusal_table(records: Sequence[LoggedCall]) -> str:
    """A table of what was refused and why, the most frequent first; "" for none."""
    found = Counter(
        (record["code"] if was_refused(record) else "sandbox", why(record))
        for record in records
        if "refused" in kinds(record)
    )
    cells = [
        f"<tr><td>{count:,}<td><em>{printed(code, 60)}</em><td>{printed(reason, 200)}"
        for (code, reason), count in found.most_common(_ROWS)
    ]
    return _table("Refused", cells, len(found))


def file_table(records: Sequence[LoggedCall]) -> str:
    """A table of the files that calls changed, the most changed first; "" for none."""
    calls: Counter[str] = Counter()
    lines: dict[str, tuple[int, int]] = {}
    undone: set[str] = set()
    for record in records:
        paths = [str(path) for path in record.get("changed", ())]
        if record.get("mark") == "undo":
            undone.update(paths)
            continue
        undone.difference_update(paths)
        if "mark" not in kinds(record):
            calls.update(paths)
        for path in paths[:1]:
            lines[path] = _sum(lines.get(path, (0, 0)), changed_lines(record))
    cells = [
        f"<tr><td>{count:,}<td><button data-find>{printed(path, 120)}</button><td>"
        + _lines(*lines.get(path, (0, 0)))
        + (" then an undo" if path in undone else "")
        for path, count in calls.most_common(_ROWS)
    ]
    return _table("Files changed", cells, len(calls))


def _lines(added: int, removed: int) -> str:
    """Nothing for those of commands, which nobody counted."""
    return f"<ins>+{added}</ins> <del>−{removed}</del>" if added or removed else ""


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def _table(title: str, cells: Sequence[str], count: int) -> str:
    if not cells:
        return ""
    rest = f"<tr><td><td>and {count - len(cells):,} more" if count > len(cells) else ""
    return f"<section><h2>{escape(title)}</h2><table>{''.join(cells)}{rest}</table></section>"
