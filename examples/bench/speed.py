"""fsagent tools against other packs, everything interleaved in one run, as ratios.

`python3 dev.py bench [--small] [PART ...]`; `--help` lists the parts.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from editing import edits
from reading import carried, huge, imports, reads
from searching import listings, searches
from texts import texts
from timing import HEADER, Row

GB = 1_000_000_000
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
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--small", action="store_true", help="a quick look: fewer files, 100 MB")
    options = parser.parse_args()
    print(HEADER)
    for part in options.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            for row in PARTS[part](Path(folder), options.small):
                print(row, flush=True)


if __name__ == "__main__":
    main()
