"""Recorded calls through a tool, and how what it left differs from what the harness left."""

import ast
import json
from collections import Counter
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from benchmark.calls.form import Call
from benchmark.case import Case
from benchmark.dialects.base import Arguments, Dialect
from benchmark.dialects.quotes import Blocks, Patch, Quotes
from benchmark.hunks import Hunk
from benchmark.running import OwnTools, PeerTools

Record = dict[str, Any]
NUMBERS = count(1)


def parses(path: str, text: str) -> bool | None:
    """Whether it is Python or JSON that parses; None for other files."""
    try:
        if path.endswith((".py", ".pyi")):
            ast.parse(text)
        elif path.endswith(".json"):
            json.loads(text)
        else:
            return None
    except (SyntaxError, ValueError):
        return False
    return True


def replay(tools: OwnTools | PeerTools, dialect: Dialect, root: Path, call: Call) -> Record | None:
    """The call after a read of the file; what the tool made of it, beside what is recorded.

    None where the call cannot be said in this dialect.
    """
    file = root / f"{next(NUMBERS)}{Path(call.path).suffix}"
    file.write_bytes(call.before.encode())
    try:
        sent = said(dialect, call, file.name, tools.read(file.name))
        if sent is None:
            return None
        ok, _ = tools.edit(sent)
        after = file.read_bytes().decode("utf-8", "surrogateescape")
    finally:
        file.unlink(missing_ok=True)
    return {"call": call.id, "source": call.source} | compared(call, ok, after)


def said(dialect: Dialect, call: Call, path: str, read: str) -> Arguments | None:
    """The arguments of the call in a dialect."""
    hunk = Hunk(call.id, call.source, call.path, call.before, 0, 0, ())
    old, new = call.quoted.split("\n"), call.new.split("\n")
    case = Case("clean", hunk, call.before, call.before, call.after, old, new, quoting=True)
    if isinstance(dialect, Quotes):
        whole = "" not in {call.quoted.strip(), call.new} or not isinstance(dialect, Blocks | Patch)
        return dialect.send(path, case) if whole else None
    if call.hunk is None:
        return None
    wide = dialect.widen(call.hunk)
    return dialect.call(replace(case, hunk=wide, new=[*wide.new]), path, read)


def compared(call: Call, ok: bool, after: str) -> Record:
    """`outcome` is same, refused, rescued (the harness refused), different or unknown."""
    meant = call.after
    changed = after != call.before
    if not ok and not changed:
        outcome = "refused" if call.ok or (call.ok is None and meant) else "refused, too"
    elif after == meant:
        outcome = "same"
    elif call.ok is False:
        outcome = "rescued"
    else:
        outcome = "different" if meant is not None else "unknown"
    return {
        "outcome": outcome,
        "parsed": parses(call.path, call.before),
        "parses": parses(call.path, after),
        "duplicated": twins(after) > max(twins(call.before), twins(meant or "")),
        "reindented": meant not in {None, after} and bare(after) == bare(meant or ""),
    }


def twins(text: str) -> int:
    """Lines with text that stand twice in a row."""
    lines = [line for line in text.split("\n") if line.strip()]
    return sum(upper == lower for upper, lower in pairwise(lines))


def bare(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n")]


def table(records: dict[str, list[Record]]) -> str:
    """One row a tool."""
    outcomes = ("same", "refused", "refused, too", "rescued", "different", "unknown")
    names = [*outcomes, "no longer parses", "duplicated", "re-indented"]
    rows = [f"| tool | calls | {' | '.join(names)} |", "|---" * (len(names) + 2) + "|"]
    for tool, every in records.items():
        counts = Counter(record["outcome"] for record in every)
        broken = sum(bool(r["parsed"]) and r["parses"] is False for r in every)
        slips = [sum(r[name] for r in every) for name in ("duplicated", "reindented")]
        cells = [len(every), *(counts[name] for name in outcomes), broken, *slips]
        rows.append(f"| {tool} | {' | '.join(map(str, cells))} |")
    return "\n".join(rows) + "\n"
