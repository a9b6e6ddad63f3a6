"""The results as one HTML page without anything from elsewhere."""

from collections import defaultdict
from collections.abc import Sequence
from html import escape

from benchmark.agent.mutations import example
from benchmark.agent.standings import Record, Standing, difference

COLUMNS = (
    "tools",
    "runs",
    "solved",
    "95 %",
    "calls",
    "refused",
    "tokens in",
    "tokens out",
    "s",
    "cost",
)
STYLE = """:root{color-scheme:light dark;--ink:#1c1f23;--back:#fff;--line:#d4d7db;--bar:#2a7de1;
--span:#0b3d7a}
@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--back:#15171a;--line:#3a3f45;--span:#9cc4f5}}
body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;
color:var(--ink);background:var(--back)}h2{font-size:1.1rem;margin-top:2rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
th,td{padding:.35rem .6rem;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left}tr+tr{border-top:1px solid var(--line)}
.share{position:relative;height:.5rem;min-width:8rem;background:var(--line)}
.share i,.share b{position:absolute;left:0;top:0;height:100%;background:var(--bar)}
.share b{height:2px;top:.2rem;background:var(--span)}.sure{font-weight:600}
.kind{font-size:.85em;opacity:.75}"""
BUG = "Each <strong>task</strong> is this repository with one small bug: one line was changed. "
EDITS = (
    "Each <strong>task</strong> is an edit of a real package. A script made it, and has solved it, "
    "too. The agent has solved it when a check of its kind says so: the code as a syntax tree, and "
    "a program that imports and calls it; no other file may differ."
)
BYTES = (
    "The agent is told the file, roughly where in it, and what sort of bug. It has solved the task "
    "when every file is byte for byte as it was before the bug."
)
TESTS = (
    "The agent is told only which tests fail: <code>{}</code>. It has solved the task when they "
    "pass, and every file whose path contains &quot;test&quot; is unchanged."
)
COUNTS = (
    "A <strong>run</strong> is one agent's attempt at one task with the tools of its row. With "
    "<code>tag</code>, <code>short</code> and <code>words</code> it edits by line ID, in one of "
    "three styles; with <code>compact</code>, <code>file_ops</code> and <code>filesystem</code> "
    "it quotes the old text; <code>deepagents</code> are the tools of that package. Calls, "
    "refused calls, tokens and seconds are means of a run; the cost is that of all runs."
)
EDITED = "A cell has the share of runs that solved a task of that kind."
KINDS = (
    "The <strong>kind</strong> of a task says how its line was changed. Below each kind stands an "
    "example: a line as it should be, and with the bug. A cell has the share of runs that solved "
    "a task of that kind."
)


def page(
    title: str,
    board: Sequence[Standing],
    records: Sequence[Record],
    tests: str = "",
    *,
    edits: bool = False,
) -> str:
    """Standings; how far each is before each other, on tasks that both tried; by kind of task.

    tests: the command that decided, where it was not the bytes. edits: tasks were no bugs.
    """
    about = EDITS if edits else BUG + (TESTS.format(escape(tests)) if tests else BYTES)
    head = "<meta charset=utf-8><meta name=viewport content='width=device-width'>"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{about}</p><p>{COUNTS}</p>",
        grid("standings", COLUMNS, [standing(one) for one in board]),
        "<h2>How many percentage points more a row solves than a column</h2>"
        "<p>Of the tasks that both tried, with 95 % intervals; bold where zero is outside.</p>",
        grid("differences", ["", *(escape(one.contender) for one in board)], gaps(board, records)),
        f"<h2>Solved, by kind of {'task' if edits else 'bug'}</h2>",
        f"<p>{EDITED if edits else KINDS}</p>",
        grid("kinds", ["", *(escape(one.contender) for one in board)], kinds(board, records)),
    ]
    style = f"<title>{escape(title)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang=en>{head}{style}{''.join(parts)}</html>\n"


def grid(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells are HTML; it scrolls where the window is narrow."""
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<div class=wide><table id={name}><tr>{top}</tr>{body}</table></div>"


def standing(one: Standing) -> list[str]:
    """The bar is what was solved, the thin one its interval."""
    bar = f"<i style='width:{100 * one.solved:.1f}%'></i>"
    place = f"left:{100 * one.low:.1f}%;width:{100 * (one.high - one.low):.1f}%"
    bars = f"<div class=share>{bar}<b style='{place}'></b></div>"
    return [f"{escape(one.contender)}{bars}", *figures(one)]


def figures(one: Standing) -> list[str]:
    return [
        str(one.runs), f"{100 * one.solved:.1f} %", f"{100 * one.low:.1f} to {100 * one.high:.1f}",
        f"{one.calls:.1f}", f"{one.refused:.2f}", f"{one.input:,.0f}", f"{one.output:,.0f}",
        f"{one.seconds:.1f}", f"{one.cost:.2f}",
    ]  # fmt: skip


def gaps(board: Sequence[Standing], records: Sequence[Record]) -> list[list[str]]:
    rows = []
    for one in board:
        cells = [escape(one.contender)]
        for other in board:
            gap, low, high = (100 * x for x in difference(records, one.contender, other.contender))
            text = f"{gap:+.1f} ({low:+.1f} to {high:+.1f})"
            sure = f"<span class=sure>{text}</span>" if low > 0 or high < 0 else text
            cells.append("" if one is other else sure)
        rows.append(cells)
    return rows


def kinds(board: Sequence[Standing], records: Sequence[Record]) -> list[list[str]]:
    found: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        found[record["kind"]][record["contender"]].append(record["solved"])
    return [
        [named(kind), *(share(found[kind][one.contender]) for one in board)]
        for kind in sorted(found)
    ]


def named(kind: str) -> str:
    """A kind of bug, and a line without and with it."""
    lines = example(kind)
    shown = lines and " → ".join(f"<code>{escape(line)}</code>" for line in lines)
    return escape(kind) + (f"<br><span class=kind>{shown}</span>" if shown else "")


def share(solved: Sequence[bool]) -> str:
    return f"{100 * sum(solved) / len(solved):.0f} % of {len(solved)}" if solved else ""


def table(board: Sequence[Standing]) -> str:
    rows = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    rows += [f"| {' | '.join([one.contender, *figures(one)])} |" for one in board]
    return "\n".join(rows) + "\n"
