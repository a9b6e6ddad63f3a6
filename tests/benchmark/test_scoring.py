"""The arithmetic of scores, on tables small enough to be added up by hand."""

import pytest

from benchmark.hunks import Hunk
from benchmark.packs import EVERY, OURS
from benchmark.scoring import OUTCOMES, pairs, score
from benchmark.slips import EVERY_SLIP, KINDS, ONLY_MARKS, ONLY_QUOTES, UNTOLD, WIDE

IDS = OURS[0].make()
QUOTES = next(pack for pack in OURS if pack.name == "edit (compact)").make()
HERE = {"clean": {"a", "b"}, "mistyped": {"a", "b"}, "not unique": {"a"}, "elision": set()}
WEIGHTS = {"clean": 90, "mistyped": 4, "not unique": 5, "elision": 1}


def row(kind, hunk, outcome, **more):
    return {"kind": kind, "hunk": hunk, "outcome": outcome, **more}


def shares(found):
    return {outcome: pytest.approx(found.share(outcome)) for outcome in OUTCOMES}


def test_what_cannot_happen_counts_as_the_clean_call_of_the_same_hunk():
    records = [
        row("clean", "a", "applied"), row("clean", "b", "refused"),
        row("mistyped", "a", "corrupted"), row("mistyped", "b", "absent"),
    ]  # fmt: skip
    # not unique: by ID it cannot be said, so a's clean call; elision: no hunk, so both clean calls
    assert shares(score("x", IDS, records, HERE, WEIGHTS)) == {
        "applied": 90 / 2 + 5 + 1 / 2, "refused": 90 / 2 + 4 / 2 + 1 / 2,
        "corrupted": 4 / 2, "warned": 0,
    }  # fmt: skip


def test_each_kind_keeps_its_weight_in_every_protocol():
    by_id = [row("clean", hunk, "applied") for hunk in "ab"]
    by_id += [row("mistyped", hunk, "refused") for hunk in "ab"]
    by_quote = [*by_id, row("not unique", "a", "corrupted")]
    ids, quotes = (score("x", *each, HERE, WEIGHTS) for each in ((IDS, by_id), (QUOTES, by_quote)))
    assert [sum(part.values()) for part in ids.parts.values()] == [*WEIGHTS.values()]
    assert [sum(part.values()) for part in quotes.parts.values()] == [*WEIGHTS.values()]
    assert ids.share("refused") == quotes.share("refused") == 4
    assert (ids.share("corrupted"), quotes.share("corrupted")) == (0, 5)


def test_a_hunk_that_a_protocol_cannot_name_is_refused():
    records = [row(kind, "a", "applied") for kind in ("clean", "mistyped", "not unique")]
    records += [row("clean", "b", "absent"), row("mistyped", "b", "absent")]
    assert score("x", QUOTES, records, HERE, WEIGHTS).share("refused") == 90 / 2 + 4 / 2 + 1 / 2


def test_shares_are_of_100_whatever_the_weights_add_up_to():
    records = [row("clean", "a", "applied"), row("mistyped", "a", "warned")]
    found = score(
        "x", IDS, records, {"clean": {"a"}, "mistyped": {"a"}}, {"clean": 3, "mistyped": 1}
    )
    assert shares(found) == {"applied": 75, "refused": 0, "warned": 25, "corrupted": 0}


def test_calls_that_were_not_made_yet_are_told_and_not_guessed():
    records = [row("clean", "a", "applied"), row("mistyped", "a", "corrupted")]
    found = score("x", IDS, records, HERE, WEIGHTS)
    assert found.open == 3  # b clean, b mistyped, and b for the elision that no hunk allows
    assert found.share("corrupted") == pytest.approx(4)
    assert score("x", IDS, [], HERE, WEIGHTS).share("applied") == 0


def test_repairs_are_weighted_as_refusals_come_in_the_mix():
    shared = {"clean": {"a"}, "mistyped": {"a", "b"}, "elision": {"a"}}
    records = [
        row("clean", "a", "applied"), row("elision", "a", "refused", retry=False),
        row("mistyped", "a", "refused", retry=True), row("mistyped", "b", "refused", retry=False),
    ]  # fmt: skip
    weights = {"clean": 90, "mistyped": 8, "elision": 2}
    assert score("x", IDS, records, shared, weights).retry == 0.5  # an elision is not repaired
    records[0] = row("clean", "a", "refused", retry=True)
    assert score("x", IDS, records, shared, weights).retry == pytest.approx((90 + 4) / 98)


def test_the_wide_mixes_have_48_slips_alike_and_all_68_but_wrong_ranges():
    for mix, count in ((WIDE, 48), (EVERY_SLIP, 68)):
        assert sum(mix.values()) == pytest.approx(100)
        assert len(mix) == 2 + count
    assert {*KINDS} - {*EVERY_SLIP} == {*UNTOLD}


def test_the_pairs_are_the_hunks_alone_whoever_is_scored():
    double = Hunk(
        "double", "", "a.py", "if a:\n    x()\nif b:\n    x()\n", 3, 4, ("    y()",), (3, 4)
    )
    single = Hunk("single", "", "a.py", "a\nb\n", 1, 2, ("c",), (1, 2))
    found = pairs([double, single], KINDS)
    assert found["clean"] == {"double", "single"}
    assert found["not unique"] == {"double"}
    assert found["elision"] == set()  # nothing is left out of a single line
    assert found["neighbour repeated before"] == {"double", "single"}
    assert found["neighbour repeated after"] == set()  # both stand at the end


def test_kinds_that_only_some_protocols_know_are_among_the_pairs():
    for pack in EVERY:
        assert pack.make().as_meant <= {*KINDS}
    assert not ONLY_MARKS & ONLY_QUOTES
