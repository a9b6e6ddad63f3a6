"""The table and the picture of a run of `robustness`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmark import fresh, further
from benchmark.hunks import Hunk
from benchmark.packs import Own, Peer
from benchmark.picture import bars
from benchmark.results import Record, machine
from benchmark.scoring import Score, pairs, score
from benchmark.shapes import SHAPES
from benchmark.slips import ALIKE, EVERY_SLIP, KNOWN, MIX, UNTOLD, WIDE

Packs = Sequence[Own | Peer]
GROUPS = {
    "known": [kind for kind in KNOWN if kind not in {"clean", *UNTOLD}],
    "fresh": [*fresh.SLIPS],
    "further": [*further.SLIPS],
    "range": UNTOLD,
}
HEADER = "| tool | silently wrong | wrong but warned | applied | refused | repaired by the error |"


def write(
    out: Path,
    packs: Packs,
    hunks: Sequence[Hunk],
    records: Iterable[Record],
    missing: Mapping[str, str],
) -> str:
    """Write robustness.md and robustness.svg into `out`; returns the first."""
    names = {hunk.name: hunk for hunk in hunks}
    every = [record for record in records if record["hunk"] in names]
    by_pack = {pack.name: [r for r in every if r["pack"] == pack.name] for pack in packs}
    shared = pairs(hunks)
    known = [pack for pack in packs if by_pack[pack.name]]

    def scored(mix: Mapping[str, float]) -> list[Score]:
        return [score(p.name, p.make(), by_pack[p.name], shared, mix) for p in known]

    scores = scored(MIX)
    own = {pack.name for pack in packs if pack.ours}
    parts = [
        f"{origin(hunks)} {machine()}",
        "Losses of ours, by the share of the mix that goes wrong without a word:",
        losses([one for one in scores if one.name in own]),
        table(scores, missing),
        f"The same with {len(ALIKE)} kinds of slips alike in place of the mix's 14:",
        table(scored(WIDE), {}),
        f"And with all {len(ALIKE) + len(further.SLIPS)} kinds:",
        table(scored(EVERY_SLIP), {}),
        "Slips alone, all of a group alike, silently wrong / warned / applied of 100 calls:",
        groups({name: scored(dict.fromkeys(some, 1.0)) for name, some in GROUPS.items()}),
        "Each slip, silently wrong / applied of 100 calls (`-`: cannot happen, sent as meant):",
        *(kinds(scores, some) for some in GROUPS.values()),
        "Calls of another form than was asked for, in the same way; they are not in the mix:",
        kinds(scores, [*SHAPES]),
    ]
    text = "\n\n".join(parts) + "\n"
    out.mkdir(parents=True, exist_ok=True)
    (out / "robustness.md").write_text(text)
    (out / "robustness.svg").write_text(bars("Silent wrong edits of 100 calls", shown(scores)))
    return text


def origin(hunks: Sequence[Hunk]) -> str:
    """How many hunks of how many repositories, and whether something was developed with them."""
    counts = Counter(hunk.origin or "of no named set" for hunk in hunks)
    sets = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    return f"{len(hunks)} hunks of {len({hunk.repo for hunk in hunks})} repositories ({sets})."


def shown(scores: list[Score]) -> list[tuple[str, float]]:
    return [(s.name, s.share("corrupted")) for s in sorted(scores, key=worst_first)]


def worst_first(one: Score) -> float:
    return -one.share("corrupted")


def table(scores: list[Score], missing: Mapping[str, str]) -> str:
    rows = [HEADER, "|---" * 6 + "|"]
    for s in sorted(scores, key=lambda one: one.share("corrupted")):
        again = "" if s.retry is None else f"{100 * s.retry:.1f} %"
        cells = [f"{s.share(name):.2f}" for name in ("corrupted", "warned", "applied", "refused")]
        rows.append(f"| {s.name} | {' | '.join(cells)} | {again} |")
    rows += [f"| {name} | missing: {reason} | | | | |" for name, reason in missing.items()]
    rows += [f"\n{s.name}: {s.open} calls were not made yet." for s in scores if s.open]
    return "\n".join(rows)


def losses(scores: list[Score]) -> str:
    """What of the mix each of our tools gets silently wrong, the largest part first."""
    rows = []
    for s in scores:
        parts = {kind: part["corrupted"] for kind, part in s.parts.items() if part["corrupted"]}
        worst = sorted(((part, kind) for kind, part in parts.items()), reverse=True)
        told = ", ".join(f"{kind} {part:.2f}" for part, kind in worst[:5])
        rows.append(f"- {s.name}: {told or 'none'}")
    return "\n".join(rows)


def groups(by_name: Mapping[str, list[Score]]) -> str:
    rows = [f"| tool | {' | '.join(by_name)} |", "|---" * (len(by_name) + 1) + "|"]
    for each in zip(*by_name.values(), strict=True):
        cells = [
            " / ".join(f"{one.share(name):.1f}" for name in ("corrupted", "warned", "applied"))
            for one in each
        ]
        rows.append(f"| {each[0].name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def kinds(scores: list[Score], names: Sequence[str]) -> str:
    rows = ["| tool | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for s in scores:
        cells = []
        for kind in names:
            whole = s.counts[kind].total()
            part = (
                [100 * s.counts[kind][name] / whole for name in ("corrupted", "applied")]
                if whole
                else []
            )
            cells.append(" / ".join(f"{x:.0f}" for x in part) or "-")
        rows.append(f"| {s.name} | {' | '.join(cells)} |")
    return "\n".join(rows)
