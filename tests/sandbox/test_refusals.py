"""What the sandbox refuses is said in one sentence, whatever the exit code."""

import shutil
from contextlib import closing

import pytest

from fsagent_tools import TOOLSETS, Policy, Workspace, toolset
from fsagent_tools.policy import Limits, ProcessPolicy
from fsagent_tools.process import in_force, launcher
from fsagent_tools.process import refusals as refused
from fsagent_tools.sandbox import landlock, seccomp
from tests.conftest import needs_curl

OFF = "[network is off here; ask the user]"
NEEDS_NODE = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
GIT = "[the user's own git configuration is closed: leave out --global, or ask the user]"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("curl -sS http://example.com", marks=needs_curl),
        "exec 3<>/dev/tcp/192.0.2.1/80; false",
        "git clone -q https://example.com/a/b",
        "python3 -c 'import urllib.request as u; u.urlopen(\"http://example.com\")'",
    ],
)
def test_a_command_that_needs_the_network_is_told_that_it_is_off(sh, command):
    assert sh(command).text.count(OFF) == 1


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("curl -sS http://example.com; echo fine", marks=needs_curl),
        "exec 3<>/dev/tcp/192.0.2.1/80; true",
        "git clone -q https://example.com/a/b 2>&1 | cat",
        "python3 -c 'import urllib.request as u; u.urlopen(\"http://example.com\")' || true",
    ],
)
def test_what_the_kernel_saw_is_told_whatever_the_exit_code(namespace_sh, command):
    assert namespace_sh(command).text.count(OFF) == 1


@pytest.mark.parametrize(
    "command",
    [
        "python3 -m http.server 8123",
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 9))'",
        pytest.param("node -e 'require(\"net\").createServer().listen(8124)'", marks=NEEDS_NODE),
        pytest.param("node -e 'require(\"net\").connect(9)'", marks=NEEDS_NODE),
    ],
)
def test_where_there_is_no_localhost_a_program_that_wants_it_is_told(
    landlock_sh, command, lacking, monkeypatch
):
    monkeypatch.setattr(refused, "has_loopback", lambda: False)
    lacking("loopback")
    assert landlock_sh(command).text.count(OFF) == 1


ORDINARY = """
python3 -c "open('nofile')"
python3 -c "import nothere"
python3 -c "import nothere"; true
python3 -c "raise ConnectionRefusedError"
python3 -c "raise ValueError('enotfound')"
python3 -c "1/0"
python3 -c "{}['key']"
python3 -c "print(undefined)"
python3 -c "def f(:"
python3 -c "assert 1 == 2, 'FileNotFoundError'"
python3 -c "import subprocess; subprocess.run(['nothere'])"
python3 -c "import os; os.mkdir('a/b/c')"
python3 -c "import json; json.loads('{')"
python3 -c "import sys; sys.exit('ModuleNotFoundError')"
python3 -c "b'\\xff'.decode()"
python3 nofile.py
python3 -m nothere
python3 -m pytest -q nothere.py
python3 -m unittest nothere
echo PageNotFound
echo PageNotFound; exit 1
echo EnotFoundry; exit 2
echo 'raise FileNotFoundError' > y.py; grep -n Error y.py
grep -n absent y.py
grep -rn ENOTFOUND . ; true
echo 'it could not resolve the merge'; true
echo 'name resolution order'; true
cat nofile
ls nodir
cd nodir
rm nofile
cp nofile other
mv nofile other
mkdir a/b/c
rmdir nodir
cmd_that_is_not_there
./nofile
echo ls > script; ./script
./script || exit 1
mkdir -p folder; ./folder
bash nofile.sh
bash -c 'set -u; echo $unset_variable'
if true; then
echo $((1/0))
kill -9 $$
false
exit 3
test -f nofile
diff y.py nofile
sort nofile
head -n 1 nofile
tar xf nofile.tar
find nodir
sed -n 1p nofile
awk 'BEGIN { exit 4 }'
git log
git checkout nobranch
git show nofile
make
make nothing
getent hosts localhost
getent hosts localhost | cat; true
getent ahosts localhost
python3 -c "import socket; print(socket.gethostbyname('localhost'))"
python3 -c "import socket; socket.getaddrinfo('localhost', 80)"
exec 3<>/dev/tcp/127.0.0.1/9
""".strip().splitlines()


