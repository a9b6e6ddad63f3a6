"""`edit_lines`: IDs in three styles, with or without the first words of their line behind them."""

import re

from benchmark.case import Case
from benchmark.dialects.base import Arguments, Row
from benchmark.dialects.marked import Ends, Marked, Sent
from benchmark.hunks import Hunk

STYLES = {
    "tag": re.compile(r"^(?:[ +])?\[LID:([0-9a-f]{6})\] (.*)"),
    "words": re.compile(r"^(?:[ +])?([a-z]{3}(?:\.[a-z]{3})*)\t(.*)"),
}


class Ids(Marked):
    """words: quote the first two words of each line; the style `words` asks for them."""

    def __init__(self, style: str, *, words: bool) -> None:
        self.style, self.words, self.row = style, words, STYLES[style]

    several = True

    def widen(self, hunk: Hunk) -> Hunk:
        return hunk.addressed()

    def rows(self, shown: str) -> list[Row]:
        rows = super().rows(shown)
        if self.style != "words" or len(rows) == shown.count("\n") + 1:
            return rows
        every = [self.row.search(line) for line in shown.split("\n")]
        return [Row(m[1], f"{m[1]}\t", m[2]) if m else Row(None, "", "") for m in every]

    def send(self, path: str, rows: list[Row], ends: Ends, sent: Sent) -> Arguments:
        if isinstance(ends, int):
            at = self.gap(rows, ends)
            key = "before_line_id" if at == ends else "after_line_id"
            change = {key: self.name(rows[at])}
        elif ends[0] == ends[1]:
            change = {"line_id": self.name(rows[ends[0]])}
        else:
            names = [self.name(rows[at]) for at in ends]
            change = dict(zip(("start_line_id", "end_line_id"), names, strict=True))
        whole = "\n".join(sent.lines)  # an empty line at the end needs an ending to be seen
        whole += "\n" * (bool(sent.tail) or sent.lines[-1:] == [""])
        return {"file_path": path, "changes": [{**change, "new_content": whole}]}

    def call(self, case: Case, path: str, read: str) -> Arguments | None:
        call = super().call(case, path, read)
        more = super().call(case.more, path, read) if call and case.more else None
        return {**call, "changes": call["changes"] + more["changes"]} if call and more else call

    def again(self, case: Case, path: str, read: str, error: str) -> Arguments | None:
        """What an error asks to be quoted is quoted; of two lines that it names, the one meant."""
        call = super().again(case, path, read, error)
        asked = re.search(r"(?:behind the ID|right, the second):\n(.*)\n?(.*)", error)
        if call and asked:
            change = call["changes"][0]
            key = next(iter(change))
            mark = change[key].partition(" ")[0] + " "
            named = (one for one in asked.groups() if one.startswith(mark))
            change[key] = next(named, change[key])
        return call

    def name(self, row: Row) -> str:
        words = " ".join(row.text.split()[:2]) if self.words else ""
        return f"{row.mark} {words}".strip()
