"""The benchmark of edits measures what it says: its hunks, slips, scores and files."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmark import mine as mining
from benchmark import robustness
from benchmark.environments import Missing, environment
from benchmark.hunks import Hunk, from_rows
from benchmark.mine import mine, parts
from benchmark.packs import EVERY, OURS, Peer
from benchmark.playing import judged, play
from benchmark.report import write
from benchmark.results import Results
from benchmark.running import OwnTools, PeerTools
from benchmark.slips import KINDS, MIX, make
from tests.conformance.rows import OWN

pytestmark = pytest.mark.full

HUNKS = list(from_rows(OWN / "real_edits.jsonl"))
DOUBLE = Hunk(
    "double", "here", "a.py", "if a:\n    x()\nif b:\n    x()\n", 3, 4, ("    y()",), (3, 4)
)
TABS = Hunk("tabs", "here", "a.go", "if a {\n\tb()\n}\n", 1, 2, ("\tc()",), (1, 2))
NAMES = {hunk.name: hunk for hunk in HUNKS}
own = pytest.mark.parametrize("pack", OURS, ids=lambda pack: pack.name)


def test_the_mix_is_of_100_calls():
    assert sum(MIX.values()) == pytest.approx(100)
    assert {*MIX} <= {*KINDS}


@pytest.mark.parametrize("pack", EVERY, ids=lambda pack: pack.name)
def test_a_widened_hunk_means_the_same_file(pack):
    dialect = pack.make()
    assert HUNKS
    for hunk in HUNKS:
        assert dialect.widen(hunk).meant == hunk.meant
    if dialect.quoting:
        assert all(dialect.widen(hunk).unique for hunk in HUNKS)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\n", "a\nb\n\nc\n"), ("a\n\nb\nc\n", "a\n"), ("a\n\nb\n", "a\n\n"), ("a\n", "a\n\n"),
        ("a\nb\n\n", "a\nc\nd\n\n"), ("a\nb\n", "a\nb\nc\n"), ("a\nb\nc\n", "a\nb\n"),
    ],
)  # fmt: skip
def test_a_hunk_at_the_end_of_a_file_names_lines_that_there_are(before, after, tmp_path):
    row = {"id": "x", "repo": "r", "path": "a.py", "before": before, "hunks": parts(before, after)}
    (tmp_path / "hunks.jsonl").write_text(json.dumps(row))
    (hunk,) = from_rows(tmp_path / "hunks.jsonl")
    assert hunk.meant == after
    assert hunk.core == (hunk.start, hunk.stop)
    assert hunk.stop <= before.count("\n")
    for pack in OURS:
        with OwnTools(pack, tmp_path) as tools:
            assert play(tools, pack.make(), tmp_path, hunk, "clean")["outcome"] != "absent"


def test_every_slip_happens_somewhere_and_always_in_the_same_way():
    for kind in KINDS:
        twice = [
            [make(h.quoted(), kind, quoting=True) for h in (*HUNKS, DOUBLE, TABS)] for _ in range(2)
        ]
        first, second = (
            [(c.disk, c.old, c.new, c.off, c.tail) for c in cases if c] for cases in twice
        )
        assert first
        assert first == second


@own
def test_what_is_sent_as_meant_is_applied(pack, tmp_path):
    dialect = pack.make()
    with OwnTools(pack, tmp_path) as tools:
        played = [play(tools, dialect, tmp_path, hunk, "clean") for hunk in HUNKS]
    assert {record["outcome"] for record in played} == {"applied"}


@own
def test_a_file_with_a_line_that_reads_cut_is_read_to_its_end(pack, tmp_path):
    long = "one\n" + "x" * 5_000 + "\nthree\n"
    hunk = Hunk("long", "here", "a.py", long, 2, 3, ("four",), (2, 3))
    with OwnTools(pack, tmp_path) as tools:
        assert play(tools, pack.make(), tmp_path, hunk, "clean")["outcome"] == "applied"


@own
def test_a_long_line_is_read_whole_before_it_is_replaced(pack, tmp_path):
    long = "x" * 5_000
    before = f"one\n{long}\nthree\n{long * 2}\n"
    hunk = Hunk("long", "here", "a.py", before, 1, 2, (f"{long}y",), (1, 2))
    with OwnTools(pack, tmp_path) as tools:
        assert play(tools, pack.make(), tmp_path, hunk, "clean")["outcome"] == "applied"


def test_what_comes_before_a_call_is_done_by_the_same_tools(tmp_path):
    before = "".join(f"first{n} = call{n}(argument)\n" for n in range(12))
    hunk = Hunk("twelve", "here", "a.py", before, 6, 7, ("changed = 1",), (6, 7))
    same, other, twice = (
        make(hunk, kind, quoting=False)
        for kind in ("same lines edited before", "other line edited before", "sent twice")
    )
    assert same.meant is None
    assert other.first.old != other.first.new
    assert twice.meant == hunk.meant
    with OwnTools(OURS[1], tmp_path) as tools:
        played = {
            kind: play(tools, OURS[1].make(), tmp_path, hunk, kind)["outcome"]
            for kind in ("same lines edited before", "other line edited before", "sent twice",
                         "mark of another file", "invented mark")
        }  # fmt: skip
    assert played == {
        "same lines edited before": "refused", "other line edited before": "applied",
        "sent twice": "applied", "mark of another file": "refused", "invented mark": "refused",
    }  # fmt: skip


REPEATED = "neighbour repeated after"
EXACT = next(pack for pack in OURS if pack.toolset == "file_ops")


@pytest.mark.parametrize("pack", [p for p in OURS if p is not EXACT], ids=lambda pack: pack.name)
def test_a_refusal_of_a_repeated_neighbour_is_repaired(pack, tmp_path):
    dialect = pack.make()
    with OwnTools(pack, tmp_path) as tools:
        played = [play(tools, dialect, tmp_path, hunk, REPEATED) for hunk in HUNKS[:20]]
    refused = [record["retry"] for record in played if record["outcome"] == "refused"]
    assert len(refused) > 5
    assert sum(refused) >= 0.9 * len(refused)


def test_an_exact_tool_asks_about_a_repeated_neighbour_too(tmp_path):
    dialect = EXACT.make()
    cases = [make(dialect.widen(h), REPEATED, quoting=True) for h in HUNKS[:20]]
    sent = [case for case in cases if case]
    assert len(sent) > 5
    with OwnTools(EXACT, tmp_path) as tools:
        for number, case in enumerate(sent):
            path = tmp_path / f"{number}{Path(case.hunk.path).suffix}"
            path.write_bytes(case.disk.encode())
            call = dialect.call(case, path.name, tools.read(path.name))
            ok, text = tools.edit(call)
            assert not ok
            assert "slip" in text
            assert path.read_bytes().decode() == case.disk


@pytest.mark.parametrize(("kind", "line"), [("clean", 1), ("off by one", 2)])
def test_of_two_lines_that_a_refusal_names_the_one_meant_is_sent(kind, line, tmp_path):
    before = "red = paint(1)\ngreen = mix(2)\nblue = wash(3, 4)\nlast = 1\n"
    hunk = Hunk(f"near {line}", "here", "a.txt", before, line, line + 1, ("blue = wash(3, 5)",))
    case = make(hunk, kind, quoting=False)
    assert case.off != 1  # one line up, where it is off
    with OwnTools(OURS[0], tmp_path) as tools:
        played = play(tools, OURS[0].make(), tmp_path, hunk, kind)
    assert played["outcome"] == "refused"
    assert played["retry"]


def test_only_the_bytes_decide():
    case = make(HUNKS[0], "clean", quoting=False)
    assert judged(case, ok=True, text="", after=case.meant) == "applied"
    assert judged(case, ok=False, text="", after=case.disk) == "refused"
    assert judged(case, ok=False, text="", after="torn") == "corrupted"
    assert judged(case, ok=True, text="Done.", after=case.disk) == "corrupted"
    assert judged(case, ok=True, text="Warning: a guess", after="else") == "warned"
    assert judged(case, ok=True, text="+Warning: in a diff", after="else") == "corrupted"


def test_results_survive_a_line_that_was_cut_off_and_count_nothing_twice(tmp_path):
    path = tmp_path / "deep" / "results.jsonl"
    results = Results(path, "pack", "kind")
    results.add({"pack": "a", "kind": "clean", "outcome": "applied"})
    results.add({"pack": "a", "kind": "clean", "outcome": "corrupted"})
    results.add({"pack": "b", "kind": "clean", "outcome": "applied"})
    results.close()
    path.write_bytes(path.read_bytes()[:-9])
    again = Results(path, "pack", "kind")
    assert [record["pack"] for record in again] == ["a"]
    assert ("b", "clean") not in again
    again.add({"pack": "b", "kind": "clean", "outcome": "refused"})
    again.close()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["outcome"] for row in rows] == ["applied", "refused"]


def test_hunks_are_mined_from_a_repository(tmp_path):
    folder = tmp_path / "some"
    folder.mkdir()

    def git(*words):
        who = ("-c", "user.name=a", "-c", "user.email=a@localhost")
        subprocess.run(("git", "-C", folder, *who, *words), check=True, capture_output=True)

    git("init", "--quiet")
    for text in ("one\ntwo\nthree\n", "one\n2\nthree\nfour\n"):
        (folder / "a.py").write_text(text)
        (folder / "b.bin").write_text(text)
        git("add", "--all")
        git("commit", "--quiet", "--message", "next")
    out = tmp_path / "out.jsonl"
    assert mine(folder, out, 10) == 2
    first, second = from_rows(out)
    assert (first.old, first.new) == (["two"], ("2",))
    assert (second.old, second.new, second.start) == ([], ("four",), 3)
    assert first.meant == "one\n2\nthree\n"


def test_the_report_names_missing_peers_and_its_picture_is_svg(tmp_path):
    records = [
        {"pack": OURS[0].name, "hunk": hunk.name, "kind": kind, "outcome": "applied"}
        for hunk in HUNKS[:3]
        for kind in KINDS
    ]
    missing = {"codex apply_patch": "pip: no such package"}
    text = write(tmp_path, EVERY, HUNKS[:3], records, missing)
    assert "| codex apply_patch | missing: pip: no such package |" in text
    assert text == (tmp_path / "robustness.md").read_text()
    picture = ElementTree.parse(tmp_path / "robustness.svg").getroot()
    assert picture.tag.endswith("svg")


def test_a_run_begins_where_the_one_before_was_ended(tmp_path):
    command = [sys.executable, "-m", "benchmark", "robustness", "--most", "1", "--out", tmp_path]
    command += ["--only", "edit_lines tag,"]
    subprocess.run(command, check=True, capture_output=True)
    path = tmp_path / "robustness.jsonl"
    whole = path.read_text().splitlines()
    path.write_text("\n".join(whole[:5]) + "\n" + whole[5][:10])
    subprocess.run(command, check=True, capture_output=True)
    assert sorted(path.read_text().splitlines()) == sorted(whole)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [p for p in EVERY if isinstance(p, Peer)], ids=lambda p: p.name)
def test_each_peer_that_can_be_installed_applies_what_is_sent_as_meant(pack, tmp_path):
    try:
        environment(pack)
    except Missing as reason:
        pytest.skip(str(reason))
    dialect = pack.make()
    with PeerTools(pack, tmp_path.resolve()) as tools:
        played = [play(tools, dialect, tmp_path, hunk, "clean") for hunk in HUNKS[:10]]
        defined = tools.define()
    assert {record["outcome"] for record in played} == {"applied"}
    assert {*pack.pair} <= {*defined}


@pytest.mark.parametrize(
    ("main", "words", "told"),
    [
        (robustness.main, ["--hunks", "absent.jsonl"], "There are no hunks"),
        (robustness.main, ["--only", "nothing"], "There are: edit_lines tag"),
        (mining.main, ["absent"], "absent is no git repository"),
    ],
)
def test_what_is_not_there_is_named(main, words, told, tmp_path):
    with pytest.raises(SystemExit, match=told):
        main([*words, "--out", str(tmp_path / "out")])
