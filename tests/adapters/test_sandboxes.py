"""Places that fail: lost answers, cut ones, processes that do not last, and what is not there."""

import base64
import json
import os
import signal
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

import places
from fsagent_tools import Policy, emitting, identified, select_tools
from fsagent_tools.errors import ConfigInvalid, NetworkError
from fsagent_tools.remote import LocalChannel, Sending
from fsagent_tools_places import SandboxChannel, SshChannel, far, wire
from tests.conftest import PATIENCE, children, eventually

LOST = ConnectionError("connection lost")
LATE = TimeoutError("no answer in 30 s")


def tools_of(provider, **options):
    channel = SandboxChannel(provider, **places.FAR, **options)
    return {tool.name: tool for tool in select_tools(channel)}


READ = {"file_path": "shop/prices.py"}
ONCE = {"command": "echo once >> log"}


def test_a_warm_call_is_one_round_trip(provider):
    tools = tools_of(provider)
    edit = {"file_path": "new.txt", "content": "x\n"}
    for name, sent in (("read", READ), ("write", edit), ("bash", {"command": "ls"})):
        before = provider.trips
        assert tools[name].call(sent).ok
        assert provider.trips - before == 1


@pytest.mark.parametrize("error", [LOST, LATE])
def test_what_is_lost_on_either_way_is_sent_again_and_done_once(provider, shop, error):
    bash = tools_of(provider)["bash"]
    for failing in (provider.before, provider.after):
        (shop / "log").unlink(missing_ok=True)
        failing.append(error)
        assert bash.call(ONCE).ok
        assert (shop / "log").read_text() == "once\n"


def test_a_place_that_stays_away(provider, shop):
    tools = tools_of(provider)
    provider.before += [LOST] * 100
    unknown = tools["bash"].call(ONCE)
    assert unknown.code == "OUTCOME_UNKNOWN"
    assert "connection lost" in unknown.text
    assert tools["read"].call(READ).code == "NETWORK_ERROR"
    assert "Nothing was done" in tools["bash"].call(ONCE).text  # since it was not reached
    provider.before.clear()
    assert tools["read"].call(READ).ok


def test_a_far_end_that_ends_in_the_middle(provider, shop):
    tools = tools_of(provider)
    killer = threading.Thread(target=lambda: eventually((shop / "begun").exists) and provider.end())
    killer.start()
    assert tools["bash"].call({"command": "touch begun; sleep 600"}).code == "OUTCOME_UNKNOWN"
    killer.join()
    assert tools["read"].call(READ).ok


@pytest.mark.parametrize("most", [1000, 3000, 20_000])
def test_a_provider_that_cuts_answers(shop, state, most):
    provider = places.Provider(shop, state)
    tools = tools_of(provider)
    provider.most = most
    text = "".join(os.urandom(30).hex() + "\n" for _ in range(500))
    (shop / "random.txt").write_text(text)
    shown = tools["bash"].call({"command": "cat random.txt"})
    assert (
        shown.text
        == tools_of(places.Provider(shop, state))["bash"].call({"command": "cat random.txt"}).text
    )
    assert len(shown.text) > most


def test_an_argument_that_no_command_line_takes(provider, shop):
    text = os.urandom(300_000).hex()
    provider.before += [None] * 20
    tools = tools_of(provider)
    provider.after += [None, LOST]
    assert tools["write"].call({"file_path": "new.txt", "content": text}).ok
    assert (shop / "new.txt").read_text() == text


def test_a_place_where_no_process_lasts(shop, state):
    provider = places.Provider(shop, state, lasting=False)
    with pytest.raises(ConfigInvalid, match="keep=False does without"):
        tools_of(provider)
    tools = tools_of(provider, keep=False)
    assert "jobs" not in tools
    provider.after.append(LOST)
    assert tools["read"].call(READ).ok
    provider.after.append(LOST)
    assert tools["bash"].call(ONCE).code == "OUTCOME_UNKNOWN"
    assert (shop / "log").read_text() == "once\n"


