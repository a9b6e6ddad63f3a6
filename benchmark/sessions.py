"""Long sessions: a model edits two files 50 times, and goes by what it was shown.

python -m benchmark sessions [--quick] [--count N] [--seed N] [--only NAME ...] [--out FOLDER]
Results go to FOLDER/sessions.jsonl, one line a session. Every second session has others at work: a
formatter and a colleague after every tenth edit. Files are those of this project's history.
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from benchmark.desk import Desk, Line, Memory
from benchmark.environments import Missing
from benchmark.mine import own
from benchmark.packs import EVERY, OURS, Own, Peer
from benchmark.results import Progress, Record, Results, machine
from benchmark.robustness import FAST
from benchmark.running import OwnTools, PeerTools, started

EDITS = 50  # in one session, of two files
OTHERS = 10  # edits between what others do
LONG = 120, 1_000  # lines of a file
NAMES = (*(pack.name for pack in OURS), "deepagents edit_file")
HEADER = (
    "| tool | edits | refused | of these needless | over own edits, of these refused | re-reads "
    "| wrong bytes | characters sent, answered |"
)


@cache
def texts(count: int, seed: int) -> list[tuple[str, str]]:
    """Path and content of files that are long enough, each of another path."""
    least, most = LONG
    found: dict[str, str] = {}
    for hunk in own(count * 40, seed):
        if least <= hunk.before.count("\n") <= most and hunk.path.endswith((".py", ".md")):
            found.setdefault(hunk.path, hunk.before)
    return [*found.items()][:count]


def session(
    tools: OwnTools | PeerTools, pack: Own | Peer, root: Path, number: int, seed: int
) -> Record:
    """One session; what became of its edits."""
    dice = random.Random(f"{seed} {number}")
    others = bool(number % 2)
    desks = []
    for part, (path, text) in enumerate(texts(2, seed * 1_000 + number)):
        place = root / f"{number}-{part}{Path(path).suffix}"
        place.write_text(text, encoding="utf-8")
        desks.append(Desk(tools, pack.make(), place, text))
    counts = Counter[str]()
    for turn in range(1, EDITS + 1):
        desk = dice.choice(desks)
        counts.update(edited(desk, dice, turn))
        if others and turn % OTHERS == 0:
            at_work(desk, dice, turn)
    for desk in desks:
        counts.update(desk.counts)
        desk.path.unlink()
    return {"pack": pack.name, "session": number, "seed": seed, "others": others, **counts}


def edited(desk: Desk, dice: random.Random, turn: int) -> Iterator[str]:
    """One edit; yields what is to be counted."""
    over = desk.memory.last is not None and dice.random() < 0.25
    start, stop = place(desk.memory, dice, over)
    new = lines(desk, dice, turn, start, stop)
    yield "edits"
    if over:
        yield "over"
    outcome = desk.edit(start, stop, new)
    if outcome == "applied":
        return
    yield outcome
    if outcome == "needless":
        yield "refused"
        if over:
            yield "over refused"
    desk.read()


def place(memory: Memory, dice: random.Random, over: bool) -> tuple[int, int]:
    """Lines `start` to `stop` of what the model knows; the same twice: it inserts."""
    count, last = len(memory.lines), memory.last
    if over and last:
        first, end = max(0, last[0] - dice.randint(0, 3)), min(count, last[1] + dice.randint(0, 3))
        return first, max(end, min(first + 1, count))
    near = last is not None and dice.random() < 0.35
    low, high = (max(0, last[0] - 8), min(count, last[1] + 8)) if near and last else (0, count)
    start = dice.randrange(low, max(low + 1, high - 1))
    return start, min(count, start + dice.choice([0, 1, 1, 1, 2, 3, 5]))


def lines(desk: Desk, dice: random.Random, turn: int, start: int, stop: int) -> list[str]:
    """New text of which nobody can say that it stands there already, or is out of its place.

    A part of them is deleted, where what is left can still be parsed.
    """
    old = [line.text for line in desk.memory.lines[start:stop]]
    if old and dice.random() < 0.2 and desk.parses(start, stop, []):
        return []
    changed = [desk.renamed(text, turn) for text in old]
    depth = desk.depth(start)
    remark = [f"{depth}# remark {turn} {n}" for n in range(dice.randint(1, 3))]
    for new in ([*changed, *remark], changed):
        if new and new != old and desk.parses(start, stop, new):
            return new
    return [*old, *remark]


def at_work(desk: Desk, dice: random.Random, turn: int) -> None:
    """A formatter, and a colleague who renames, inserts and deletes a line."""
    now = [
        Line(x.text.replace("'", '"')) if x.text.count("'") == 2 and '"' not in x.text else x
        for x in desk.truth
    ]
    filled = [n for n, line in enumerate(now) if len(line.text.strip()) > 5]
    renamed, above = dice.sample(filled, 2)
    text = now[renamed].text
    bare = text.lstrip()
    now[renamed] = Line(f"{text[: len(text) - len(bare)]}other_{bare}")
    now.insert(above, Line(f"# a colleague was here {turn}"))
    del now[dice.choice([n for n in filled if n != renamed and n < len(now) - 1])]
    desk.replaced(now)


def played(packs: Sequence[Own | Peer], count: int, seed: int, results: Results) -> dict[str, str]:
    """Every session that is not there yet; returns which packs are missing, and why."""
    missing: dict[str, str] = {}
    for pack in packs:
        todo = [n for n in range(count) if (pack.name, n, seed) not in results]
        progress = Progress(pack.name, len(todo))
        try:
            for number in todo:
                with tempfile.TemporaryDirectory(dir=FAST) as folder:
                    root = Path(folder).resolve()
                    with started(pack, root) as tools:
                        results.add(session(tools, pack, root, number, seed))
                progress.step()
        except Missing as reason:
            missing[pack.name] = str(reason)
    return missing


def table(records: Iterable[Record], missing: dict[str, str]) -> str:
    """Sessions alone, then those with others at work."""
    every = [*records]
    parts = [machine()]
    for others, title in ((False, "Nobody else writes:"), (True, "Others write, too:")):
        rows = [HEADER, "|---" * 8 + "|"]
        for name in dict.fromkeys(record["pack"] for record in every):
            sums = Counter[str]()
            for record in every:
                if record["pack"] == name and record["others"] == others:
                    sums.update({k: v for k, v in record.items() if type(v) is int})
            over = f"{sums['over']}, {sums['over refused']}"
            cells = [sums["edits"], sums["refused"], sums["needless"], over, sums["reads"]]
            size = f"{sums['sent']:,}, {sums['answered']:,}"
            rows.append("| " + " | ".join(map(str, [name, *cells, sums["wrong"], size])) + " |")
        parts += [title, "\n".join(rows)]
    parts += [f"{name} is missing: {reason}" for name, reason in missing.items()]
    return "\n\n".join(parts) + "\n"


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmark sessions", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two sessions, ours alone")
    parser.add_argument("--count", type=int, default=20, help="sessions of each pack (20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="packs whose name has this in it")
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    options = parser.parse_args(words)
    wanted = options.only or ([pack.name for pack in OURS] if options.quick else NAMES)
    packs = [pack for pack in EVERY if any(word in pack.name for word in wanted)]
    results = Results(options.out / "sessions.jsonl", "pack", "session", "seed")
    missing = played(packs, 2 if options.quick else options.count, options.seed, results)
    results.close()
    text = table(results, missing)
    (options.out / "sessions.md").write_text(text)
    with suppress(BrokenPipeError):
        print(text)
