"""Calls to a far end in this process, by a way that loses, cuts and delays what it brings."""

import copy
import os
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.errors import (
    Cancelled,
    ConfigInvalid,
    InvalidPath,
    NetworkError,
    OutcomeUnknown,
    TooLarge,
)
from fsagent_tools.remote import CancelFlag, LocalChannel, RemoteWorkspace, Sending
from fsagent_tools_places import SandboxChannel, SshChannel, far, wire
from fsagent_tools_places.channel import Dropped, PlaceChannel
from fsagent_tools_places.ssh import AT_HAND, Stream
from tests.conftest import PATIENCE, eventually


class Way:
    """A link. most: characters of an answer that pass; None: all. before: called with each request,
    and may raise. dies: the far end does not outlive its next calls, so many.
    """

    boot, wait, gather, most, keep = "", 5.0, 0.0, 48_000, True

    def __init__(self, root):
        self.root, self.cuts, self.before, self.dies = root, 10**9, lambda asked: None, 0
        self.asked, self.ended = [], 0  # requests, and answers of calls that had ended by then
        self.renew()

    def renew(self):
        tools = toolset("workspace").bind(Workspace(self.root)).values()
        self.there = far.Far(lambda root: LocalChannel(tools, verbs=True), idle=60)

    def ask(self, asked, cancelled):
        self.asked.append(asked)
        self.before(asked)
        if self.dies and asked.task == "call" and asked.boot in ("", self.there._boot):
            self.dies -= 1
            self.renew()
            raise Dropped("it is gone")
        if not self.keep:
            self.renew()
        answer = self.there.answer(wire.as_json(asked))
        if len(answer) > self.cuts:
            raise Dropped("no proper answer", cut=self.cuts)
        told = wire.read_as(wire.Told, answer)
        if told.state == "refused":
            raise ConfigInvalid(told.piece)
        self.ended += told.state == "done"
        return told

    def calls(self):
        return len({asked.key for asked in self.asked if asked.task == "call"})


@pytest.fixture
def way(tmp_path):
    lines = (os.urandom(30).hex() + "\n" for _ in range(500))
    (tmp_path / "random.txt").write_text("".join(lines))
    return Way(tmp_path)


def channel_of(way):
    channel = PlaceChannel(way, ".", "The place", lambda: channel_of(way))
    channel.tools()
    way.asked.clear()
    return channel


READ = Sending("read", {"file_path": "random.txt"})


def bash(command, **more):
    return Sending("bash", {"command": command}, **more)


def test_a_far_end_that_no_reading_call_leaves_alive_is_asked_twice(way):
    channel = channel_of(way)
    way.dies = 10
    with pytest.raises(NetworkError, match="twice"):
        channel.call(READ)
    assert way.calls() == 2
    way.dies = 1
    assert channel.call(READ).ok
    way.dies = 1
    assert RemoteWorkspace(channel).read_bytes("random.txt").data
    way.dies = 1
    with pytest.raises(OutcomeUnknown):
        RemoteWorkspace(channel).write_bytes("a.txt", b"1")


def test_what_is_asked_for_approval_may_be_asked_again_and_nothing_else(way):
    channel = channel_of(way)
    write = {"file_path": "a.txt", "content": "1\n"}
    way.dies = 1
    assert channel.call(Sending("write", write, ask=True)).diff
    way.dies = 1
    with pytest.raises(OutcomeUnknown):
        channel.call(Sending("webfetch", {"url": "http://127.0.0.1:9/"}, ask=True))


def test_an_answer_that_is_cut_where_nothing_lasts_is_an_error_at_once(way):
    way.keep = False
    channel = channel_of(way)
    way.cuts = 5000
    with pytest.raises(NetworkError, match="no proper answer"):
        channel.call(READ)
    assert len(way.asked) == 1


def test_one_cut_answer_does_not_slow_all_later_ones(way):
    channel = channel_of(way)
    way.cuts = 5
    with pytest.raises(NetworkError):
        channel.call(READ)
    way.cuts = 10**9
    for most in (14, 2, 1):
        way.asked.clear()
        assert channel.call(READ).ok
        assert len(way.asked) <= most


def test_a_cancel_that_comes_before_its_call(way, tmp_path):
    channel, flag = channel_of(way), CancelFlag()

    def late(asked):
        if asked.task == "call":
            flag.set()
            assert eventually(lambda: asked.key in way.there._calls)

    way.before = late
    reply = channel.call(bash("echo x > done", cancelled=flag))
    assert reply.code == "CANCELLED"
    assert "before it began" in reply.text
    assert not (tmp_path / "done").exists()