def test_no_ordinary_failure_is_put_down_to_the_sandbox(namespace_sh):
    assert not [command for command in ORDINARY if "ask the user" in namespace_sh(command).text]


def test_no_ordinary_failure_is_put_down_to_the_sandbox_without_namespaces(landlock_sh):
    own = [line for line in ORDINARY if "/dev/tcp" not in line and "|| exit 1" not in line]
    assert not [command for command in own if "ask the user" in landlock_sh(command).text]


@pytest.mark.parametrize("command", ["exit 1", "true"])
def test_a_word_of_an_error_code_counts_when_the_command_has_failed(landlock_sh, command):
    out = landlock_sh(f"echo 'getaddrinfo ENOTFOUND a.example'; {command}")
    assert (OFF in out.text) == (command == "exit 1")


def test_a_lookup_of_localhost_is_no_attempt(namespace_sh):
    assert namespace_sh("getent hosts localhost; echo fine").text.endswith("fine")
    assert OFF in namespace_sh("getent hosts a.example").text


def test_what_nothing_confines_is_told_of_no_refusal(root, lacking):
    lacking("namespaces", "landlock", "seccomp")
    with closing(Workspace(root)) as workspace:
        tool = toolset("workspace").bind(workspace)["bash"]
        out = tool.call({"command": "echo could not resolve host: permission denied; exit 1"})
    assert out.data["sandbox"] == "none"
    assert not out.data["refused"]


@needs_curl
@pytest.mark.parametrize(
    "command",
    [
        "curl -s http://example.com; true",
        "curl -s http://192.0.2.1 2>/dev/null; echo fine",
        "(curl -s http://example.com; true) & wait",
    ],
)
def test_the_kernel_tells_when_a_program_does_not(namespace_sh, command):
    assert OFF in namespace_sh(command).text


CONNECT = """python3 -c '
import socket, sys
with socket.socket(getattr(socket, sys.argv[1]), socket.SOCK_DGRAM) as one:
    one.connect_ex(eval(sys.argv[2]))
' {} {}"""


@pytest.mark.parametrize(
    ("family", "address", "told"),
    [
        ("AF_INET", '("192.0.2.1", 9)', True),
        ("AF_INET6", '("2001:db8::1", 9)', True),
        ("AF_INET6", '("::ffff:192.0.2.1", 9)', True),
        ("AF_INET", '("127.1.2.3", 9)', False),
        ("AF_INET", '("0.0.0.0", 9)', False),
        ("AF_INET6", '("::1", 9)', False),
        ("AF_INET6", '("::ffff:127.0.0.1", 9)', False),
        ("AF_UNIX", '"a-name-as-long-as-that"', False),
    ],
)
def test_an_attempt_is_told_by_where_it_leads(namespace_sh, family, address, told):
    out = namespace_sh(CONNECT.format(family, f"'{address}'"))
    assert (OFF in out.text) == told
    assert "Traceback" not in out.text


@needs_curl
def test_what_one_command_tries_is_not_told_of_a_job_beside_it(root):
    with closing(Workspace(root)) as workspace:
        tools = toolset("workspace").bind(workspace)
        tools["bash"].call({"command": "sleep 7300", "background": True})
        tried = tools["bash"].call({"command": "curl -s http://192.0.2.1; true"})
        if not tried.data["sandbox"].startswith("namespaces"):
            pytest.skip("this system has no namespaces")
        assert OFF in tried.text
        assert OFF not in tools["jobs"].call({"job": "1", "action": "stop"}).text


@needs_curl
def test_a_command_is_not_told_what_a_job_beside_it_tries(root):
    with closing(Workspace(root)) as workspace:
        tools = toolset("workspace").bind(workspace)
        tries = "until [ -e begun ]; do sleep 0.01; done; curl -s http://192.0.2.1; touch tried"
        tools["bash"].call({"command": f"{tries}; sleep 7300", "background": True})
        waited = "touch begun; until [ -e tried ]; do sleep 0.01; done"
        beside = tools["bash"].call({"command": f"{waited}; curl -s localhost:9; true"})
        if not beside.data["sandbox"].startswith("namespaces"):
            pytest.skip("this system has no namespaces")
        assert OFF not in beside.text
        assert OFF in tools["jobs"].call({"job": "1", "action": "stop"}).text


