"""Without network namespaces: commands reach each other's servers on this machine, no others."""

import shutil
import socket
import subprocess
import sys

import pytest

from fsagent_tools.process import launcher
from fsagent_tools.sandbox import seccomp
from tests.conftest import PATIENCE, needs_curl

pytestmark = pytest.mark.skipif(
    not (seccomp.available() and launcher.has_loopback()), reason="nobody can be told of calls here"
)
OUT = """
import socket, sys
def tried(what, *arguments):
    try:
        what(*arguments)
        print("done")
    except OSError as error:
        print(error.errno)
"""


@pytest.fixture
def script(landlock_sh, tmp_path):
    """Run Python with `tried`, and what it printed."""

    def run(code, *arguments):
        (tmp_path / "ws/s.py").write_text(OUT + code)
        return landlock_sh(f"python3 s.py {' '.join(map(str, arguments))}").text

    return run


@needs_curl
@pytest.mark.parametrize("bound", ["", "--bind 127.0.0.1", "--bind ::"])
def test_a_server_of_one_command_answers_the_next(landlock_sh, tmp_path, bound):
    (tmp_path / "ws/hello.txt").write_text("hello from the job")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    landlock_sh(f"exec python3 -u -m http.server {port} {bound}", hidden={"background": True})
    fetch = f"curl -s --retry 60 --retry-delay 1 --retry-connrefused localhost:{port}/hello.txt"
    assert landlock_sh(fetch).text == "hello from the job"


@pytest.mark.parametrize("name", ["'s.sock'", "'/'.join((os.getcwd(), 's.sock'))", r"'\0a b\0c'"])
@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_SEQPACKET"])
def test_so_does_one_behind_a_unix_socket(script, name, kind):
    code = f"""
import os
server, *clients = (socket.socket(socket.AF_UNIX, socket.{kind}) for _ in range(3))
server.bind({name})
server.listen()
for client in clients:
    client.connect({name})
    server.accept()[0].send(b"hello")
    print(client.recv(5).decode())
"""
    assert script(code) == "hello\nhello"


SOCKET = seccomp._CALLS["socket"][seccomp._column()]


@pytest.mark.parametrize("high", [(0, 0), (1 << 32, 0), (0, 1 << 32), (0, 1 << 31)])
def test_a_socket_is_what_the_kernel_takes_its_numbers_for(script, high):
    code = f"""
import ctypes, os
make = ctypes.CDLL(None, use_errno=True).syscall
make.argtypes = [ctypes.c_long] * 4
fd = make({SOCKET}, {high[0]} | socket.AF_INET, {high[1]} | socket.SOCK_STREAM, 0)
print(socket.socket(fileno=fd).getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
      if fd >= 0 else "refused")
"""
    assert script(code) == ("refused" if high[1] == 1 << 31 else "b'lo\\x00'")


def test_a_path_through_ones_own_descriptors_leads_where_it_does(script):
    code = """
import os
os.mkdir("long")
server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
place = f"/proc/self/fd/{os.open('long', os.O_RDONLY)}/s.sock"
server.bind(place)
server.listen()
tried(client.connect, place)
"""
    assert script(code) == "done"


def test_a_connection_that_waits_holds_nobody_up(script):
    code = """
import threading
full = socket.socket()
full.bind(("127.0.0.1", 0))
full.listen(0)
waiting = [socket.socket() for _ in range(4)]
for one in waiting:
    threading.Thread(target=one.connect, args=(full.getsockname(),), daemon=True).start()
server = socket.create_server(("127.0.0.1", 0))
print(bool(socket.create_connection(server.getsockname())), flush=True)
import os
os._exit(0)
"""
    assert script(code) == "True"


def test_options_and_flags_of_a_socket_are_as_they_were_set(script):
    code = """
import fcntl, os
server = socket.create_server(("127.0.0.1", 0))
one = socket.socket()
one.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
one.bind(("127.0.0.1", 0))
name = one.getsockname()
one.setblocking(False)
print(one.connect_ex(server.getsockname()) in (0, 115))
print(one.getsockname() == name, one.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
print(fcntl.fcntl(one, fcntl.F_GETFD), one.type & 0xf, one.getblocking())
tried(one.connect, server.getsockname())
"""
    assert script(code).replace("106", "done") == "True\nTrue 1\n1 1 False\ndone"


def test_nothing_leaves_the_machine(script):
    code = r"""
one = socket.socket()
tried(one.connect, ("192.0.2.1", 80))
tried(socket.socket(socket.AF_INET6).connect, ("::ffff:192.0.2.1", 80))
tried(one.setsockopt, socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"\0")
tried(one.sendto, b"x", socket.MSG_FASTOPEN, ("192.0.2.1", 80))
tried(one.sendmsg, [b"x"], [], socket.MSG_FASTOPEN, ("192.0.2.1", 80))
"""
    *tried, note = script(code).splitlines()
    assert tried == ["101", "101", "1", "1", "1"]
    assert note == "[network is off here; ask the user]"