def test_a_call_that_comes_late_is_carried_out_by_no_other_process(way, tmp_path):
    channel, late = channel_of(way), []

    def lose(asked):
        if not late:
            late.append(asked)
            raise Dropped("timeout")

    way.before = lose
    assert channel.call(bash("echo x >> log")).ok
    way.renew()
    for _ in range(2):
        told = wire.read_as(wire.Told, way.there.answer(wire.as_json(late[0])))
        assert told.state == "unknown"
    assert (tmp_path / "log").read_text() == "x\n"
    assert channel.call(bash("echo x >> log")).ok  # of the process that is there now
    assert (tmp_path / "log").read_text() == "x\nx\n"


def test_what_a_place_lacks_by_the_second_attempt_hides_no_change(way, tmp_path):
    channel, left = channel_of(way), [Dropped("timeout"), *[ConfigInvalid("full")] * 2]

    def fail(asked):
        if left:
            raise left.pop(0)

    way.before = fail
    with pytest.raises(OutcomeUnknown, match="full"):
        channel.call(bash("true"))
    left.append(ConfigInvalid("full"))
    with pytest.raises(ConfigInvalid):
        channel.call(bash("true"))


@pytest.mark.parametrize("error", [Dropped("no route", sent=False), ConfigInvalid("full")])
def test_a_place_that_goes_away_while_a_command_runs(way, error):
    channel = channel_of(way)
    channel._most = 10  # so that the answer comes in pieces

    def fail(asked):
        if asked.task == "wait":
            raise error

    way.before = fail
    with pytest.raises(OutcomeUnknown):
        channel.call(bash("true"))


def test_a_request_that_the_far_end_cannot_read_is_answered(way):
    for line in (b'{"key": "x"}', b"\xff", b'{"a": "' + b"x" * (17 << 20) + b'"}'):
        told = wire.read_as(wire.Told, way.there.answer(line))
        assert told.state == "refused"
        assert "cannot be read" in told.piece


def test_what_is_too_large_is_refused_before_it_is_sent(way, tmp_path):
    workspace = RemoteWorkspace(channel_of(way))
    with pytest.raises(TooLarge, match="Nothing was done"):
        workspace.write_bytes("a.bin", os.urandom(13 << 20))
    assert not way.asked
    (tmp_path / "b.bin").write_bytes(os.urandom(13 << 20))
    with pytest.raises(TooLarge, match="pass at once"):
        workspace.read_bytes("b.bin")


def test_the_last_live_output_is_told_at_once_when_a_command_ends(way):
    way.gather = 0.01
    channel, told = channel_of(way), []
    before = way.ended
    made = channel.call(bash("seq 1 30000", emit=told.append))
    assert made.ok
    assert way.ended - before < 20
    assert "".join(told).endswith("29999\n30000\n")
    assert max(len(call.live) for call in way.there._calls.values()) == far.LIVE


def test_verbs_take_and_give_what_those_of_a_workspace_do(way, tmp_path):
    away, near = RemoteWorkspace(channel_of(way)), Workspace(tmp_path)
    odd = b"odd-\xff.txt"
    (tmp_path / os.fsdecode(odd)).write_text("x needle\n")
    assert away.write_bytes("a.bin", data=b"\xff\0").created
    assert away.write_bytes(path=tmp_path / "b.bin", data=b"\xff\0").created
    assert away.read_bytes(tmp_path / "a.bin").data == b"\xff\0"
    assert [*away.list(".")] == [*near.list(".")]
    assert os.fsdecode(odd) in {entry.path for entry in away.list(".")}
    assert away.find("*.txt") == near.find("*.txt")
    assert away.search("needle") == near.search("needle")
    assert away.edit_text("random.txt", "a", "b", occurrences="all").replacements
    assert away.run("printf '\\xff'; exit 3").exit_code == 3
    assert away.remove("b.bin").source.told == "b.bin"
    with pytest.raises(InvalidPath):
        away.read_text(os.fsdecode(b"no-\xff"))
    with pytest.raises(ConfigInvalid, match="cannot be sent"):
        away.read_text(object())