@needs_curl
def test_what_needs_no_network_is_told_nothing(sh):
    assert sh("echo fine; curl -s localhost:9 || true").text == "fine"
    assert OFF not in sh("python3 -m pip list; python3 -m json.tool --help").text
    assert OFF not in sh("curl -s localhost:9; echo could not resolve", network=True).text


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_what_installs_things_does_not_try_again_without_a_network(sh):
    out = sh("env | grep -ciE 'retr(y|ies)=0'; npm view left-pad", timeout=45)
    assert out.code != "TIMEOUT"  # it waits for more than a minute otherwise
    assert OFF in out.text
    assert "RETR" not in sh("env", network=True).text.upper()


def test_a_change_of_the_users_own_git_configuration_is_refused_with_another_way(namespace_sh):
    out = namespace_sh("git config --global user.name x; true")
    assert out.text.count(GIT) == 1


def test_a_socket_that_is_never_opened_is_said_to_be_one(sh):
    out = sh("python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'")
    assert f"[{out.data['sandbox']}: it opens no socket of this kind; ask the user]" in out.text


@pytest.mark.skipif(not shutil.which("script"), reason="script is not installed")
def test_a_terminal_that_is_not_to_be_had_is_said_to_be_one(landlock_sh):
    out = landlock_sh("script -qc 'echo x' /dev/null")
    assert f"[{out.data['sandbox']}: no command opens a terminal here; ask the user]" in out.text
    assert "writable" not in out.text


@pytest.mark.parametrize(
    "command",
    [
        "head -c 5000 /dev/zero > big",
        'python3 -c \'with open("big", "w") as file: file.write(5000 * "x")\'',
    ],
)
def test_a_file_that_grows_too_large_is_told_of_its_limit(sh, command):
    out = sh(command, limits=Limits(file_size=4096))
    assert "[files have at most 4,096 bytes; ask the user (file_size)]" in out.text


LEVELS = {  # what there is -> what is said
    (7, True, True, True): "No network but localhost. Writes only below the workspace and $TMPDIR.",
    (7, True, True, False): (
        "No network but TCP on localhost. Writes only below the workspace and $TMPDIR."
    ),
    (7, True, False, False): (
        "No network, not even localhost. Writes only below the workspace and $TMPDIR."
    ),
    (0, True, True, False): "No network but TCP on localhost.",
    (0, True, False, False): "No network, not even localhost.",
    (0, False, False, True): (
        "No network but localhost. Writes only below the workspace and $TMPDIR."
    ),
    (0, False, False, False): "",
}


@pytest.mark.parametrize("has", LEVELS)
def test_the_description_is_that_of_the_level_in_force(root, monkeypatch, has):
    abi, filtered, told, namespaces = has
    for module, name, value in (
        (landlock, "abi", lambda: abi),
        (seccomp, "available", lambda: filtered),
        (launcher, "has_loopback", lambda: told),
        (launcher, "NAMESPACES", namespaces),
    ):
        monkeypatch.setattr(module, name, value)
    in_force.has_namespaces.cache_clear()
    for name in TOOLSETS:
        for tool in toolset(name).bind(Workspace(root)).values():
            if tool.entry.action.name == "bash" and not tool.entry.description:
                said = tool.description
                assert said[said.find("No network") if LEVELS[has] else len(said) :] == LEVELS[has]
                assert said.count("Writes") == LEVELS[has].count("Writes"), name
    in_force.has_namespaces.cache_clear()


def test_the_description_tells_what_the_policy_lets_a_command_do(root):
    def told(**policy):
        workspace = Workspace(root, policy=Policy(**policy))
        return toolset("workspace").bind(workspace)["bash"].description.split("\n")[-1]

    beneath = "Writes only below the workspace and $TMPDIR"
    assert told() == f"No network but localhost. {beneath}."
    assert told(process=ProcessPolicy.developer()) == f"{beneath}."
    more = ProcessPolicy(network=True, writable=["/srv/a"], readable=["/srv/b"])
    assert told(process=more) == (
        f"{beneath}, /srv/a. Reads only the workspace, $TMPDIR, the system and /srv/b."
    )
    tight = ProcessPolicy("read-only")
    assert told(process=tight) == "No network but localhost. Writes only below $TMPDIR."
    loose = told(process=ProcessPolicy("off"))
    assert "Writes" not in loose
    assert "network" not in loose
