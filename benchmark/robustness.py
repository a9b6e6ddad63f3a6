"""Real edits through every edit protocol, under slips such as models make.

python -m benchmark robustness [--hunks FILE ... | --own N] [--only NAME ...] [--out FOLDER]
Results go to FOLDER/robustness.jsonl, one line a call; what is there is not run again.
"""

import argparse
import os
import random
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from benchmark import fresh, further
from benchmark.environments import Missing
from benchmark.hunks import Hunk, from_rows
from benchmark.mine import OWN, own
from benchmark.packs import EVERY, Own, Peer
from benchmark.playing import play
from benchmark.report import write
from benchmark.results import Progress, Results
from benchmark.running import started
from benchmark.shapes import SHAPES
from benchmark.slips import BESIDE, KINDS, MIX

ROOT = Path(__file__).parents[1]
FAST = "/dev/shm" if os.path.isdir("/dev/shm") else None
CASES = Path(os.environ.get("FSAGENT_CASES", ROOT / "../shared/cases"))
SAMPLE = (ROOT / "tests/conformance/cases/real_edits.jsonl", CASES / "real_edits.jsonl")
QUICK = 12  # hunks


def chosen(files: Iterable[Path], most: int | None) -> list[Hunk]:
    """The hunks of all files, or a sample of them that is the same each time."""
    hunks = {hunk.name: hunk for file in files if file.is_file() for hunk in from_rows(file)}
    every = list(hunks.values())
    return every if most is None else random.Random(1).sample(every, min(most, len(every)))


def run(
    pack: Own | Peer, hunks: list[Hunk], results: Results, kinds: Iterable[str] = KINDS
) -> None:
    """Every slip on every hunk, through one pack."""
    dialect = pack.make()
    todo = [
        (hunk, kind)
        for kind in kinds
        for hunk in hunks
        if kind not in dialect.as_meant
        and not (kind in SHAPES and pack.one_text)
        and (pack.name, hunk.name, kind) not in results
    ]
    if not todo:
        return
    progress = Progress(pack.name, len(todo))
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        root = Path(folder).resolve()
        with started(pack, root) as tools:
            for hunk, kind in todo:
                results.add({"pack": pack.name} | play(tools, dialect, root, hunk, kind))
                progress.step()


def parsed(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmark robustness", description=__doc__)
    parser.add_argument("--hunks", nargs="+", type=Path, help="files that `mine` wrote")
    parser.add_argument(
        "--own", type=int, metavar="N", help="N hunks of this project's history, the same each time"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the order of commits for --own (1)")
    parser.add_argument("--commits", default=OWN, metavar="A..B", help="which --own mines")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} hunks, ours alone")
    parser.add_argument("--most", type=int, help="a sample of so many hunks")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="packs whose name has this in it")
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    return parser.parse_args(words)


def main(words: list[str]) -> None:
    options = parsed(words)
    most = QUICK if options.quick else options.most
    hunks = (
        own(options.own, options.seed, options.commits)
        if options.own
        else chosen(options.hunks or SAMPLE, most)
    )
    wanted = options.only or ([pack.name for pack in EVERY if pack.ours] if options.quick else [""])
    packs = [pack for pack in EVERY if any(word in pack.name for word in wanted)]
    if not hunks:
        raise SystemExit("There are no hunks: --hunks names files of `bench mine` or `releases`.")
    if not packs:
        names = ", ".join(pack.name for pack in EVERY)
        raise SystemExit(f"No pack has {wanted} in its name. There are: {names}.")
    results = Results(options.out / "robustness.jsonl", "pack", "hunk", "kind")
    missing: dict[str, str] = {}
    try:
        for kinds in (
            MIX,
            BESIDE,
            fresh.SLIPS,
            further.SLIPS,
            fresh.RANGE,
            SHAPES,
        ):  # decisive first
            for pack in packs:
                try:
                    run(pack, hunks, results, kinds)
                except Missing as reason:
                    missing[pack.name] = str(reason)
    finally:
        results.close()
    with suppress(BrokenPipeError):
        print(write(options.out, packs, hunks, results, missing))