def test_a_hanging_place_holds_nobody_longer_than_the_attempt_under_way():
    begun, waiting, go = [], set(), threading.Event()

    class Flag(CancelFlag):
        def waking(self, wake):
            waiting.add(self)
            return super().waking(wake)

    def hang(command):
        begun.append(command)
        go.wait(PATIENCE)
        raise ConnectionError("no route")

    channel = SandboxChannel(hang)
    flags = [Flag() for _ in range(4)]
    with ThreadPoolExecutor() as threads:
        calls = [threads.submit(channel.call, Sending("ls", {}, cancelled=f)) for f in flags]
        assert eventually(lambda: begun and waiting == {*flags})
        flags[0].set()
        with pytest.raises(Cancelled):
            calls[0].result(PATIENCE)
        assert len(begun) == 1
        go.set()
        for call in calls[1:]:
            with pytest.raises(NetworkError, match="Nothing was done"):
                call.result(PATIENCE)


def test_answers_that_come_twice(tmp_path):
    stream = Stream(["sh", "-c", "read a; echo '1 {}'; echo '1 {}'; read b; echo '2 {}'"])
    for _ in range(2):
        assert stream.ask("x", PATIENCE, CancelFlag()) == b"{}\n"


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def test_connections_that_were_used_longest_ago_end_unless_somebody_waits():
    echo = ["sh", "-c", 'while read number line; do echo "$number {}"; done']
    busy = Stream(["sh", "-c", "read a; read b; echo '1 {}'; echo '2 {}'"])
    answers = []
    asking = threading.Thread(target=lambda: answers.append(busy.ask("x", PATIENCE, CancelFlag())))
    asking.start()
    with ExitStack() as ending:
        streams, counts = [], []
        for _ in range(2 * AT_HAND):
            streams.append(one := Stream(echo))
            ending.callback(one.end)
            assert one.ask("x", PATIENCE, CancelFlag()) == b"{}\n"
            counts.append(descriptors())
        assert eventually(lambda: descriptors() <= counts[AT_HAND] + 5)
        assert eventually(lambda: [one.alive for one in streams].count(True) <= AT_HAND)
        assert streams[-1].alive
        assert busy.alive
        with pytest.raises(Dropped):
            streams[0].ask("x", PATIENCE, CancelFlag())
        assert busy.ask("y", PATIENCE, CancelFlag()) == b"{}\n"
        asking.join(PATIENCE)
    assert answers == [b"{}\n"]


def test_a_channel_can_be_sent_and_copied():
    channels = SshChannel("host", "~", ssh=["-p", "2"]), SandboxChannel(os.system, ".", keep=False)
    for channel in channels:
        for made in (
            copy.copy(channel),
            copy.deepcopy(channel),
            pickle.loads(pickle.dumps(channel)),
        ):
            assert made is not channel
            assert str(made) == str(channel)
            assert made._link.keep == channel._link.keep
            assert made._root == channel._root


def test_the_words_of_a_user_for_ssh_come_first():
    argv = SshChannel("host", "~", ssh=["-o", "ConnectTimeout=3"])._link._argv
    assert argv.index("ConnectTimeout=3") < argv.index("ConnectTimeout=10")


def test_an_old_far_end_leaves_the_socket_of_its_successor(tmp_path, monkeypatch):
    monkeypatch.setattr(far, "LOOK", 0.05)
    looks, look = [], far._inode
    monkeypatch.setattr(far, "_inode", lambda path: looks.append(path) or look(path))
    socket = tmp_path / "socket"
    socket.touch()
    held = socket.open()
    old = threading.Thread(target=Way(tmp_path).there.run_out, args=(socket,))
    old.start()
    assert eventually(lambda: len(looks) > 1)
    (tmp_path / "new").touch()
    (tmp_path / "new").replace(socket)
    old.join(PATIENCE)
    held.close()
    assert not old.is_alive()
    assert socket.exists()


def test_the_oldest_replies_are_forgotten_and_then_the_oldest_calls(way, monkeypatch):
    channel = channel_of(way)
    for name, most in (("KEPT", 3000), ("KNOWN", 8)):
        monkeypatch.setattr(far, name, most)
    for _ in range(6):
        assert channel.call(bash("seq 1000 | sha256sum")).ok
    calls = [*way.there._calls.values()]
    assert [bool(call.reply) for call in calls] == sorted(bool(call.reply) for call in calls)
    assert sum(call.size for call in calls) == way.there._size <= 3000
    for _ in range(20):
        assert channel.call(bash("true")).ok
    assert len(way.there._calls) == 8
    assert not {*calls} & {*way.there._calls.values()}


def test_what_was_sent_and_never_read_is_removed(tmp_path, monkeypatch):
    old, new = tmp_path / "old.0", tmp_path / "new.0"
    old.touch()
    new.touch()
    os.utime(old, (time.time() - 2 * far.LEFT,) * 2)
    far._sweep(tmp_path)
    assert [*tmp_path.iterdir()] == [new]
