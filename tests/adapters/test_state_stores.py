"""The contract of `StateStore`, over every place that there is."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from langgraph.store.memory import InMemoryStore

from fsagent_tools import MemoryFiles, ObjectState, Workspace, identified, select_tools
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.state.directory import DirectoryState
from fsagent_tools_langchain import StoreState
from tests.bucket import bucket
from tests.conftest import DEADLINES, PATIENCE, eventually
from tests.postgres import database, server

pytest.importorskip("obstore", reason="a development requirement")
pytest.importorskip("langgraph.store.sqlite", reason="a development requirement")
AWS = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region": "us-east-1"}


def opened(kind, place):
    """The store of that kind; for those of several processes the same in each."""
    from langgraph.store.sqlite import SqliteStore
    from obstore.store import MemoryStore, S3Store

    if kind == "directory":
        return DirectoryState(Path(place))
    if kind == "objects in memory":
        return ObjectState(MemoryStore())
    if kind == "S3":
        client = {"allow_http": True}
        return ObjectState(S3Store("bucket", endpoint=place, client_options=client, **AWS))
    if kind == "LangGraph in memory":
        return StoreState(InMemoryStore())
    if kind == "LangGraph in PostgreSQL":
        from langgraph.store.postgres import PostgresStore
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool

        each = {"autocommit": True, "row_factory": dict_row, "prepare_threshold": 0}
        pool = ConnectionPool(place, min_size=0, max_size=6, kwargs=each, open=True)
        return StoreState(PostgresStore(pool))
    path = f"{place}/store.sqlite"
    connection = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)
    connection.isolation_level = None
    store = SqliteStore(connection)
    store.setup()
    return StoreState(store)


@pytest.fixture(scope="session")
def postgres():
    with server() as address:
        yield address


@contextmanager
def place_of(request):
    """Where a store of the kind that is the parameter can be opened."""
    if request.param == "S3":
        with bucket() as url:
            yield url
    elif request.param == "LangGraph in PostgreSQL":
        yield database(request.getfixturevalue("postgres"))
    else:
        (folder := request.getfixturevalue("tmp_path") / "store").mkdir()
        yield str(folder)


ELSEWHERE = ["S3", "LangGraph in SQLite", "LangGraph in PostgreSQL"]
SHARED = ["directory", *ELSEWHERE]
KINDS = [*SHARED, "objects in memory", "LangGraph in memory"]


@pytest.fixture(params=KINDS)
def store(request):
    with place_of(request) as place:
        yield opened(request.param, place)


@pytest.fixture(params=SHARED)
def shared(request):
    """A kind of store that processes share, and where it is."""
    with place_of(request) as place:
        yield request.param, place


def test_a_value_is_made_once_and_replaced_by_who_knows_it(store):
    assert store.get("k") is None
    assert store.replace("k", b"none", store.create("other", b"x")) is None
    first = store.create("k", b"one\n")
    assert first is not None
    assert store.create("k", b"two") is None
    assert store.get("k") == (b"one\n", first)
    second = store.replace("k", b"\0two\xff" * 5000, first)
    assert second not in (None, first)
    assert store.replace("k", b"three", first) is None
    assert store.get("k") == (b"\0two\xff" * 5000, second)
    assert store.put("k", b"three") == store.get("k").tag
    store.delete("k")
    store.delete("k")
    assert store.get("k") is None
    assert store.create("k", b"again") not in (None, first)
    assert store.replace("k", b"late", first) is None
    store.check()


def test_keys_are_listed_by_their_beginning(store):
    if not isinstance(store, DirectoryState):
        for key in ("a/one", "a/two", "ab/three", "b"):
            store.create(key, b"x")
        assert sorted(key for key, _ in store.list("a/")) == ["a/one", "a/two"]
        assert not [*store.list("c/")]
    store.create("d", b"x")
    ((key, written),) = store.list("d")
    assert key == "d"
    assert written > 1_500_000_000


def at_once(work, count=4):
    """What `work(number)` gives in threads that begin together."""
    together, given = threading.Barrier(count), [None] * count

    def run(number):
        together.wait(PATIENCE)
        given[number] = work(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    return given


def test_of_threads_that_make_or_replace_a_value_at_once_one_wins(store):
    for turn in range(10):
        key = f"k{turn}"
        made = at_once(lambda n, key=key: store.create(key, f"{n}".encode()))
        (winner,) = (number for number, tag in enumerate(made) if tag is not None)
        assert store.get(key) == (f"{winner}".encode(), made[winner])
        change = partial(store.replace, key, tag=made[winner])
        changed = at_once(lambda n, change=change: change(data=f"new {n}".encode()))
        (winner,) = (number for number, tag in enumerate(changed) if tag is not None)
        assert store.get(key) == (f"new {winner}".encode(), changed[winner])


RACE = """
import sys
from tests.adapters.test_state_stores import *
kind, place, number, turns = sys.argv[1:]
store, won = opened(kind, place), 0
while not store.get("go"):
    pass
