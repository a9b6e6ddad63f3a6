"""python -m benchmark SUITE [arguments]; `python3 dev.py bench` hands its arguments here."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

SPEED = Path(__file__).parents[1] / "examples/bench/speed.py"
SUITES = {  # each with a function `main`; imported when asked for, since some need frameworks
    "robustness": "benchmark.robustness",
    "sessions": "benchmark.sessions",
    "tokens": "benchmark.tokens.main",
    "mine": "benchmark.mine",
    "releases": "benchmark.releases",
}


def main() -> None:
    words = sys.argv[1:] or ["--help"]
    if words[0] == "speed":
        sys.exit(subprocess.run((sys.executable, SPEED, *words[1:]), check=False).returncode)
    if words[0] not in SUITES:
        sys.exit(f"usage: python -m benchmark {'|'.join([*SUITES, 'speed'])} [arguments]")
    import_module(SUITES[words[0]]).main(words[1:])


if __name__ == "__main__":
    main()
