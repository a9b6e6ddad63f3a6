"""Bad input, attacks and faults that nobody here thought up, through the tools a model has."""

import pytest

from tests.conformance.battery import ROWS, Case, Unsupported

pytestmark = pytest.mark.full

GROUPS = ("paths", "symlinks", "encodings", "sizes", "edits", "races", "faults", "json_args")
CHOSEN = [row for row in ROWS if row["group"] in (*GROUPS, "config")]
SKIPPED = {
    "R007": "counts acknowledged edits: tests/session/test_many_writers.py does, by line ID",
}


@pytest.mark.parametrize("row", CHOSEN, ids=lambda row: row["id"])
def test_a_row_of_the_battery(row, tmp_path):
    if row["id"] in SKIPPED:
        pytest.skip(SKIPPED[row["id"]])
    case = Case(row, tmp_path)
    try:
        case.run()
        case.check()
    except Unsupported as reason:
        pytest.skip(str(reason))
    finally:
        case.close()


TEXTS = [row for row in ROWS if row["group"] in ("edits", "encodings", "json_args")]


@pytest.mark.parametrize("toolset", ["compact", "file_ops"])
@pytest.mark.parametrize("row", TEXTS, ids=lambda row: row["id"])
def test_a_row_about_texts_through_the_other_toolsets(row, toolset, tmp_path):
    case = Case(row, tmp_path, toolset)
    try:
        case.run()
        case.check()
    except Unsupported as reason:
        pytest.skip(str(reason))
    finally:
        case.close()
