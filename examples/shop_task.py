"""The job of the agent examples: a package with two failing tests, and a model's lines for it."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fsagent_tools.testing import Call, Message, call, line_id

PROJECT = Path(__file__).resolve().parent / "project"
GOAL = (
    "Two tests of the package shop fail: '12.5' is parsed as 1205 cents, and ten pieces of an "
    "article get no bulk discount. Find the lines, fix the package and leave its tests alone."
)
PRICES, CART = "shop/prices.py", "shop/cart.py"
WRONG, RIGHT = "int(cents or 0)", '    return int(whole) * 100 + int(cents.ljust(2, "0"))'
COMMENT = "    # 12.5 is 12 and 50 cents"


def fix_both(said: Sequence[Message]) -> list[Call]:
    """Two files in one turn, each by the ID that the search or the read showed."""
    price = {"line_id": line_id(said, WRONG), "new_content": RIGHT}
    bulk = {
        "line_id": line_id(said, "self.count > BULK_FROM"),
        "new_content": "        if self.count >= BULK_FROM:",
    }
    return [
        call("edit_lines", file_path=PRICES, changes=[price]),
        call("edit_lines", file_path=CART, changes=[bulk]),
    ]


def explain_by_old_id(said: Sequence[Message]) -> Call:
    """A slip that models make: the ID is of the line as it was before the edit. It is refused."""
    change = {"before_line_id": line_id(said, WRONG), "new_content": COMMENT}
    return call("edit_lines", file_path=PRICES, changes=[change])


def explain(said: Sequence[Message]) -> Call:
    """The same with the ID that the edit returned; the read is not repeated."""
    change = {"before_line_id": line_id(said, "ljust"), "new_content": COMMENT}
    return call("edit_lines", file_path=PRICES, changes=[change])


TURNS = (
    call("grep", pattern="def parse|BULK_FROM", path="shop"),
    [call("read", file_path=PRICES), call("read", file_path=CART, offset=15, limit=12)],
    fix_both,
    explain_by_old_id,
    explain,
    "Fixed: prices are parsed with one or two digits, and ten pieces are bulk.",
)


def copy_project(into: str) -> Path:
    """A copy of the failing project that an agent may change."""
    copy = Path(into) / "project"
    shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns("__pycache__", ".ai"))
    return copy


def run_tests(folder: Path) -> str:
    """The verdict of the project's own tests, such as "OK" or "FAILED (failures=2)"."""
    command = [sys.executable, "-m", "unittest", "-q"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return run.stderr.strip().splitlines()[-1]
