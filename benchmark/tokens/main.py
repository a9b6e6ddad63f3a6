"""python -m benchmark tokens [--hunks FILE ...] [--quick]: what it costs to define, read, edit.

Writes tokens.jsonl (one number a line) and tokens.md.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmark.packs import EVERY, Own, Peer
from benchmark.results import Record, Results, machine
from benchmark.robustness import SAMPLE, chosen
from benchmark.tokens import definitions
from benchmark.tokens.calls import SIZES, all_sent, changed
from benchmark.tokens.counting import counted
from benchmark.tokens.reads import files, shown

Texts = Mapping[str, Sequence[str]]


def totals(texts: Texts, *, quick: bool) -> dict[str, dict[str, int]]:
    """By tokenizer and name, the tokens of all its texts."""
    flat = [text for each in texts.values() for text in each]
    found: dict[str, dict[str, int]] = {}
    for tokenizer, counts in counted(flat, quick=quick).items():
        rest = iter(counts)
        found[tokenizer] = {name: sum(next(rest) for _ in each) for name, each in texts.items()}
    return found


def rows(packs: Sequence[Own | Peer], quick: bool, hunks: Sequence[Path]) -> Iterator[Record]:
    """All figures: what, name, tokenizer, tokens."""
    defined = definitions.ours() | definitions.theirs(packs)
    yield from told(
        "definitions", totals({name: [text] for name, text in defined.items()}, quick=quick)
    )
    reads = shown(packs, files(8 if quick else 40))
    lines = sum(text.count("\n") + 1 for text in reads["bare"])
    for tokenizer, counts in totals(reads, quick=quick).items():
        bare = counts.pop("bare")
        more = {name: (count - bare) / lines for name, count in counts.items()}
        yield from told("read, a line more than bare", {tokenizer: more})
    every = [changed(count) for count in SIZES]
    for hunk, said in by_hunk(all_sent(packs, every)).items():
        yield from told(f"call, {hunk}", totals(said, quick=quick))
    real = chosen(hunks or SAMPLE, 20 if quick else 300)
    said = shared(all_sent(packs, real))
    count = max(map(len, said.values()), default=0)
    for tokenizer, counts in totals(said, quick=quick).items():
        mean = {name: tokens / max(1, count) for name, tokens in counts.items()}
        yield from told(f"call, mean of {count} real hunks", {tokenizer: mean})


def shared(sent: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """What each pack says of the hunks that all of them can say: other means cannot be compared."""
    names = set.intersection(*map(set, sent.values())) if sent else set()
    return {pack: [each[name] for name in sorted(names)] for pack, each in sent.items()}


def by_hunk(sent: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for pack, each in sent.items():
        for hunk, text in each.items():
            found.setdefault(hunk, {})[pack] = [text]
    return found


def told(what: str, counts: Mapping[str, Mapping[str, float]]) -> Iterator[Record]:
    for tokenizer, by_name in counts.items():
        for name, count in by_name.items():
            yield {"what": what, "name": name, "tokenizer": tokenizer, "tokens": round(count, 3)}


def table(records: Sequence[Record]) -> str:
    """A table for each kind of figure: names down, tokenizers across."""
    parts = []
    for what in dict.fromkeys(record["what"] for record in records):
        some = [record for record in records if record["what"] == what]
        tokenizers = [*dict.fromkeys(record["tokenizer"] for record in some)]
        cells = {(r["name"], r["tokenizer"]): f"{r['tokens']:,.4g}" for r in some}
        parts.append(
            f"**{what}**\n\n| | {' | '.join(tokenizers)} |\n" + "|---" * (len(tokenizers) + 1) + "|"
        )
        for name in dict.fromkeys(record["name"] for record in some):
            row = " | ".join(cells.get((name, one), "") for one in tokenizers)
            parts[-1] += f"\n| {name} | {row} |"
    return "\n\n".join(parts) + "\n"


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmark tokens", description=__doc__)
    parser.add_argument("--hunks", nargs="+", type=Path, default=[])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="packs whose name has this in it")
    parser.add_argument("--quick", action="store_true", help="few files, ours alone")
    parser.add_argument("--out", type=Path, default=Path("bench-results"))
    options = parser.parse_args(words)
    some = [p for p in EVERY if not options.only or any(w in p.name for w in options.only)]
    packs = [pack for pack in some if pack.ours or options.only or not options.quick]
    (options.out / "tokens.jsonl").unlink(missing_ok=True)
    results = Results(options.out / "tokens.jsonl", "what", "name", "tokenizer")
    for record in rows(packs, options.quick, options.hunks):
        results.add(record)
    results.close()
    text = f"{machine()}\n\n{table([*results])}"
    (options.out / "tokens.md").write_text(text)
    print(text)
