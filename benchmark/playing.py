"""One case through one pack, scored byte by byte; if it was refused, once more by its error."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmark.case import Case
from benchmark.dialects.base import Dialect
from benchmark.hunks import Hunk
from benchmark.packs import WARNED
from benchmark.running import OwnTools, PeerTools
from benchmark.shapes import SHAPES
from benchmark.slips import NO_RETRY, make

Record = dict[str, Any]


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
    name = sha256(f"{hunk.name} {kind}".encode()).hexdigest()[:12]  # nobody knows its lines
    path = root / f"{name}{Path(hunk.path).suffix}"
    target = path.with_name(f"equal-{path.name}") if case.sibling else path
    for file in (path, target):
        file.write_bytes(case.shown.encode())
    try:
        read = tools.read(path.name)
        if not prepared(tools, dialect, case, (path, target), read):
            return record | {"outcome": "absent"}
        call = dialect.call(case, target.name, read)
        if call is None or (shape and shape(call) == call):
            return record | {"outcome": "absent"}
        call = shape(call) if shape else call
        if not case.first:
            target.write_bytes(case.disk.encode())
        ok, text = tools.edit(call)
        if case.twice and ok:
            case.disk = case.meant or ""
            ok, text = tools.edit(call)
        after = target.read_bytes().decode("utf-8", "surrogateescape")
        record["outcome"] = judged(case, ok, text, after)
        if record["outcome"] == "refused" and not shape and kind not in NO_RETRY:
            record["retry"] = retried(tools, dialect, case, path, (read, text))
    finally:
        path.unlink(missing_ok=True)
        target.unlink(missing_ok=True)
    return record


def prepared(
    tools: OwnTools | PeerTools, dialect: Dialect, case: Case, files: tuple[Path, Path], read: str
) -> bool:
    """What comes before the call, in the same session; False where it fails.

    files: the one that was read, and the one that is named in the call.
    """
    path, target = files
    if case.sibling == "read":
        tools.read(target.name)
    if case.other:
        other = path.with_name(f"other-{path.name}")
        other.write_text(case.other, encoding="utf-8")
        case.other_read = tools.read(other.name)
        other.unlink()
    if case.first:
        before = make(dialect.widen(case.first), "clean", quoting=dialect.quoting)
        call = dialect.call(before, path.name, read) if before else None
        done = call is not None and tools.edit(call)[0]
        case.disk = path.read_bytes().decode("utf-8", "surrogateescape")
        return done and case.disk == case.first.meant
    return True


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
