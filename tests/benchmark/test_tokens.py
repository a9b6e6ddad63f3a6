"""What the benchmark says of tokens is counted, not guessed, and said so where it is."""

import json
from xml.etree import ElementTree

import pytest

from benchmark.packs import OURS
from benchmark.picture import OTHER, OWN, bars
from benchmark.tokens.calls import SIZES, all_sent, changed
from benchmark.tokens.counting import ESTIMATE, counted
from benchmark.tokens.main import main, shared


def test_a_users_own_counter_is_asked_and_named(monkeypatch, tmp_path):
    script = tmp_path / "words.py"
    script.write_text(
        "import json, sys\nprint(json.dumps([len(x.split()) for x in json.load(sys.stdin)]))\n"
    )
    monkeypatch.setenv("FSAGENT_COUNTERS", f"python3 {script}")
    assert counted(["a b", "c"], quick=True) == {str(script): [2, 1]}
    monkeypatch.delenv("FSAGENT_COUNTERS")
    assert counted(["x" * 44], quick=True) == {ESTIMATE: [10]}


@pytest.mark.parametrize("count", SIZES)
def test_a_call_by_id_says_the_new_lines_and_a_quote_both(count):
    hunk = changed(count)
    sent = all_sent(OURS, [hunk])
    new = json.dumps("\n".join(hunk.new))[1:-1]
    patch = sent.pop("apply_patch (openai)")[hunk.name]  # each line with its sign
    assert all(f"+{json.dumps(line)[1:-1]}" in patch for line in hunk.new)
    assert all(new in by_hunk[hunk.name] for by_hunk in sent.values())
    assert len(sent["edit (compact)"][hunk.name]) > len(sent["edit_lines words"][hunk.name])


def test_a_picture_is_readable_on_a_dark_page_as_on_a_light_one():
    picture = bars("t", [("edit", 1)])
    assert "prefers-color-scheme:dark" in picture
    fixed = [
        part.attrib for part in ElementTree.fromstring(picture).iter() if "fill" in part.attrib
    ]
    assert {each["fill"] for each in fixed} <= {OWN, OTHER, "none"}


def test_the_suite_writes_its_two_files(tmp_path, capsys):
    main(["--quick", "--out", str(tmp_path)])
    assert "**definitions**" in capsys.readouterr().out
    rows = [json.loads(line) for line in (tmp_path / "tokens.jsonl").read_text().splitlines()]
    assert {row["tokenizer"] for row in rows} == {ESTIMATE}
    assert {"tokens.md", "tokens.jsonl"} == {p.name for p in tmp_path.iterdir()}


def test_means_are_of_the_hunks_that_every_pack_can_say():
    sent = {"a": {"x": "1", "y": "22"}, "b": {"y": "333", "x": "4", "z": "5"}, "c": {"y": "6"}}
    assert shared(sent) == {"a": ["22"], "b": ["333"], "c": ["6"]}
    assert shared({}) == {}