def test_it_is_told_where_something_wanted_to_leave_it(landlock_sh):
    said = landlock_sh("exec 3<>/dev/tcp/192.0.2.1/80; true").text
    assert said.count("network is off here") == 1
    assert "network" not in landlock_sh("exec 3<>/dev/tcp/127.0.0.1/9; true").text


def test_servers_of_others_are_out_of_reach(script, tmp_path):
    code = r"""
tried(socket.create_connection, ("127.0.0.1", int(sys.argv[1])))
tried(socket.create_connection, ("0.0.0.0", int(sys.argv[1])))
for path in (*sys.argv[2:], "\0fsagent-test-" + sys.argv[1]):
    tried(socket.socket(socket.AF_UNIX).connect, path)
tried(socket.socketpair, socket.AF_UNIX, socket.SOCK_DGRAM)
"""
    paths = [tmp_path / "out.sock", tmp_path / "ws/in.sock"]
    (tmp_path / "ws/link.sock").symlink_to(paths[0])
    servers = [socket.socket(socket.AF_UNIX) for _ in "123"]
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for one, name in zip(servers, [*map(str, paths), f"\0fsagent-test-{port}"], strict=True):
            one.bind(name)
            one.listen()
        said = script(code, port, *paths, tmp_path / "ws/link.sock")
    for one in servers:
        one.close()
    assert said.splitlines()[:7] == ["111", "111", "13", "13", "13", "111", "1"]


SWAPS = """
import ctypes, threading
libc = ctypes.CDLL(None, use_errno=True)
own = socket.create_server(("127.0.0.1", 0), backlog=4000)
other = int(sys.argv[1])
class Address(ctypes.Structure):
    _fields_ = (("family", ctypes.c_ushort), ("port", ctypes.c_ushort), ("ip", ctypes.c_ubyte * 12))
where = Address(2, 0, (ctypes.c_ubyte * 12)(127, 0, 0, 1))
ports = [socket.htons(own.getsockname()[1]), socket.htons(other)]
def swap():
    while True:
        where.port = ports[0]
        where.port = ports[1]
threading.Thread(target=swap, daemon=True).start()
reached = 0
for _ in range(100):
    one = socket.socket()
    reached += libc.connect(one.fileno(), ctypes.byref(where), 16) == 0
    one.close()
print("reached", reached > 0, flush=True)
import os
os._exit(0)
"""


def test_an_address_that_changes_during_the_call_leads_nowhere_else(script):
    with socket.create_server(("127.0.0.1", 0), backlog=4000) as server:
        assert script(SWAPS, server.getsockname()[1]) == "reached True"
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


FILTER = """
import ctypes, errno, socket, sys
from fsagent_tools.sandbox import kernel, seccomp
rule = seccomp._rule({number}, [], 0)
code = seccomp._instruction(0x20, 0) + rule + seccomp._instruction(0x06, 0x7FFF0000)
program = seccomp.Program(len(code) // 8, code)
kernel.prctl("no_new_privs", 38, 1, 0, 0, 0)
kernel.prctl("seccomp", 22, 2, ctypes.addressof(program), 0, 0)
from fsagent_tools import Workspace, toolset
"""
PIDFD_GETFD, UNSHARE = 438, seccomp._CALLS["unshare"][seccomp._column()]  # containers refuse them
CONTAINER = """
from fsagent_tools.process import launcher
launcher.NAMESPACES = False
workspace = Workspace(sys.argv[1])
print(toolset("workspace").bind(workspace)["bash"].call({"command": "python3 s.py"}).text)
workspace.close()
"""


def test_it_works_where_a_container_forbids_to_share_descriptors(tmp_path):
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/s.py").write_text("""
import asyncio, os, socket
async def main():
    async def serve(reader, writer):
        writer.write(await reader.read(5))
        writer.close()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    local = await asyncio.start_unix_server(serve, "s.sock")
    place = server.sockets[0].getsockname()
    for way in (asyncio.open_connection(*place), asyncio.open_unix_connection("s.sock")):
        reader, writer = await way
        writer.write(b"hello")
        print((await reader.read()).decode())
asyncio.run(main())
""")
    done = subprocess.run(
        [sys.executable, "-c", FILTER.format(number=PIDFD_GETFD) + CONTAINER, tmp_path / "ws"],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.stdout == "hello\nhello\n", done.stderr


def test_the_description_is_right_where_a_container_refuses_namespaces(tmp_path):
    script = (
        FILTER.format(number=UNSHARE)
        + """
tool = toolset("workspace").bind(Workspace(sys.argv[1]))["bash"]
print(tool.description)
print(tool.call({"command": ":"}).data["sandbox"])
"""
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path], capture_output=True, text=True, timeout=PATIENCE
    )
    assert "namespaces" not in done.stdout.splitlines()[-1], done.stderr
    assert "No network but TCP on localhost." in done.stdout


def test_wget_gives_up_at_once(landlock_sh):
    if not shutil.which("wget"):
        pytest.skip("wget is not installed")
    assert landlock_sh("wget -qO- http://localhost:1").data["exit_code"] == 4
