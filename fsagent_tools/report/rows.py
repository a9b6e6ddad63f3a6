"""The timeline: a line for each call, there without a script."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape

from fsagent_tools.report.logged import LoggedCall
from fsagent_tools.report.words import (
    changed_lines,
    duration,
    kinds,
    milliseconds,
    subject,
    tokens,
    was_refused,
    why,
)

_PAUSE = 60  # seconds without a call that the timeline shows
_LONGEST_SUBJECT, _LONGEST_WHY = 160, 240  # characters


def rows(records: Sequence[LoggedCall], sessions: Sequence[str]) -> Iterator[str]:
    last: datetime | None = None
    places = {session: place for place, session in enumerate(sessions)} if sessions[1:] else {}
    for number, record in enumerate(records):
        at = moment(record)
        if at and last and (gap := (at - last).total_seconds()) > _PAUSE:
            yield f"<p class=gap>{duration(gap * 1000)} later</p>"
        last = at or last
        yield _row(number, record, at, places.get(record["session"]))


def moment(record: LoggedCall) -> datetime | None:
    """When the call began, in UTC; None where that is not told."""
    try:
        at = datetime.fromisoformat(record.get("time", ""))
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def printed(text: str, longest: int) -> str:
    """In one line, escaped."""
    line = text[: longest + 1].replace("\n", " ⏎ ")
    return escape(line if len(line) <= longest else f"{line[:longest]}…")


def _row(number: int, record: LoggedCall, at: datetime | None, session: int | None) -> str:
    found = kinds(record)
    added, removed = changed_lines(record)
    reason = why(record)
    parts = [
        f"<time>{at:%H:%M:%S}</time>" if at else "<time></time>",
        f"<b>{printed(str(record.get('mark') or record['tool']), 40)}</b>",
        f"<span>{printed(subject(record), _LONGEST_SUBJECT)}</span>",
        f"<ins>+{added}</ins><del>−{removed}</del>" if added or removed else "",
        f"<em>{printed(record['code'], 60)}</em>" if was_refused(record) else "",
        f"<em>exit {code}</em>" if (code := record.get("exit_code")) else "",
        ""
        if "mark" in found
        else f"<u>{duration(milliseconds(record))}</u><s>{tokens(record):,}</s>",
        f"<q>{printed(reason, _LONGEST_WHY)}</q>" if reason else "",
    ]
    mine = "" if session is None else f' data-s="{session}"'
    return (
        f'<details id=n{number} data-k="{" ".join(found)}"{mine}>'
        f"<summary>{''.join(parts)}</summary></details>"
    )
