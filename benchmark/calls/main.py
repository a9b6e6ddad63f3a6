"""python -m benchmark calls [FILE ...] [--import KIND FILE ...]: recorded edit calls, replayed.

FILE: recorded calls (`form.py` says the form); without one, the project's own sample of slips.
--import: trajectories of swe-agent, openhands, atif or pi; --save writes their calls to a file.
"""

import argparse
import tempfile
from itertools import islice
from pathlib import Path

from benchmark.calls.form import Call, read, write
from benchmark.calls.importers import IMPORTERS, imported
from benchmark.calls.records import Bad
from benchmark.calls.replay import Record, replay, table
from benchmark.calls.sample import calls
from benchmark.environments import Missing
from benchmark.packs import EVERY, Own, Peer
from benchmark.picture import bars
from benchmark.results import Results
from benchmark.running import started

QUICK = 60  # calls
TOLD = 20  # records that are named


def sample() -> list[Call]:
    """Calls as weak models send them; after: what was meant, None where only a refusal is right."""
    found = enumerate(calls())
    return [
        Call(f"{each.kind} {n}", "sample", "a.py", each.text, each.old, each.new, after=each.meant)
        for n, each in found
    ]


def given(options: argparse.Namespace) -> tuple[list[Call], list[str]]:
    """The calls that were asked for, and the records that could not be read, by file and place.

    A file that is not there ends it.
    """
    kind, *files = options.imports or [""]
    if options.imports and (kind not in IMPORTERS or not files):
        known = ", ".join(IMPORTERS)
        raise SystemExit(f"--import takes one of {known}, then files; not {kind!r}.")
    if missing := [str(x) for x in [*options.files, *files] if not Path(x).is_file()]:
        raise SystemExit(f"There is no file {', '.join(missing)}.")
    found: list[Call] = []
    bad: list[str] = []
    for file in map(Path, files or options.files):
        for each in imported(kind, file) if files else read(file):
            if isinstance(each, Bad):
                bad.append(f"{file}, {each}")
            else:
                found.append(each)
    every = found if files or options.files else sample()
    step = max(1, len(every) // QUICK)
    return list(islice(every, 0, None, step)) if options.quick else every, bad


def packs(only: list[str] | None, quick: bool) -> list[Own | Peer]:
    some = [pack for pack in EVERY if not only or any(word in pack.name for word in only)]
    return [pack for pack in some if pack.ours or not quick]


def skipped(bad: list[str]) -> list[str]:
    """What is said of records that could not be read; the first few by name."""
    if not bad:
        return []
    rows = [f"- {each}" for each in bad[:TOLD]]
    rows += [f"- and {len(bad) - TOLD} more"] * (len(bad) > TOLD)
    return [f"{len(bad)} records could not be read and are left out:", "\n".join(rows)]


def run(pack: Own | Peer, every: list[Call], results: Results) -> None:
    dialect = pack.make()
    todo = [call for call in every if (pack.name, call.source, call.id) not in results]
    if not todo:
        return
    with tempfile.TemporaryDirectory() as folder, started(pack, Path(folder).resolve()) as tools:
        for call in todo:
            if told := replay(tools, dialect, Path(folder), call):
                results.add({"pack": pack.name} | told)


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmark calls", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--import", dest="imports", nargs="+", metavar=("KIND", "FILE"))
    parser.add_argument("--save", type=Path, help="write the calls there")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--quick", action="store_true", help=f"some {QUICK} calls, ours alone")
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    options = parser.parse_args(words)
    every, bad = given(options)
    if options.save:
        print(f"{write(options.save, every)} calls in {options.save}")
    results = Results(options.out / "calls.jsonl", "pack", "source", "call")
    missing = {}
    for pack in packs(options.only, options.quick):
        try:
            run(pack, every, results)
        except Missing as reason:
            missing[pack.name] = f"- {pack.name}: missing, {reason}"
    results.close()
    keys = {(call.source, call.id) for call in every}
    by_pack: dict[str, list[Record]] = {}
    for record in results:
        if (record["source"], record["call"]) in keys:
            by_pack.setdefault(record["pack"], []).append(record)
    parts = [f"{len(every)} calls.", *skipped(bad), table(by_pack), "\n".join(missing.values())]
    text = "\n\n".join(filter(None, parts))
    wrong = [
        (name, 100 * sum(r["outcome"] in {"different", "unknown"} for r in rs) / len(rs))
        for name, rs in by_pack.items()
    ]
    (options.out / "calls.md").write_text(text)
    (options.out / "calls.svg").write_text(bars("Neither as recorded nor refused, of 100", wrong))
    print(text)
