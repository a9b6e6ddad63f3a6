"""fsagent tools against other packs, everything interleaved in one run, as ratios.

`python3 dev.py bench [--small] [PART ...]`; `--help` lists the parts. Medians with their quartiles;
the floor is what this machine takes to read and split the same bytes, or to write and rename them.
At the end comes the table of README.md. A whole run takes about ten minutes.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from editing import EDIT, edits
from reading import READ, TAGGED, carried, huge, imports, reads
from searching import ABSENT, listings, searches
from texts import texts
from timing import HEADER, Row

GB = 1_000_000_000
README = (  # operations and their peers, as the table of README.md shows them
    ("import, whole process", "`import pydantic`"),
    (READ, "`import pydantic`"),
    (f"{TAGGED}, first time", "deepagents, numbered"),
    (f"{TAGGED}, same session", "deepagents read_file"),
    ("edit one of 100,000 lines by ID, warm", EDIT),
    ("grep, rare word, 60,000 files", "`rg -n needle .`"),
    ("glob `**/*.py`, first 100", "`rg --files -g **/*.py`"),
    (ABSENT, "`rg --files -g **/*.absent`"),
)
PARTS: dict[str, Callable[[Path, bool], Iterator[Row]]] = {
    "imports": lambda _folder, _small: imports(),
    "reads": lambda folder, _small: reads(folder),
    "carried": lambda folder, _small: carried(folder),
    "edits": lambda folder, _small: edits(folder),
    "texts": lambda folder, _small: texts(folder),
    "searches": lambda folder, small: searches(folder, 5_000 if small else 60_000),
    "listings": lambda folder, _small: listings(folder),
    "huge": lambda folder, small: huge(folder, GB // 10 if small else GB),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--small", action="store_true", help="a quick look: fewer files, 100 MB")
    options = parser.parse_args()
    print(HEADER)
    rows: list[Row] = []
    for part in options.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            for row in PARTS[part](Path(folder), options.small):
                print(row, flush=True)
                rows.append(row)
    if chosen := [row for row in rows if (row.what, row.peer) in README]:
        print("\nFor README.md:\n\n| job | compared with | ratio |\n|---|---|---|")
        for row in chosen:
            print(f"| {row.what} | {row.peer} | {row.ratio:.3g} |")


if __name__ == "__main__":
    main()
