"""What the benchmark says of tokens is counted, not guessed, and said so where it is."""

import json
from xml.etree import ElementTree

import pytest

from benchmark.packs import OURS
from benchmark.picture import OTHER, OWN, Curve, bars, curves
from benchmark.tokens.calls import all_sent, changed
from benchmark.tokens.counting import ESTIMATE, counted
from benchmark.tokens.main import LENGTHS, MARKED, STRINGS, break_even, main, shared
from benchmark.tokens.session import (
    FILES,
    NEW,
    NOTE,
    OLD,
    REPAIRS,
    SCRIPTS,
    all_of,
    fresh,
    longest,
    rename,
    row,
    sides,
)
from benchmark.tokens.sides import SIX, Ours, shortest


def test_a_users_own_counter_is_asked_and_named(monkeypatch, tmp_path):
    script = tmp_path / "words.py"
    script.write_text(
        "import json, sys\nprint(json.dumps([len(x.split()) for x in json.load(sys.stdin)]))\n"
    )
    monkeypatch.setenv("FSAGENT_COUNTERS", f"python3 {script}")
    assert counted(["a b", "c"], quick=True) == {str(script): [2, 1]}
    monkeypatch.delenv("FSAGENT_COUNTERS")
    assert counted(["x" * 44], quick=True) == {ESTIMATE: [10]}


@pytest.mark.parametrize("count", LENGTHS)
def test_a_call_by_id_says_the_new_lines_and_a_quote_both(count):
    hunk = changed(count)
    sent = all_sent(OURS, [hunk])
    new = json.dumps("\n".join(hunk.new))[1:-1]
    patch = sent.pop("apply_patch (openai)")[hunk.name]  # each line with its sign
    assert all(f"+{json.dumps(line)[1:-1]}" in patch for line in hunk.new)
    assert all(new in by_hunk[hunk.name] for by_hunk in sent.values())
    assert len(sent["edit (compact)"][hunk.name]) > len(sent["edit_lines words"][hunk.name])


def test_marks_have_cost_what_they_save_after_so_many_lines():
    def row(what, name, tokens):
        return {"what": what, "name": name, "tokenizer": "t", "tokens": tokens}

    records = [
        row("read, a line more than bare", MARKED[0], 2),
        row("call, 10 lines", MARKED[0], 60),
        row("call, 10 lines", STRINGS[0], 100),
    ]
    first, *rest = break_even(records)
    assert first.points == [(10, 100)]  # 40 tokens saved, five times the price, two a line
    assert not any(curve.points for curve in rest)


def test_curves_are_svg_though_there_are_none():
    for lines in ([], [Curve("a & b", [(1, 1), (10, 200)])]):
        assert ElementTree.fromstring(curves("t", "x", lines)).tag.endswith("svg")


def test_a_picture_is_readable_on_a_dark_page_as_on_a_light_one():
    for picture in (curves("t", "x", [Curve("a", [(1, 1), (10, 200)])]), bars("t", [("edit", 1)])):
        assert "prefers-color-scheme:dark" in picture
        fixed = [
            part.attrib for part in ElementTree.fromstring(picture).iter() if "fill" in part.attrib
        ]
        assert {each["fill"] for each in fixed} <= {OWN, OTHER, "none"}


def test_the_suite_writes_its_three_files(tmp_path, capsys):
    main(["--quick", "--out", str(tmp_path)])
    assert "**definitions**" in capsys.readouterr().out
    rows = [json.loads(line) for line in (tmp_path / "tokens.jsonl").read_text().splitlines()]
    assert {row["tokenizer"] for row in rows} == {ESTIMATE}
    assert (tmp_path / "tokens.svg").read_text().count("<polyline") == len(MARKED)
    assert {"tokens.md", "tokens.svg", "tokens.jsonl"} == {p.name for p in tmp_path.iterdir()}


def test_means_are_of_the_hunks_that_every_pack_can_say():
    sent = {"a": {"x": "1", "y": "22"}, "b": {"y": "333", "x": "4", "z": "5"}, "c": {"y": "6"}}
    assert shared(sent) == {"a": ["22"], "b": ["333"], "c": ["6"]}
    assert shared({}) == {}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_session_does_the_same_work_with_every_set_of_tools(name, tmp_path):
    roots = []

    def root():
        roots.append(fresh(str(tmp_path)))
        return roots[-1]

    for side in sides(root).values():
        SCRIPTS[name](side)
        assert len(side.told.arguments) == len(side.told.results) >= 3
    assert len(roots) == 8
    left = [{path.name: path.read_text() for path in sorted(r.glob("[!.]*.*"))} for r in roots]
    assert all(files == left[0] for files in left)
    meant = {path: (fresh(str(tmp_path)) / path).read_text() for path in FILES}
    if name == "rename":
        assert left[0]["NOTES.md"] == NOTE
        assert left[0]["sched.py"] == meant["sched.py"].replace(OLD, NEW)
    elif name == "repair":
        assert left[0] == meant | {f: meant[f].replace(*REPAIRS[f]) for f in REPAIRS}
    elif name == "rewrite":
        assert left[0] == meant | {"getopt.py": meant["getopt.py"].replace(*longest("getopt.py"))}
    else:
        assert left[0] == meant


def test_input_of_a_session_is_what_was_said_before_each_call(tmp_path):
    side = Ours(fresh(str(tmp_path)), "words", SIX)
    rename(side)
    count = len(side.told.arguments)
    counts = iter([1] * len(all_of(side.told)))
    definitions, calls, said, results, whole, billed = row(side.told, counts)
    assert (definitions, calls, said, results) == (len(SIX), count, count, count)
    assert whole == len(SIX) * count + 2 * sum(range(count))
    new = len(SIX) + 2 * (count - 1)  # each token is new to the cache once
    assert billed == round(5 * count + 1.25 * new + 0.1 * (whole - new))


def test_a_peer_quotes_no_more_than_it_must():
    assert shortest("a = f(x)\nb = f(y)\n", "a = f(x)", "a = g(x)") == ("f(x", "g(x")
    assert shortest("a = f(x)\n", "a = f(x)", "a = g(x)") == ("f", "g")
    assert shortest("a\nb\na\n", "b", "b2") == ("b", "b2")
