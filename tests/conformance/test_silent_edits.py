"""How often an edit does something else than was meant, when models slip as they do."""

from functools import cache

import pytest

from benchmark.dialects.quotes import Quotes
from benchmark.packs import OURS, Own
from benchmark.playing import play
from benchmark.robustness import SAMPLE, chosen
from benchmark.running import OwnTools
from benchmark.scoring import pairs, score
from benchmark.slips import MIX
from tests.conformance.rows import WITH_OTHERS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not WITH_OTHERS, reason="the folder shared/cases is not here"),
]
FILESYSTEM = Own("edit (filesystem)", lambda: Quotes("path"), "filesystem", "read", "edit")
BARS = {  # least that is applied, most that is silently wrong, of 100 calls
    "edit_lines tag": (92, 0.8), "edit_lines tag, first words": (93, 0.5),
    "edit_lines short": (92, 0.8), "edit_lines short, first words": (93, 0.5),
    "edit_lines words": (93, 0.5), "edit (compact)": (92, 0.3), "edit (filesystem)": (92, 0.3),
    "edit_file (file_ops)": (89.5, 0.5),  # takes the exact text alone
}  # fmt: skip
REPAIRED = 0.9  # of the refusals, by the error alone
HUNKS = chosen(SAMPLE, None) if WITH_OTHERS else []


@cache
def shared():
    return pairs(HUNKS)


@pytest.mark.parametrize("pack", [*OURS, FILESYSTEM], ids=lambda pack: pack.name)
def test_the_share_of_silent_wrong_edits_stays_small(pack, tmp_path):
    dialect, records = pack.make(), []
    with OwnTools(pack, tmp_path) as tools:
        for kind in MIX:
            for hunk in HUNKS if kind not in dialect.as_meant else []:
                records.append(play(tools, dialect, tmp_path, hunk, kind))
    found = score(pack.name, dialect, records, shared())
    least, most = BARS[pack.name]
    assert found.share("corrupted") <= most
    assert found.share("applied") >= least
    assert found.retry >= REPAIRED
    clean = found.counts["clean"]
    assert clean["applied"] == clean.total()
