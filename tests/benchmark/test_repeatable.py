"""Two runs with the same seed say the same, byte for byte, whatever order sets have in them."""

import os
import subprocess
import sys

import pytest

from tests.conformance.rows import OWN

SUITES = {
    "robustness": ["--quick", "--only", "edit_lines words", "apply_patch (openai)"],
    "tokens": ["--quick"],
    "sessions": ["--quick", "--only", "edit_lines words"],
}


def written(folder, seed, suite):
    """The records and tables of one run in a process of its own."""
    out = folder / seed
    words = [sys.executable, "-W", "ignore", "-m", "benchmark", suite, *SUITES[suite]]
    run = subprocess.run(
        [*words, "--out", out], cwd=OWN.parents[2], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONHASHSEED": seed},
    )  # fmt: skip
    if "history is not here" in run.stderr:
        pytest.skip(run.stderr)
    assert run.returncode == 0, run.stderr
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_two_runs_say_the_same_byte_for_byte(suite, tmp_path):
    first, second = (written(tmp_path, seed, suite) for seed in ("1", "2"))
    assert [*first] == [*second]
    assert first[f"{suite}.jsonl"].count(b"\n") > 1
    for name, text in first.items():
        assert text == second[name], name
