"""Where the cases are: the project's own beside this file, and others' where they are at hand."""

import json
import os
from pathlib import Path

OWN = Path(__file__).with_name("cases")
OTHERS = Path(os.environ.get("FSAGENT_CASES", Path(__file__).parents[2] / "../shared/cases"))
WITH_OTHERS = OTHERS.is_dir()


def rows(name):
    """Every row of `name`.jsonl, ours first."""
    files = [folder / f"{name}.jsonl" for folder in (OWN, OTHERS)]
    return [
        json.loads(line)
        for file in files
        if file.is_file()
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def at_least(of_own, of_all):
    """How many rows a test must have seen not to have passed for want of them."""
    return of_all if WITH_OTHERS else of_own
