"""How a place gets this package: by several hosts at once, and where it must not or cannot."""

import base64
import gc
import os
import pickle
import shlex
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

import places
from fsagent_tools import Policy, select_tools
from fsagent_tools.errors import ConfigInvalid, NetworkError
from fsagent_tools_langchain import get_tools
from fsagent_tools_places import SandboxChannel, SshChannel
from fsagent_tools_places.ssh import Stream
from fsagent_tools_places.wheels import package
from tests.conftest import eventually

SECRET = Policy(proxy="http://user:hunter2@proxy:3128")


def tools_of(provider, **options):
    return {tool.name: tool for tool in select_tools(SandboxChannel(provider, **options))}


def test_hosts_that_come_to_a_fresh_place_at_once(shop, tmp_path):
    provider = places.Provider(shop, tmp_path / "fresh")
    with ThreadPoolExecutor() as hosts:
        made = [hosts.submit(tools_of, provider, **places.FAR) for _ in range(3)]
        assert all("read" in tools.result() for tools in made)
    left = sorted(path.name for path in (tmp_path / "fresh/fsagent/far").iterdir())
    provider.end()
    assert left == [package(None).id]


def test_a_root_with_the_state_directory_is_served_and_what_runs_there_is_closed(shop, caplog):
    provider = places.Provider(shop, shop / ".local/state")
    tools = tools_of(provider, root="~", **places.FAR)
    assert "has no undo" in caplog.text
    (knock,) = (shop / ".local/state/fsagent/far").glob("*/fsagent_tools_places/knock.py")
    before, path = knock.read_text(), str(knock.relative_to(shop))
    assert tools["write"].call({"file_path": path, "content": "x\n"}).code == "PATH_DENIED"
    tools["bash"].call({"command": "mv .local moved; mkdir -p .local; echo x > " + path})
    sandbox = tools["bash"].call({"command": "true"}).to_dict()["sandbox"]
    provider.end()
    assert knock.read_text() == before or "namespaces" not in sandbox


def test_a_directory_that_others_may_write_to_runs_nothing(provider, shop, tmp_path):
    planted = places.Provider(shop, tmp_path)
    code = tmp_path / "fsagent/far" / package(None).id / "fsagent_tools_places"
    code.mkdir(parents=True)
    (code / "knock.py").write_text("open('ran', 'w')")
    code.parent.chmod(0o777)
    with pytest.raises(ConfigInvalid, match=r"Others may write to .*XDG_STATE_HOME"):
        tools_of(planted, **places.FAR)
    if os.geteuid() == 0:
        code.parent.chmod(0o700)
        os.chown(code.parent, 65534, 65534)
        with pytest.raises(ConfigInvalid, match=r"Others may write to .*XDG_STATE_HOME"):
            tools_of(planted, **places.FAR)
    assert not (shop / "ran").exists()


def test_a_place_that_takes_no_files(shop, provider):
    for state in ("/proc/none", shop / "shop/prices.py"):
        with pytest.raises(ConfigInvalid, match=r"cannot have the tools.*XDG_STATE_HOME"):
            tools_of(places.Provider(shop, state), **places.FAR)
    link = SandboxChannel(provider, **places.FAR)._link
    link._far = str(shop / "none")
    with pytest.raises(ConfigInvalid, match=r"takes no file.*Free space"):
        link._put("x" * 200_000)


def test_a_tool_that_was_pickled_works_at_the_same_place(ssh, shop):
    channel = SshChannel("127.0.0.1", str(shop), ssh=ssh, **places.FAR)
    tools = {tool.name: tool for tool in pickle.loads(pickle.dumps(get_tools(channel)))}
    assert "price" in tools["read"].invoke({"file_path": "shop/prices.py"}).lower()
    assert {name: tool.args for name, tool in tools.items()} == {
        tool.name: tool.args for tool in get_tools(channel)
    }


def test_settings_are_no_words_of_a_command_over_ssh(ssh, shop, monkeypatch):
    seen, popen = [], subprocess.Popen

    class Watched(popen):
        def __init__(self, argv, *given, **more):
            seen.append(list(argv))
            super().__init__(argv, *given, **more)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    channel = SshChannel("127.0.0.1", str(shop), ssh=ssh, policy=SECRET, **places.FAR)
    assert b"hunter2" in base64.b64decode(channel._link._settings)
    assert channel.tools()
    words = [word for argv in seen for part in argv for word in shlex.split(part)]
    assert seen
    assert not any(channel._link._settings in word or "hunter2" in word for word in words)


def test_a_root_goes_up_from_what_a_link_leads_to(provider, tmp_path):
    for name in ("there/site", "there/deep", "here/site"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.txt").write_text(f"{name}\n")
    (tmp_path / "here/link").symlink_to(tmp_path / "there/deep")
    tools = tools_of(provider, root=str(tmp_path / "here/link/../site"), **places.FAR)
    assert "there/site" in tools["read"].call({"file_path": "a.txt"}).text


def test_a_forked_child_waits_for_no_connection_of_its_parent(tmp_path, monkeypatch):
    """Each process makes one of its own, also over the channels that it got from the other one."""
    (ssh := tmp_path / "bin/ssh").parent.mkdir()
    hangs = f"until [ -e {tmp_path}/over ]; do sleep 0.1; done"
    ssh.write_text(f"#!/bin/sh\ntouch {tmp_path}/$PPID; {hangs}\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}{os.pathsep}{os.environ['PATH']}")
    channel = SshChannel("host", "/")

    def connect():
        with suppress(NetworkError):
            channel.tools()

    def connects():
        (thread := threading.Thread(target=connect, daemon=True)).start()
        return eventually((tmp_path / f"{os.getpid()}").exists) and thread

    try:
        thread = connects()
        assert thread
        with channel._link._lock:  # of another thread, which the child does not have
            child = os.fork()
        if not child:
            os._exit(not connects())
        assert os.waitpid(child, 0)[1] == 0
    finally:
        (tmp_path / "over").touch()
        thread.join()


def test_a_forked_child_sends_nothing_over_a_connection_of_its_parent(tmp_path):
    """What a thread was about to send when the process was forked is sent once."""
    stream = Stream(["sh", "-c", f"cat > {tmp_path}/sent"])
    stream._process.stdin.write(b"1 request\n")
    if not (child := os.fork()):
        del stream
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    stream._process.stdin.close()
    stream._process.wait()
    assert (tmp_path / "sent").read_text() == "1 request\n"
