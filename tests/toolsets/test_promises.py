"""The table of promises names tests and pages that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from fsagent_tools.actions.ls import MAX_ENTRIES

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "tests/toolsets/promises.md").read_text()
ROWS = re.findall(r"^\| (\d)\.(\d+) \| ([^|]+) \| ([^|]+) \|$", TABLE, re.MULTILINE)
COUNTS = {"1": 52, "2": 54, "3": 54, "4": 28, "5": 41}
HELD = re.compile(r"`([\w/]+\.py)::(test_\w+)`|(docs/\w+/\w+\.md)")


@cache
def names(path):
    tree = ast.parse((ROOT / "tests" / path).read_text())
    return {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_promise_of_every_document_has_one_row():
    expected = [(d, str(n)) for d, count in COUNTS.items() for n in range(1, count + 1)]
    assert [(document, number) for document, number, *_ in ROWS] == expected


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}.{row[1]}")
def test_what_holds_a_promise_exists(row):
    held = HELD.findall(row[3])
    assert held
    assert HELD.sub("", row[3]).replace(",", "").strip() == ""
    for path, test, page in held:
        if page:
            assert (ROOT / page).is_file()
        else:
            assert test in names(path), path


def test_the_readme_tells_the_limit_of_a_listing():
    assert f"at most {MAX_ENTRIES:,} entries" in (ROOT / "docs/reference/tools.md").read_text()
