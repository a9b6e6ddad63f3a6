"""fsagent tools against other packs, everything interleaved in one run, as ratios.

`python3 dev.py bench speed [--small] [--long] [--write] [PART ...]`; `--help` lists the parts.
Medians with their quartiles; the floor is what this machine takes to read and split the same bytes,
or to write and rename them. A whole run takes about ten minutes, with `--long` twenty-five, 4 GB of
memory and 3 GB of disk. `--write` puts all rows into docs/speed.md.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from editing import edits
from growing import growing
from reading import carried, huge, imports, reads, worded
from searching import listings, searches
from tables import write
from texts import texts
from timing import HEADER, Row

ROOT = Path(__file__).parents[2]
GB = 1_000_000_000
LONG = "growing"  # of parts that a run has only where it is asked for
PARTS: dict[str, Callable[[Path, bool], Iterator[Row]]] = {
    "imports": lambda _folder, _small: imports(),
    "reads": lambda folder, _small: reads(folder),
    "words": lambda folder, _small: worded(folder),
    "carried": lambda folder, _small: carried(folder),
    "edits": lambda folder, _small: edits(folder),
    "texts": lambda folder, _small: texts(folder),
    "searches": lambda folder, small: searches(folder, 5_000 if small else 60_000),
    "listings": lambda folder, _small: listings(folder),
    "huge": lambda folder, small: huge(folder, GB // 10 if small else GB),
    LONG: growing,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = {"choices": [[], *PARTS], "metavar": "PART", "help": ", ".join(PARTS)}
    parser.add_argument("parts", nargs="*", default=[], **names)
    parser.add_argument("--small", action="store_true", help="a quick look: fewer files, 100 MB")
    parser.add_argument("--long", action="store_true", help=f"the part `{LONG}` as well")
    parser.add_argument("--write", action="store_true", help="write the table of the documentation")
    options = parser.parse_args()
    if options.write and (options.small or options.parts):
        parser.error("--write takes a whole run, without --small and without names of parts")
    print(HEADER)
    rows: list[Row] = []
    for part in options.parts or [part for part in PARTS if part != LONG or options.long]:
        with tempfile.TemporaryDirectory() as folder:
            for row in PARTS[part](Path(folder), options.small):
                print(row, flush=True)
                rows.append(row)
    if options.write:
        write(ROOT, rows)


if __name__ == "__main__":
    main()
