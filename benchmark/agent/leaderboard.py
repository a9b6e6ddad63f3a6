"""The results as one HTML page without anything from elsewhere."""

from collections.abc import Sequence
from html import escape

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
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{padding:.35rem .6rem;text-align:right}
th:first-child,td:first-child{text-align:left}tr+tr{border-top:1px solid #8884}
.bar{height:.5rem;background:#2a7de1;border-radius:.25rem}@media(prefers-color-scheme:dark)
{body{background:#15171a;color:#e6e6e6}}"""


def row(one: Standing) -> str:
    cells = [
        f"{escape(one.contender)}<div class=bar style='width:{100 * one.solved:.1f}%'></div>",
        str(one.runs), f"{100 * one.solved:.1f} %", f"{100 * one.low:.1f} to {100 * one.high:.1f}",
        f"{one.calls:.1f}", f"{one.refused:.2f}", f"{one.input:,.0f}", f"{one.output:,.0f}",
        f"{one.seconds:.1f}", f"{one.cost:.2f}",
    ]  # fmt: skip
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def page(title: str, board: Sequence[Standing], records: Sequence[Record]) -> str:
    """Standings, then how far the first is before each of the others, on tasks that both tried."""
    head = "".join(f"<th>{column}</th>" for column in COLUMNS)
    gaps = []
    for other in board[1:]:
        gap, low, high = (100 * x for x in difference(records, board[0].contender, other.contender))
        names = f"{escape(board[0].contender)} before {escape(other.contender)}"
        gaps.append(f"<li>{names}: {gap:+.1f} points (95 %: {low:+.1f} to {high:+.1f})</li>")
    body = f"<h1>{escape(title)}</h1><table><tr>{head}</tr>{''.join(map(row, board))}</table>"
    meta = f"<meta charset=utf-8><title>{escape(title)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang=en>{meta}{body}<ul>{''.join(gaps)}</ul></html>\n"


def table(board: Sequence[Standing]) -> str:
    rows = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for one in board:
        share = f"{100 * one.solved:.1f} % | {100 * one.low:.1f} to {100 * one.high:.1f}"
        means = f"{one.calls:.1f} | {one.refused:.2f} | {one.input:,.0f} | {one.output:,.0f}"
        ends = f"{one.seconds:.1f} | {one.cost:.2f}"
        rows.append(f"| {one.contender} | {one.runs} | {share} | {means} | {ends} |")
    return "\n".join(rows) + "\n"