def test_what_a_place_lacks_is_said_when_tools_are_made(shop, state):
    provider = places.Provider(shop, state)
    for options, told in (
        ({"root": "nowhere"}, "There is no directory .*/nowhere"),
        ({"toolset": "no_such"}, "no_such"),
        ({"package": "no-such-requirement=="}, "pip"),
    ):
        with pytest.raises(ConfigInvalid, match=told):
            tools_of(provider, **options)
    with pytest.raises(ConfigInvalid, match=r'no_python.*not found.*python="..." names'):
        select_tools(SandboxChannel(provider, python="no_python"))
    with pytest.raises(ConfigInvalid, match="have to be sent"):
        SandboxChannel(provider, toolset=threading.Lock())
    with pytest.raises(ConfigInvalid, match="is no wheel"):
        tools_of(provider, package=shop / "none.whl")


@pytest.mark.parametrize("asks", [True, False])
def test_a_call_for_which_nobody_asks_any_more_is_given_up(shop, monkeypatch, asks):
    for name, seconds in (("ALONE", 0.5), ("LOOK", 0.05)):
        monkeypatch.setattr(far, name, seconds)
    there = far.Far(lambda root: LocalChannel(select_tools(shop)), idle=60)
    command = {"command": "touch begun; until [ -e go ]; do sleep 0.05; done"}
    sent = wire.packed_sending(Sending("bash", command))
    way = shop / "way"
    way.touch()

    def ask(task, wait=0.0):
        asked = wire.Asked("k", task, sent, wait=wait, most=9999)
        return wire.read_as(wire.Told, there.answer(wire.as_json(asked)))

    with ThreadPoolExecutor() as threads:
        threads.submit(there.run_out, way)
        if asks:
            answer = threads.submit(ask, "call", PATIENCE)
            assert eventually((shop / "begun").exists)
            time.sleep(3 * far.ALONE)
            (shop / "go").touch()
            done = answer.result()
        else:
            ask("call")
            assert eventually(there._calls["k"].cancelled.is_set)
            done = ask("wait", PATIENCE)
        way.unlink()
    assert wire.unpacked_reply(done.piece).ok is asks


def test_the_policy_goes_there(provider):
    assert "write" not in tools_of(provider, policy=Policy(readonly=True))


def test_live_output_comes_while_a_command_runs(provider, shop):
    bash = tools_of(provider)["bash"]
    told = []

    def emit(text):
        told.append(text)
        (shop / "heard").touch()

    with emitting(emit):
        done = bash.call({"command": "echo one; until [ -e heard ]; do sleep 0.1; done; echo two"})
    assert done.ok
    assert "".join(told) == "one\ntwo\n"


def packed(data):
    return base64.b64encode(zlib.compress(data)).decode()


@pytest.mark.parametrize("reply", [
    "",
    "no base64",
    packed(b"no JSON"),
    packed(json.dumps([{"name": "../x"}]).encode()),
    packed(json.dumps({"text": "x", "code": 7, "told": []}).encode()),
    packed(b" " * (1 << 26)),
    packed(b"[" * 300_000),
])  # fmt: skip
def test_a_place_is_not_trusted(reply, provider):
    read = tools_of(provider)["read"]
    answer = {"state": "done", "boot": "b", "total": len(reply), "piece": reply}
    run = provider.execute

    def lie(command):
        done = run(command)
        done.output = f"fsagent{json.dumps(answer)}"
        return done

    provider.execute = lie
    assert read.call(READ).code == "NETWORK_ERROR"


def test_a_connection_of_ssh_that_breaks_while_a_command_runs(ssh, shop):
    channel = SshChannel("127.0.0.1", str(shop), ssh=ssh, **places.FAR)
    bash = {tool.name: tool for tool in select_tools(channel)}["bash"]

    def cut():
        assert eventually((shop / "begun").exists)
        for child in children():
            with suppress(OSError):  # it has ended
                if Path(f"/proc/{child}/cmdline").read_bytes().startswith(b"ssh\0"):
                    os.kill(int(child), signal.SIGKILL)
        (shop / "go").touch()

    killer = threading.Thread(target=cut)
    killer.start()
    done = bash.call({"command": "touch begun; until [ -e go ]; do sleep 0.1; done; echo x >> log"})
    killer.join()
    assert done.ok
    assert (shop / "log").read_text() == "x\n"


