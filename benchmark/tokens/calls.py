"""What a model writes to change lines, in every dialect: the arguments of one call, as JSON."""

import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmark.environments import Missing
from benchmark.hunks import Hunk
from benchmark.packs import Own, Peer
from benchmark.running import started
from benchmark.slips import make

SIZES = (1, 10, 100)  # changed lines


def changed(count: int) -> Hunk:
    """So many lines in the middle of a long module are all changed a little."""
    lines = Path(statistics.__file__).read_text().split("\n")[:800]
    filled = [n for n in range(300, 700) if lines[n].strip()]
    start, stop = filled[0], filled[count - 1] + 1
    new = tuple(line.replace("a", "the_other", 1) for line in lines[start:stop])
    text = "\n".join(lines) + "\n"
    return Hunk(f"{count} lines", "statistics", "a.py", text, start, stop, new, (start, stop))


def sent(pack: Own | Peer, hunks: Sequence[Hunk]) -> Iterator[tuple[str, str, int]]:
    """(hunk, arguments, lines of the read) of the call that means each hunk."""
    dialect = pack.make()
    with tempfile.TemporaryDirectory() as folder, started(pack, Path(folder).resolve()) as tools:
        for number, hunk in enumerate(hunks):
            path = Path(folder, f"{number}{Path(hunk.path).suffix}")
            path.write_bytes(hunk.before.encode())
            case = make(dialect.widen(hunk), "clean", quoting=dialect.quoting)
            call = case and dialect.call(case, path.name, tools.read(path.name))
            if call:
                said = json.dumps(call, ensure_ascii=False, separators=(",", ":"))
                yield hunk.name, said, hunk.before.count("\n")


def all_sent(packs: Sequence[Own | Peer], hunks: Sequence[Hunk]) -> dict[str, dict[str, str]]:
    """Arguments by pack and hunk; a pack that is missing has none."""
    told: dict[str, dict[str, str]] = {}
    for pack in packs:
        try:
            told[pack.name] = {name: said for name, said, _ in sent(pack, hunks)}
        except Missing:
            continue
    return told