for turn in range(int(turns)):
    won += store.create(f"k{turn}", number.encode()) is not None
    for _ in range(200):
        held = store.get("count")
        if store.replace("count", str(int(held.data) + 1).encode(), held.tag) is not None:
            break
    else:
        sys.exit("never its turn")
print(won)
"""


def process(source, *words):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", source, *map(str, words)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def test_of_processes_that_write_at_once_one_wins_and_no_change_is_lost(shared):
    kind, place = shared
    store, turns = opened(kind, place), 20
    store.create("count", b"0")
    racing = [process(RACE, kind, place, number, turns) for number in range(3)]
    store.create("go", b"go")
    won = []
    for one in racing:
        with one:
            won.append(int(one.stdout.read()))
    assert sum(won) == turns
    assert store.get("count").data == str(3 * turns).encode()


def test_a_lease_is_held_by_one(store):
    inside, most = [], []

    def work(number):
        for _ in range(3):
            with store.lease("k", PATIENCE):
                inside.append(number)
                most.append(len(inside))
                inside.remove(number)

    at_once(work, 3)
    assert most == [1] * 9


HOLDER = """
import sys
from tests.adapters.test_state_stores import *
kind, place = sys.argv[1:]
store = opened(kind, place)
with store.lease("call", 1):
    print("leased", flush=True)
    sys.stdin.readline()
    print(store.create("call", b"begun by the holder"), flush=True)
