"""The log as one static page: who changed what, when, with the diffs; no script, opens offline."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from fsagent_tools.errors import InvalidArguments
from fsagent_tools.names import display
from fsagent_tools.text import shorten

MAX_CALLS = 2_000  # on one page, the latest
MAX_LINES = 400  # of one diff or text
MAX_SUMMARY = 160  # characters of a command or of paths, in a row
_Record = Mapping[str, Any]

_HEAD = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>fsagent log</title>
<style>
:root { color-scheme: light dark; --line: #8885; --dim: #767676; --bad: #d1242f; --back: #8881; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h2, h3 { margin: 1.5rem 0 .4rem; font-size: 1.1rem; overflow-wrap: anywhere; }
p, dt, time, .ok, .at { color: var(--dim); }
details { border-top: 1px solid var(--line); }
summary { display: grid; grid-template-columns: 10.5rem 8rem 1fr auto; gap: .8rem;
  padding: .35rem .2rem; cursor: pointer; }
summary:hover, pre { background: var(--back); }
dd, summary > * { margin: 0; overflow-wrap: anywhere; }
.what, pre { font: .85em/1.5 ui-monospace, monospace; }
.bad { color: var(--bad); }
.body { padding: 0 0 1rem 1.2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
p, dl, pre { margin: .4rem 0; }
pre { border-radius: 4px; padding: .5rem; overflow-x: auto; }
pre span { display: block; min-height: 1.5em; width: max-content; min-width: 100%; }
.add { background: #2da04433; } .cut { background: #d1242f33; }
@media (max-width: 45rem) { summary { grid-template-columns: 1fr auto; } }
</style>
"""
_FACTS = {  # of a record -> its name on the page
    **{"session": "session", "run": "run", "call": "call", "id": "step", "effect": "effect"},
    **{"duration_ms": "took (ms)", "paths": "asked for", "changed": "changed"},
    **{"reason": "refused because", "command": "command", "exit_code": "exit code"},
    **{"refused": "stopped by the sandbox", "insertions": "lines added"},
    **{"deletions": "lines removed", "lost": "not kept"},
}
_MARKS = {"+++": "at", "---": "at", "@@": "at", "+": "add", "-": "cut"}  # of a diff -> its class


def page(records: Iterable[_Record]) -> str:
    """The HTML of a page of what an `EventLog` gave to its sink, by workspace and user."""
    found = sorted(records, key=lambda record: str(record.get("time", "")), reverse=True)
    groups: dict[tuple[str, ...], list[_Record]] = {}
    for record in found[:MAX_CALLS]:
        names = (record.get(name) or "" for name in ("tenant", "workspace", "user"))
        groups.setdefault(tuple(map(str, names)), []).append(record)
    refused = sum(record.get("code", "OK") != "OK" for record in found)
    latest = f" The latest {MAX_CALLS:,} are shown." * (len(found) > MAX_CALLS)
    counts = f"{len(found):,} calls, {refused:,} refused or failed. Times are local.{latest}"
    parts = [f"{_HEAD}<h1>fsagent log</h1>\n<p>{counts}</p>"]
    place = None
    for (tenant, workspace, user), calls in sorted(groups.items()):
        if place != (place := (tenant, workspace)):
            of = f" ({_text(tenant)})" if tenant else ""
            parts.append(f"<h2>{_text(workspace) or 'No workspace named'}{of}</h2>")
        count = f"<span class='ok'>{len(calls):,} calls</span>"
        parts.append(f"<h3>{_text(user) or 'No user named'} {count}</h3>")
        parts += map(_call, calls)
    return "\n".join([*parts, "</html>", ""])


def write_page(records: Iterable[_Record], file: Path) -> None:
    """Write a page, a new one readable by its owner only. Raises `InvalidArguments`."""
    try:
        with open(file, "wb", opener=partial(os.open, mode=0o600)) as stream:
            stream.write(page(records).encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise InvalidArguments(f"{file}: {error.strerror}.", hint="Name another file.") from None


def read_log(file: Path) -> list[_Record]:
    """The records of a file that `EventLog(file)` wrote. Raises `InvalidArguments`."""
    found: list[_Record] = []
    try:
        for line in file.read_bytes().splitlines():
            found.append({**json.loads(line)})
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", f"line {len(found) + 1} is not a record of a log")
        hint = "Name a file that EventLog(FILE) wrote."
        raise InvalidArguments(f"{file}: {reason}.", hint=hint) from None
    return found


def _call(record: _Record) -> str:
    code = "undone" if record.get("undone") else record.get("code", "OK")
    kind = "ok" if code in ("OK", "undone") else "bad"
    tool = record.get("tool") or record.get("kind") or ""
    paths = record.get("changed") or record.get("paths") or [record.get("name") or ""]
    what = shorten(record.get("command") or ", ".join(map(str, paths)), MAX_SUMMARY)
    summary = f"<time>{_time(record)}</time><b>{_text(tool)}{' (host)' * ('mark' in record)}</b>"
    return (
        f"<details><summary>{summary}<span class='what'>{_text(what)}</span>"
        f"<span class='{kind}'>{_text(code)}</span></summary>"
        f"<div class='body'>{''.join(_contents(record))}</div></details>"
    )


def _contents(record: _Record) -> Iterator[str]:
    yield "<dl>"
    for name, title in _FACTS.items():
        value = record.get(name)
        if value not in (None, "", [], ()):
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
            yield f"<dt>{title}</dt><dd>{_text(shown)}</dd>"
    yield "</dl>"
    for one in record.get("diffs") or ():
        yield f"<p>{_text(one['path'])}</p>{_lines(one['diff'], _MARKS)}"
    if arguments := record.get("arguments"):
        shown = arguments if isinstance(arguments, str) else json.dumps(arguments, indent=1)
        yield f"<p>arguments</p>{_lines(shown, {})}"
    if text := record.get("text"):
        yield f"<p>answer</p>{_lines(text, {})}"


def _lines(text: str, marks: Mapping[str, str]) -> str:
    lines = text.splitlines()
    shown = []
    for line in lines[:MAX_LINES]:
        kind = next((marks[mark] for mark in marks if line.startswith(mark)), "")
        shown.append(f"<span class='{kind}'>{_text(line)}</span>")
    more = f"<p>… {len(lines) - MAX_LINES:,} more lines</p>" * (len(lines) > MAX_LINES)
    return f"<pre>{''.join(shown)}</pre>{more}"


def _time(record: _Record) -> str:
    when = str(record.get("time"))
    with suppress(ValueError):
        return datetime.fromisoformat(when).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return _text(when)


def _text(value: Any) -> str:
    """As HTML, with escapes for what turns the direction of reading or acts on a reader."""
    return escape("\t".join(map(display, str(value).split("\t"))))
