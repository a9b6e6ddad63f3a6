"""One case through one pack, scored byte by byte; if it was refused, once more by its error."""

from itertools import count
from pathlib import Path
from typing import Any

from benchmark.dialects.base import Dialect
from benchmark.hunks import Hunk
from benchmark.packs import WARNED
from benchmark.running import OwnTools, PeerTools
from benchmark.shapes import SHAPES
from benchmark.slips import NO_RETRY, Case, make

Record = dict[str, Any]
NUMBERS = count(1)


def play(
    tools: OwnTools | PeerTools, dialect: Dialect, root: Path, hunk: Hunk, kind: str
) -> Record:
    """What became of it: `outcome` is applied, refused, corrupted, warned or absent.

    absent: the slip cannot happen to this hunk. retry: whether the second call did what was meant.
    """
    shape = SHAPES.get(kind)
    case = make(dialect.widen(hunk), "clean" if shape else kind, quoting=dialect.quoting)
    record: Record = {"hunk": hunk.name, "kind": kind}
    if case is None:
        return record | {"outcome": "absent"}
    path = root / f"{next(NUMBERS)}{Path(hunk.path).suffix}"  # a new name: nobody knows its lines
    path.write_bytes(case.shown.encode())
    try:
        read = tools.read(path.name)
        call = dialect.call(case, path.name, read)
        if call is None or (shape and shape(call) == call):
            return record | {"outcome": "absent"}
        call = shape(call) if shape else call
        path.write_bytes(case.disk.encode())
        ok, text = tools.edit(call)
        after = path.read_bytes().decode("utf-8", "surrogateescape")
        outcome = judged(case, ok, text, after)
        record |= {"outcome": outcome}
        if outcome == "refused" and not shape and kind not in NO_RETRY:
            record["retry"] = retried(tools, dialect, case, path, (read, text))
    finally:
        path.unlink(missing_ok=True)
    return record


def judged(case: Case, ok: bool, text: str, after: str) -> str:
    if after == case.meant:
        return "applied"
    if not ok and after == case.disk:
        return "refused"
    return "warned" if ok and warned(text) else "corrupted"


def warned(text: str) -> bool:
    """What the tool says itself; lines of the file or of a diff in its answer are no warning."""
    own = (line for line in text.split("\n") if line[:1] not in {"+", "-", " ", "[", "@"})
    return any(WARNED.search(line) for line in own)


def retried(
    tools: OwnTools | PeerTools, dialect: Dialect, case: Case, path: Path, told: tuple[str, str]
) -> bool:
    """told: what the read said, and the error."""
    call = dialect.again(case, path.name, *told)
    if call is None:
        return False
    tools.edit(call)
    meant = case.again[1].replace("\r\n", "\n").replace("\n", case.ending)
    return path.read_bytes().decode("utf-8", "surrogateescape") == meant
