"""The project's own patches through the published codex program: alike, or different for a reason.

python -m benchmark patches
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmark.environments import Missing, environment
from benchmark.packs import CODEX, PEERS
from benchmark.running import offline
from tests.edits.patches import CASES, Files, PatchCase


def main(words: list[str] | None = None) -> None:
    """Prints the cases that differ, with why, and exits with 1 where the reason is not known."""
    argparse.ArgumentParser(prog="benchmark patches", description=__doc__).parse_args(words)
    (codex,) = (peer for peer in PEERS if peer.name == "codex apply_patch")
    try:
        program = environment(codex) / CODEX
    except Missing as reason:
        sys.exit(f"codex is missing: {reason}")
    unknown, alike = [], 0
    for case in CASES:
        same = _ours(case) == _codex(program, case)
        alike += same
        if same != (not case.codex):
            unknown.append(case.name)
        elif case.codex:
            print(f"{case.name}: {case.codex}")
    print(f"{alike} of {len(CASES)} cases are alike; {len(CASES) - alike} differ.")
    if unknown:
        sys.exit(f"Not as the cases say: {', '.join(unknown)}.")


def _ours(case: PatchCase) -> tuple[bool, Files]:
    """What `tests/actions/test_apply_patch.py` holds our tool to."""
    return case.after is not None, case.before if case.after is None else case.after


def _codex(program: Path, case: PatchCase) -> tuple[bool, Files]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, data in case.before.items():
            (root / name).write_bytes(data)
        words = (*offline(), str(program), "--codex-run-as-apply-patch", case.patch)
        done = subprocess.run(words, cwd=root, capture_output=True, timeout=60, check=False)
        found = [path for path in root.rglob("*") if path.is_file()]
        return done.returncode == 0, {str(p.relative_to(root)): p.read_bytes() for p in found}
