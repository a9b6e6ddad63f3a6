"""Long sessions by what a model was shown: no byte goes wrong, and what is counted is so."""

import json
from subprocess import CalledProcessError

import pytest

from benchmark import sessions
from benchmark.desk import Desk, Line
from benchmark.mine import own
from benchmark.packs import OURS
from benchmark.running import OwnTools

pytestmark = pytest.mark.full

WORDS = next(pack for pack in OURS if pack.name == "edit_lines words")


@pytest.fixture(scope="module")
def history():
    try:
        own(1, 1)
    except (OSError, CalledProcessError) as reason:
        pytest.skip(f"this project's history is not here: {reason}")


@pytest.fixture
def desk(tmp_path):
    text = "".join(f"name{n} = call{n}(argument)\n" for n in range(12))
    path = tmp_path / "a.py"
    path.write_text(text)
    with OwnTools(WORDS, tmp_path) as tools:
        yield Desk(tools, WORDS.make(), path, text)


def test_sessions_are_the_same_each_time_and_no_byte_goes_wrong(history, tmp_path):
    words = ["--only", WORDS.name, "compact", "--count", "2", "--out"]
    for out in ("one", "two"):
        sessions.main([*words, str(tmp_path / out)])
    one, two = ((tmp_path / out / "sessions.jsonl").read_text() for out in ("one", "two"))
    assert one == two
    records = [json.loads(line) for line in one.splitlines()]
    assert [record["edits"] for record in records] == [sessions.EDITS] * 4
    assert all(record["over"] for record in records)
    assert not any({"wrong", "over refused"} & {*record} for record in records)


def test_what_the_model_wrote_it_can_edit_by_the_answer_alone(desk):
    assert desk.edit(3, 4, ["name3 = other(1)", "more = call(2)"]) == "applied"
    assert desk.edit(3, 5, ["name3 = other(3)"]) == "applied"
    assert not desk.counts["reads"]
    assert desk.path.read_text().count("other") == 1


def test_a_refusal_is_needless_only_where_no_line_named_has_changed(desk):
    desk.replaced([Line("# new"), *desk.truth])
    assert desk.edit(3, 4, ["name3 = other(1)"]) == "applied"
    desk.replaced([Line(f"x{line.text}") for line in desk.truth])
    assert desk.edit(6, 7, ["name6 = other(1)"]) == "refused"


def test_an_edit_that_lands_elsewhere_is_wrong(desk):
    desk.truth.reverse()  # the suite is mistaken about the file: any edit is another one then
    assert desk.edit(3, 4, ["name3 = other(1)"]) == "wrong"
