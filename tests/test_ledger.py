"""Records of approved calls: locked while they run, kept outside the root, gone after 30 days."""

import fcntl
import json
import os
import threading
import time
from pathlib import Path

import pytest

from fsagent_tools import Workspace, identified, toolset
from fsagent_tools.approval.ledger import KEPT, Ledger
from fsagent_tools.approval.records import DirectoryState
from tests.conftest import PATIENCE


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def bound(root, approve=lambda request: True, **options):
    return toolset("filesystem").bind(Workspace(root, approve=approve, **options))


def bash(root):
    return toolset("workspace").bind(Workspace(root, approve=lambda request: True))["bash"]


def record_of_call(home):
    (record,) = (p for p in home.glob("fsagent/*/calls/*") if b"begun" in p.read_bytes())
    return record


def test_an_approved_call_is_told_again_and_not_run_again(root):
    sent = {"command": "echo $$ >> log; cat log; exit 3"}
    with identified(call="call_1", scope="task"):
        first, again = bash(root).call(sent), bash(root).call(sent)
    assert again.text == first.text
    assert json.dumps(again.to_dict()) == json.dumps(first.to_dict())
    assert len((root / "log").read_text().split()) == 1
    for call_id, scope in (("call_2", "task"), ("call_1", "another"), ("call_1", None)):
        with identified(call=call_id, scope=scope):
            assert bash(root).call(sent).text != first.text


def test_arguments_that_are_no_json_are_refused_as_without_a_record(root):
    nested = ()
    for _ in range(3000):
        nested = (nested,)
    with identified(call="call_1", scope="task"):
        assert (
            bound(root)["write"].call({"path": "a", "content": nested}).code == "VALIDATION_ERROR"
        )


def test_an_id_that_comes_with_another_call_is_refused_and_repeats_nothing(root):
    tools = bound(root) | {"bash": bash(root)}
    with identified(call="call_0", scope="task"):
        first = tools["bash"].call({"command": "echo ran | tee -a log", "timeout": 60})
        for name, sent in (
            ("bash", {"command": "echo other >> log", "timeout": 60}),
            ("bash", {"command": "echo ran | tee -a log"}),
            ("write", {"path": "log", "content": "new"}),
            ("bash", "no JSON"),
        ):
            told = tools[name].call(sent)
            assert told.code == "VALIDATION_ERROR"
            assert "The call ID 'call_0' was used before, by another call" in told.text
            assert "Nothing was done. Call again under an ID of its own" in told.text
        for same in (
            {"timeout": 60, "command": "echo ran | tee -a log"},
            json.dumps({"timeout": 60, "command": "echo ran | tee -a log"}),
        ):
            assert tools["bash"].call(same).text == first.text
    assert (root / "log").read_text() == "ran\n"


def test_an_id_of_a_call_that_never_ended_is_refused_to_another_one(root, home):
    with identified(call="call_0", scope="task"):
        bash(root).call({"command": "echo ran >> log"})
        record = record_of_call(home)
        record.write_bytes(record.read_bytes().splitlines(keepends=True)[0])
        assert bash(root).call({"command": "echo ran >> log"}).code == "OUTCOME_UNKNOWN"
        assert bash(root).call({"command": "echo other >> log"}).code == "VALIDATION_ERROR"
    assert (root / "log").read_text() == "ran\n"


def test_an_earlier_version_s_record_is_told_to_whichever_call_has_its_name(root, home):
    with identified(call="call_0", scope="task"):
        first = bash(root).call({"command": "echo ran | tee -a log"})
        record = record_of_call(home)
        begun, told = record.read_bytes().splitlines()
        record.write_bytes(begun.split()[0] + b"\n" + told + b"\n")
        assert bash(root).call({"command": "echo ran | tee -a log"}).text == first.text
        assert bash(root).call({"command": "echo other >> log"}).text == first.text
    assert (root / "log").read_text() == "ran\n"


def test_an_earlier_version_reads_what_this_one_writes(root, home):
    """It takes the first line for the mark that a call has begun, the second for its answer."""
    with identified(call="call_0", scope="task"):
        first = bash(root).call({"command": "echo ran"})
    assert json.loads(record_of_call(home).read_bytes().splitlines()[1])["text"] == first.text


