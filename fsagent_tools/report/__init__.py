"""The records of an event log as one HTML page that needs nothing else."""

import base64
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from string import Template

from fsagent_tools.report.bodies import packed
from fsagent_tools.report.logged import LoggedCall, tidied
from fsagent_tools.report.logged import read_log as read_log
from fsagent_tools.report.redact import covering
from fsagent_tools.report.rows import printed, rows
from fsagent_tools.report.summary import file_table, numbers, refusal_table

_SIZE = 300_000  # bytes of the page, for up to 500 calls
_SIZE_OF_CALL = 600  # bytes for each call of more
_SPARE = 2_000
_LONGEST_TITLE = 80  # characters


def html_report(
    records: Sequence[LoggedCall],
    *,
    title: str = "Session",
    unread: int = 0,
    size: int | None = None,
    cover: Sequence[str] = (),
) -> str:
    """The page of these records, in their order: at most `size` bytes where that is possible.

    size: default 300,000, and 600 for each call beyond 500; diffs, arguments and output are
    shortened to keep to it. unread: how many lines of the log were no records, which the page
    says. What looks like a secret is covered everywhere, and what matches `cover`, regular
    expressions. Raises `InvalidArguments` where one is none.
    """
    style, script = (_part(name) for name in ("page.css", "page.js"))
    covered = covering(cover)
    records = [covered(tidied(record)) for record in records]
    sessions = list(dict.fromkeys(record["session"] for record in records))
    parts = {
        "title": printed(covered(title), _LONGEST_TITLE),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "numbers": "".join(numbers(records, sessions)),
        "tables": refusal_table(records) + file_table(records),
        "sessions": _choices(sessions),
        "rows": "".join(rows(records, sessions)),
    }
    page = Template(_part("page.html"))
    empty = len(page.substitute(parts, notes="", data="").encode(errors="replace"))
    whole = max(_SIZE, _SIZE_OF_CALL * len(records)) if size is None else size
    data, cut = packed(records, max(whole - empty - _SPARE, 0))
    filled = page.substitute(parts, notes=_notes(records, unread, cut=cut), data=data)
    return filled.encode(errors="replace").decode()  # lone surrogates are no text


def _notes(records: Sequence[LoggedCall], unread: int, *, cut: bool) -> str:
    notes = []
    if not records:
        notes.append("The log has no calls.")
    elif not any("arguments" in record for record in records):
        notes.append(
            "This log has no contents: diffs, arguments and output are in one that "
            "<code>EventLog(..., content=True)</code> wrote."
        )
    if cut:
        notes.append("Long texts are shortened here; the log has all of them.")
    if unread:
        notes.append(f"Lines of the log that could not be read: {unread:,}.")
    return "".join(f"<p class=note>{note}</p>" for note in notes)


def _choices(sessions: Sequence[str]) -> str:
    if len(sessions) < 2:
        return ""
    options = "".join(
        f"<option value={n}>{printed(s, _LONGEST_TITLE)}" for n, s in enumerate(sessions)
    )
    return f"<select id=session aria-label=Session><option value=''>all sessions{options}</select>"


def _part(name: str) -> str:
    return (Path(__file__).parent / name).read_text("utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(sha256(text.encode()).digest()).decode()
