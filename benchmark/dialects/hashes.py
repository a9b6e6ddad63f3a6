"""Tools that name a line by its number and a hash: pydantic-ai-backend, oh-my-pi."""

import re

from benchmark.case import Case
from benchmark.dialects.base import Arguments, Row
from benchmark.dialects.marked import Ends, Marked, Sent, mistyped
from benchmark.hunks import Hunk
from benchmark.slips import NEWLINES, ONLY_QUOTES


class Hashline(Marked):
    """pydantic-ai-backend's `hashline_edit`."""

    row = re.compile(r"(\d+:[0-9a-f]{2,})\|(.*)")

    def widen(self, hunk: Hunk) -> Hunk:
        """`insert_after` has no place above the first line, and empty text deletes."""
        top = hunk.start == hunk.stop == 0
        return hunk.down() if top else hunk.up() if hunk.new == ("",) and hunk.start else hunk

    def gap(self, rows: list[Row], at: int) -> int:
        return at - 1

    def send(self, path: str, rows: list[Row], ends: Ends, sent: Sent) -> Arguments:
        text = "\n".join(sent.lines) + sent.tail
        if isinstance(ends, int):
            line, tag = numbered(rows[ends - 1])
            more: Arguments = {"insert_after": True}
        else:
            (line, tag), (last, end) = (numbered(rows[at]) for at in ends)
            more = {"end_line": last, "end_hash": end} if ends[0] != ends[1] else {}
        return {"path": path, "start_line": line, "start_hash": tag, "new_content": text, **more}


class OhMyPi(Marked):
    """oh-my-pi's patches: a tag for the file, numbers for lines; body rows, so no final newline."""

    row = re.compile(r"^\*?\s*(\d+):(.*)")
    as_meant = ONLY_QUOTES | NEWLINES

    def call(self, case: Case, path: str, read: str) -> Arguments | None:
        header = re.search(r"^\[.*#(\w+)\]", read)
        self.tag = header[1] if header else ""
        sent = super().call(case, path, read)
        if sent and case.kind == "mistyped" and case.dice.random() < 0.5:
            case.kind = "clean"  # the slip is in the tag then, not in the number
            sent = super().call(case, path, read)
            case.kind = "mistyped"
            if sent:
                sent["patch"] = sent["patch"].replace(
                    f"#{self.tag}]", f"#{mistyped(case, self.tag)}]", 1
                )
        return sent

    def again(self, case: Case, path: str, read: str, error: str) -> Arguments | None:
        if header := re.search(r"#([0-9A-Fa-f]{4})\]", error):
            self.tag = header[1]
        return super().again(case, path, read, error)

    def send(self, path: str, rows: list[Row], ends: Ends, sent: Sent) -> Arguments:
        lines = sent.lines
        if isinstance(ends, int):
            at = f"<{rows[ends].mark}" if ends < len(rows) else ">$"
            order = f"PUT {at}:"
        else:
            order = f"{'PUT' if lines else 'CUT'} {rows[ends[0]].mark}.={rows[ends[1]].mark}"
            order += ":" * bool(lines)
        body = [f"+{line}" for line in lines]
        return {"path": path, "patch": "\n".join([f"[{path}#{self.tag}]", order, *body])}


def numbered(row: Row) -> tuple[int, str]:
    number, _, tag = (row.mark or "0:").partition(":")
    return int(number), tag