def test_refusals_after_the_approval_are_told_again_and_denials_are_not_kept(root):
    denied, missing = bound(root, lambda request: "no"), {"path": "a.txt"}
    (root / "a.txt").write_text("x")
    with identified(call="call_1", scope="task"):
        assert denied["rm"].call(missing).code == "APPROVAL_DENIED"
        assert bound(root)["rm"].call(missing).ok
        (root / "a.txt").write_text("new")
        assert bound(root)["rm"].call(missing).ok
    assert (root / "a.txt").read_text() == "new"


def test_a_second_run_waits_for_the_first_and_tells_what_it_said(root):
    begun, go, told = threading.Event(), threading.Event(), []

    def approve(_):
        begun.set()
        assert go.wait(PATIENCE)
        return True

    def run(approve):
        with identified(call="call_1", scope="task"):
            told.append(bound(root, approve)["mkdir"].call({"path": "new"}))

    threads = [threading.Thread(target=run, args=(approve,)) for _ in range(2)]
    threads[0].start()
    assert begun.wait(PATIENCE)
    threads[1].start()
    go.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert [outcome.ok for outcome in told] == [True, True]
    assert told[0] == told[1]


def test_a_preview_tells_what_would_be_asked_and_nothing_happens(root):
    (root / "a.txt").write_text("one\n")
    tools = bound(root, None)
    with identified(call="call_1", scope="task"):
        request = tools["write"].preview({"path": "a.txt", "content": "two\n"})
    assert "-one\n+two" in request.diff
    assert (root / "a.txt").read_text() == "one\n"
    assert tools["read"].preview({"path": "a.txt"}) is None
    assert tools["mkdir"].preview({"path": "."}) is None
    assert tools["write"].preview({"path": "../x", "content": ""}) is None
    assert tools["write"].preview("no JSON") is None


def test_records_are_for_this_user_only_and_go_after_thirty_days(root, home):
    Ledger(root).note("old", 1)
    Ledger(root).note("new", 2)
    (folder,) = home.glob("fsagent/*/calls")
    assert folder.stat().st_mode & 0o777 == 0o700
    old = time.time() - KEPT - 60
    os.utime(next(p for p in folder.iterdir() if p.read_text() == "1"), (old, old))
    ledger = Ledger(root)
    assert (ledger.noted("old"), ledger.noted("new")) == (None, 2)


def test_without_a_place_outside_the_root_records_live_as_long_as_the_workspace(root, monkeypatch):
    (root.parent / "file").write_text("")
    for state in (root / "state", root.parent / "file"):
        monkeypatch.setenv("XDG_STATE_HOME", str(state))
        tool = bash(root)
        for _ in range(2):
            with identified(call="call_1", scope="task"):
                assert tool.call({"command": f"echo run >> {state.name}.log"}).ok
        assert (root / f"{state.name}.log").read_text() == "run\n"
        assert not [*Path(root).glob("state/fsagent/*/calls/*")]


def test_two_threads_may_note_the_same_at_once(root, monkeypatch):
    """The other one notes between the look and the write of this one."""
    ledger, replace = Ledger(root), DirectoryState.replace
    ledger.note("key", "before")
    other = threading.Thread(target=ledger.note, args=("key", "other"))

    def after_the_other(store, key, data, tag):
        if not other.ident:
            other.start()
            other.join()
        return replace(store, key, data, tag)

    monkeypatch.setattr(DirectoryState, "replace", after_the_other)
    ledger.note("key", "mine")
    assert other.ident
    assert ledger.noted("key") == "mine"


def test_a_call_that_an_earlier_version_runs_is_not_begun_beside_it(tmp_path):
    """That one holds the lock of the record itself, empty at first, while the call runs."""
    store, made = DirectoryState(tmp_path), []
    with open(tmp_path / "key", "a+b") as record:
        fcntl.flock(record, fcntl.LOCK_EX)
        assert not (tmp_path / "key").read_bytes()
        creating = threading.Thread(target=lambda: made.append(store.create("key", b"begun\n")))
        creating.start()
        creating.join(0.2)
        assert not made
        record.write(b"begun\nended")
    creating.join(PATIENCE)
    assert made == [None]
    assert store.get("key").data == b"begun\nended"


def test_what_an_earlier_version_left_empty_is_no_record(tmp_path):
    (tmp_path / "key").touch()
    store = DirectoryState(tmp_path)
    assert store.get("key") is None
    assert store.create("key", b"begun\n") is not None
