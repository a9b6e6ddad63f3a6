"""What `python3 dev.py bench speed --write` makes of the documentation."""

import sys
from pathlib import Path

import pydantic
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bench(monkeypatch):
    """The modules of the suite that need no peers."""
    monkeypatch.syspath_prepend(str(ROOT / "examples/bench"))
    import tables
    import timing

    yield tables, timing
    del sys.modules["tables"], sys.modules["timing"]


def rows(timing):
    ours, theirs = timing.Times([1.0, 2.0, 3.0, 4.0]), timing.Times([4.0] * 4)
    return [
        timing.Row("read", "peer", 0.9, ours, theirs, timing.Times([1.0])),
        timing.Row("grow", "floor", None, ours, theirs),
    ]


def test_a_run_goes_into_the_documentation_and_leaves_the_rest_alone(bench, tmp_path):
    tables, timing = bench
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs/speed.md"
    page.write_text(before := (ROOT / "docs/speed.md").read_text())
    tables.write(tmp_path, made := rows(timing))
    after, table = page.read_text(), "\n".join(map(str, made))
    assert f"{table}\n\n" in after
    assert after.count("\nLast run: fsagent-tools ") == before.count("\nLast run: ") == 1
    told = next(line for line in after.split("\n") if line.startswith("Last run: "))
    assert f"pydantic {pydantic.VERSION}" in told
    assert "deepagents" in told
    rest = [line for line in before.split("\n") if not line.startswith(("|", "Last run: "))]
    kept = [line for line in after.split("\n") if not line.startswith(("|", "Last run: "))]
    assert kept == rest
    assert tables.replaced(after, table).count(table) == 1


def test_rows_tell_quartiles_floors_and_whether_the_aim_is_met(bench):
    met, told = map(str, rows(bench[1]))
    assert met == (
        "| read | peer | 0.625 | 0.9 | yes | 2,500.00 (1,750.00 to 3,250.00) ms "
        "| 4,000.00 (4,000.00 to 4,000.00) ms | 1,000.00 ms |"
    )
    assert "| grow | floor | 0.625 |  |  | 2,500.00" in told


@pytest.mark.parametrize(
    "text",
    [
        "no heading\n\nLast run: x\n\n| a |\n",
        "## Beside other packages\n\n| a |\n",
        "## Beside other packages\n\nLast run: x\n\n## Other\n\n| a |\n",
        "## Beside other packages\n\n| a |\n\nLast run: x\n",
    ],
)
def test_a_document_without_a_place_for_it_is_not_guessed_at(bench, text):
    with pytest.raises(ValueError, match=r"Beside|Last run"):
        bench[0].replaced(text, "| b |")