def test_a_connection_that_was_closed_for_others_is_made_again(ssh, shop, tmp_path, monkeypatch):
    monkeypatch.setattr("fsagent_tools_places.ssh.AT_HAND", 1)
    (other := tmp_path / "other").mkdir()
    (other / "a.txt").write_text("one\n")
    words = {shop: ssh, other: [*ssh, "-v"]}  # else both have the same one
    ours, others = (
        {
            tool.name: tool
            for tool in select_tools(SshChannel("127.0.0.1", str(at), ssh=via, **places.FAR))
        }
        for at, via in words.items()
    )
    for _ in range(3):
        assert ours["bash"].call({"command": "sleep 600", "background": True}).ok
        shown = others["read"].call({"file_path": "a.txt"}).text
        change = {"line_id": shown.splitlines()[0], "new_content": f"{shown} more"}
        assert ours["read"].call(READ).ok
        assert others["edit_lines"].call({"file_path": "a.txt", "changes": [change]}).ok
    assert ours["jobs"].call({"action": "list"}).text.count("running") == 3


def ssh_processes():
    found = set()
    for child in children():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            if Path(f"/proc/{child}/cmdline").read_bytes().startswith(b"ssh\0"):
                found.add(child)
    return found


def test_all_directories_of_a_host_have_one_connection_and_one_far_end(ssh, tmp_path):
    """A job of one user goes on while many others come, each with a channel made for the call."""

    def home(user):
        return SshChannel("127.0.0.1", str(tmp_path / f"{user}"), ssh=ssh, **places.FAR)

    tools = {tool.name: tool for tool in select_tools(home)}

    def use(user, name, **sent):
        with identified(session=f"of {user}"), tools[name].within(user) as there:
            return there.call(sent)

    for user in range(20):
        (tmp_path / f"{user}").mkdir()
        (tmp_path / f"{user}/a.txt").write_text(f"user {user}\n")
    assert use(0, "bash", command="sleep 600", background=True).ok
    before = ssh_processes()
    for user in range(1, 20):
        assert f"user {user}" in use(user, "read", file_path="a.txt").text
        assert use(user, "write", file_path="b.txt", content=f"{user}\n").ok
        assert (tmp_path / f"{user}/b.txt").read_text() == f"{user}\n"
        assert use(user, "read", file_path=str(tmp_path / "0/a.txt")).code.startswith("PATH_")
    assert ssh_processes() <= before  # one of an earlier test may have ended
    assert "1: running" in use(0, "jobs", action="list").text
    assert use("nobody", "read", file_path="a.txt").code == "CONFIG_INVALID"


def test_a_host_that_ssh_does_not_reach(ssh, shop):
    closed = ["9" if word.isdigit() else word for word in ssh]
    with pytest.raises(NetworkError, match="does not answer"):
        select_tools(SshChannel("127.0.0.1", str(shop), ssh=closed))
    with pytest.raises(ConfigInvalid, match="no_such"):
        select_tools(SshChannel("127.0.0.1", str(shop), ssh=ssh, toolset="no_such", **places.FAR))
    with pytest.raises(ConfigInvalid, match="no host"):
        SshChannel("-oProxyCommand=x", str(shop))


def test_a_policy_beside_a_place_of_a_run_is_refused(provider):
    channel = SandboxChannel(provider, **places.FAR)
    read = select_tools(lambda run: channel, policy=Policy(readonly=True))[0]
    with pytest.raises(ConfigInvalid, match="policy and paths are those of the server"):
        read.within(None).__enter__()
    with pytest.raises(ConfigInvalid, match="7 is no workspace, path, URL or Channel"):
        select_tools(lambda run: 7)[0].within(None).__enter__()