"""


@pytest.mark.parametrize("signal_", [signal.SIGSTOP, signal.SIGKILL])
def test_who_gives_no_sign_of_life_is_passed_over_and_can_change_nothing_later(shared, signal_):
    kind, place = shared
    if kind == "directory" and signal_ == signal.SIGSTOP:
        pytest.skip("a lock ends with its process, and not before")
    holder = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", HOLDER, kind, place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    with holder:
        assert holder.stdout.readline() == "leased\n"
        holder.send_signal(signal_)
        store = opened(kind, place)
        with store.lease("call", 1):
            assert store.create("call", b"begun") is not None
        if signal_ == signal.SIGSTOP:
            holder.send_signal(signal.SIGCONT)
            assert holder.communicate("go\n", PATIENCE)[0] == "None\n"
    assert store.get("call").data == b"begun"


def test_a_holder_that_is_slow_but_alive_is_waited_for(store):
    def waited_for(seconds):  # its signs of life may be later than that where all is slow
        order, held, go = [], threading.Event(), threading.Event()

        def hold():
            with store.lease(f"k{seconds}", seconds):
                held.set()
                go.wait(PATIENCE)
                order.append("first")

        def wait():
            with store.lease(f"k{seconds}", seconds):
                order.append("second")

        first, second = threading.Thread(target=hold), threading.Thread(target=wait)
        first.start()
        assert held.wait(PATIENCE)
        second.start()
        second.join(2 * seconds)  # longer than the lease without a sign
        go.set()
        first.join(PATIENCE)
        second.join(PATIENCE)
        return order == ["first", "second"]

    assert any(map(waited_for, DEADLINES))


def test_a_claim_whose_process_was_killed_lets_nobody_write(tmp_path):
    store, under = StoreState(memory := InMemoryStore()), ("fsagent", "k")
    memory.put(under, "0" * 16, {})
    assert store.get("k") is None
    assert store.create("k", b"x") is None
    assert [item.key for item in memory.search(under)] == ["0" * 16]
    memory.delete(under, "0" * 16)
    assert store.create("k", b"x") is not None


# A workspace


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own"))
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.txt").write_text("one\ntwo\n")
    return tmp_path / "root"


def called(tools, name, call="1", /, **sent):
    (tool,) = (tool for tool in tools if tool.name == name)
    with identified(session="s", scope="task", call=call):
        return tool.call(sent)


@pytest.fixture(params=[kind for kind in KINDS if kind != "directory"])
def remote(request):
    with place_of(request) as place:
        yield opened(request.param, place)


def test_records_and_indexes_lie_in_the_store_and_the_history_here(root, remote, tmp_path):
    one, other = (select_tools(root, state=remote, once=True) for _ in "12")
    first, second = called(one, "read", file_path="a.txt").text.splitlines()
    changes = [{"line_id": first, "new_content": "1"}]
    assert called(other, "edit_lines", "2", file_path="a.txt", changes=changes).ok
    told = [
        called(tools, "bash", "3", command="echo ran | tee -a log").text for tools in (one, other)
    ]
    assert told == ["ran", "ran"]
    assert (root / "log").read_text() == "ran\n"
    assert not [*root.glob(".ai/cache/tools/*"), *(tmp_path / "own").rglob("calls/*")]
    assert [*(tmp_path / "own").rglob("*.journal")]
    kinds = {key.split("/")[1] for key, _ in remote.list("")}
    assert kinds == {"calls", "calls-format", "line_index"}
    Workspace(root, state=remote).undo(everybody=True)
    moved = Workspace(root, state=remote)
    moved.move("a.txt", "b.txt")
    shown = called(select_tools(root, state=remote), "read", file_path="b.txt").text
    assert shown.splitlines()[1] == second


ONCE = """
import json, sys
from tests.adapters.test_state_stores import *
kind, place, root, command = sys.argv[1:]
outcome = called(select_tools(root, state=opened(kind, place), once=True), "bash", command=command)
print(json.dumps([outcome.code, outcome.text]))
"""


@pytest.mark.parametrize("shared", ELSEWHERE, indirect=True)
def test_once_holds_across_hosts(root, shared):
    ran = "echo ran | tee -a log"
    words = *shared, root, f"until test -e go; do sleep 0.05; done; {ran}"
    hosts = [process(ONCE, *words) for _ in "AB"]
    (root / "go").touch()
    told = []
    for host in hosts:
        with host:
            told.append(json.loads(host.stdout.read()))
    assert told == [["OK", "ran"]] * 2
    assert (root / "log").read_text() == "ran\n"


@pytest.mark.parametrize("shared", ELSEWHERE, indirect=True)
def test_a_host_that_is_killed_leaves_an_unknown_outcome(root, shared):
    words = *shared, root, "touch begun; sleep 600"
    with process(ONCE, *words) as killed:
        assert eventually((root / "begun").exists)
        killed.kill()
    short = "from fsagent_tools.state.port import StateStore\n"
    short += "StateStore.lease.__wrapped__.__defaults__ = (1.0,)\n"
    again = ONCE.replace("kind, place", f"{short}kind, place", 1)
    with process(again, *words) as host:
        code, text = json.loads(host.stdout.read())
    assert code == "OUTCOME_UNKNOWN", text


def test_a_store_that_cannot_be_reached_lets_no_call_run(root):
    with bucket() as place:
        pass
    (tool,) = select_tools(root, state=opened("S3", place), once=True, only=["write"])
    told = called([tool], "write", file_path="b.txt", content="x")
    assert told.code == "NOT_CONFIGURED", told.text
    assert "Nothing was done" in told.text
    assert not (root / "b.txt").exists()


def test_a_store_that_does_not_look_at_conditions_is_refused(root):
    with bucket(honest=False) as place:
        tools = select_tools(root, state=opened("S3", place), once=True)
        told = called(tools, "write", file_path="b.txt", content="x")
    assert told.code == "CONFIG_INVALID", told.text
    assert "writes though its condition is not met" in told.text
    assert not (root / "b.txt").exists()


def test_what_has_no_conditional_writes_is_refused_when_it_is_given(root, tmp_path):
    from obstore.store import LocalStore

    with pytest.raises(ConfigInvalid, match="bucket is an obstore store with conditional writes"):
        ObjectState(LocalStore(str(tmp_path)))
    with pytest.raises(ConfigInvalid, match="state is of type"):
        Workspace(root, state=InMemoryStore())
    with pytest.raises(ConfigInvalid, match="state is not for a workspace of files elsewhere"):
        Workspace(files=MemoryFiles(), state=StoreState(InMemoryStore()))


def test_a_later_format_is_refused(root, remote):
    assert called(select_tools(root, state=remote, once=True), "bash", command="true").ok
    (mark,) = (key for key, _ in remote.list("") if key.endswith("calls-format"))
    remote.put(mark, b"9")
    told = called(select_tools(root, state=remote, once=True), "bash", "2", command="touch x")
    assert "is of format 9" in told.text
    assert not (root / "x").exists()
    assert os.listdir(root) == ["a.txt"]
