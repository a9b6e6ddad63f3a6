"""Hunks from the history of any local git repository, in the form that `hunks.from_rows` reads.

python -m benchmark mine REPOSITORY [--out FILE] [--limit N]: the newest commits with one parent
first, at most so many hunks of a commit, so that no large change outweighs the rest.
"""

import argparse
import difflib
import json
import random
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from benchmark.hunks import Hunk, of_rows

ROOT = Path(__file__).parents[1]
OWN = "d60add452195844fe5c85dfcdea90df302e82ead"  # the last commit of this project that is mined
EACH = 3  # hunks of one commit
MOST = 40  # lines of a hunk: nobody sends more in one call
SOURCES = frozenset(
    f".{name}"
    for names in (
        "py pyi js jsx mjs cjs ts tsx go rs java kt c h cc cpp hpp cs rb php sh css html sql swift",
        "scala lua md rst toml yaml yml json txt cfg ini",
    )
    for name in names.split()
)
Row = dict[str, Any]


def git(folder: Path, *words: str) -> bytes:
    run = subprocess.run(
        ("git", "-C", folder, "-c", "core.quotePath=false", *words), capture_output=True, check=True
    )
    return run.stdout


def rows(
    folder: Path, each: int = EACH, *, until: str = "HEAD", name: str = "", seed: int | None = None
) -> Iterator[Row]:
    """One row for each changed file of each commit, with at most `EACH` hunks of a file.

    until: the newest commit. seed: of the order of the commits; without one the newest is first.
    """
    name = name or folder.resolve().name
    log = git(folder, "log", "--no-merges", "--min-parents=1", "--format=%H", until)
    commits = log.decode().split()
    if seed is not None:
        random.Random(seed).shuffle(commits)
    for commit in commits:
        changed = git(
            folder, "diff-tree", "-r", "-z", "--diff-filter=M", "--name-only", f"{commit}~", commit
        )
        left = each
        for path in filter(None, changed.decode("utf-8", "replace").split("\0")):
            if Path(path).suffix not in SOURCES or not left:
                continue
            versions = [git(folder, "show", f"{commit}{back}:{path}") for back in ("~", "")]
            try:
                before, after = (data.decode() for data in versions)
            except UnicodeDecodeError:
                continue
            if found := parts(before, after)[: min(left, EACH)]:
                left -= len(found)
                # named by what it is, so that slips are the same in another clone
                key = sha256(f"{before}\0{after}".encode()).hexdigest()[:10]
                yield {
                    "id": f"{name}-{path}-{key}",
                    "repo": name,
                    "path": path,
                    "before": before,
                    "hunks": found,
                }


def parts(before: str, after: str) -> list[Row]:
    """The hunks between two texts, without context; line numbers begin at 1."""
    old, new = before.split("\n"), after.split("\n")
    if len(old) > 2_000 or "\r" in before + after:
        return []
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [
        {"old_start": a + 1, "old_lines": b - a, "new": "\n".join(new[c:d]), "new_lines": d - c}
        for kind, a, b, c, d in codes
        if kind != "equal" and max(b - a, d - c) <= MOST
    ]


def mine(folder: Path, out: Path, limit: int, each: int = EACH, origin: str = "") -> int:
    """Append at most `limit` rows to a file; returns how many hunks they have.

    origin: what each hunk's `origin` becomes.
    """
    count = 0
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8") as file:
        for row in islice(rows(folder, each), limit):
            count += len(row["hunks"])
            marked = row | ({"set": origin} if origin else {})
            file.write(json.dumps(marked, ensure_ascii=False) + "\n")
    return count


def own(count: int, seed: int, until: str = OWN) -> list[Hunk]:
    """Hunks of this project's history, the same in every clone; one that lacks it cannot be mined.

    until: the newest commit, or a range of them (`A..B`).

    Raises OSError or CalledProcessError then, as in an unpacked archive or a shallow clone.
    """
    found = rows(ROOT, until=until, name="fsagent-tools", seed=seed)
    return [*islice(of_rows(found), count)]


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmark mine", description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--out", type=Path, default=Path("hunks.jsonl"))
    parser.add_argument("--limit", type=int, default=500, help="most changed files (500)")
    parser.add_argument("--each", type=int, default=EACH, help=f"most hunks of a commit ({EACH})")
    options = parser.parse_args(words)
    if not (options.repository / ".git").exists():
        raise SystemExit(f"{options.repository} is no git repository.")
    options.out.unlink(missing_ok=True)
    count = mine(options.repository, options.out, options.limit, options.each)
    print(f"{count} hunks in {options.out}")
