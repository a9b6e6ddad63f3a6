"""python -m benchmark SUITE [arguments]; `python3 dev.py bench` hands its arguments here."""

import subprocess
import sys
from pathlib import Path

from benchmark import mine, releases, robustness
from benchmark.calls import main as calls
from benchmark.tokens import main as tokens

SPEED = Path(__file__).parents[1] / "examples/bench/speed.py"
SUITES = {
    "robustness": robustness.main,
    "calls": calls.main,
    "tokens": tokens.main,
    "mine": mine.main,
    "releases": releases.main,
}


def main() -> None:
    words = sys.argv[1:] or ["--help"]
    if words[0] == "speed":
        sys.exit(subprocess.run((sys.executable, SPEED, *words[1:]), check=False).returncode)
    if words[0] not in SUITES:
        sys.exit(f"usage: python -m benchmark {'|'.join([*SUITES, 'speed'])} [arguments]")
    SUITES[words[0]](words[1:])


if __name__ == "__main__":
    main()
