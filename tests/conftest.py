"""What all tests share: hypothesis profiles, tools on a real directory."""

import ast
import atexit
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from fsagent_tools import Workspace, toolset
from fsagent_tools.call import current
from fsagent_tools.search import ripgrep
from fsagent_tools.shell import bubblewrap, landlock, runner, seccomp

os.environ["FSAGENT_DEBUG"] = "1"  # a bug raises, and is no outcome
LLAMA_INDEX = find_spec("llama_index.core")  # which ships the table of a tokenizer
if LLAMA_INDEX and LLAMA_INDEX.submodule_search_locations:
    TABLES = Path(LLAMA_INDEX.submodule_search_locations[0], "_static", "tiktoken_cache")
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(TABLES))
os.environ["FSAGENT_SEARCH_BASE_URL"] = "http://127.0.0.1:9"  # no test asks the public network
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="fsagent-test-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
# nothing is set by whoever runs the tests, or by git, which runs them in a hook
for name in [
    *filter(re.compile("GIT_|FSAGENT_(?!CASES|KILLS|NODE|DEBUG|SEARCH_BASE)").match, os.environ)
]:
    del os.environ[name]
for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"):
    os.environ[name] = f"{os.environ['XDG_STATE_HOME']}/none"
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
CALM = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("default", max_examples=200, stateful_step_count=15, **CALM)
settings.register_profile("slow", max_examples=5000, stateful_step_count=30, **CALM)

PATIENCE = 60  # seconds after which anything hangs, however slow and loaded the machine is
runner.END_TIMEOUT = PATIENCE  # what was killed is awaited, and not told as a survivor
DEADLINES = (1, 5, 25)  # seconds; for what must have begun when its deadline comes
needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
PROJECT = Path(__file__).parents[1] / "examples" / "project"


def pytest_configure(config):
    settings.load_profile("slow" if config.getoption("markexpr") == "slow" else "default")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """`-m slow` runs the property tests once more, with the examples of the slow profile."""
    if config.getoption("markexpr") == "slow":
        for item in items:
            if item.path.name == "test_line_properties.py":
                item.add_marker("slow")


def state(pid):
    """Of a process, its letter in /proc; X for one that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2][0]
    except OSError:
        return "X"


def eventually(done):
    """Whether `done()` becomes true."""
    until = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def unmount(place):
    """A child that starts just now holds all descriptors until it is another program."""
    assert eventually(lambda: subprocess.run(["umount", place], check=False).returncode == 0)


def descriptors():
    """What this process has open: numbers, each with what it leads to."""
    found = set()
    for fd in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # that of the listing itself
            status = os.fstat(int(fd))
            found.add((fd, os.readlink(f"/proc/self/fd/{fd}"), status.st_dev, status.st_ino))
    return found


@contextmanager
def no_new_descriptor(most=0):
    """Fails when more than `most` of those that the block opens stay open.

    What other tests left open may be closed meanwhile: it must not hide one.
    """
    gc.collect()  # or their numbers may become free, and be those of new ones
    before = descriptors()
    yield
    assert eventually(lambda: len(descriptors() - before) <= most), descriptors() - before


@pytest.fixture(autouse=True)
def _no_call_goes_on():
    """What follows in this process would be a part of that call, and of its step."""
    before = current.get()
    yield
    assert current.get() is before


def children():
    """Of this process: those that any of its threads started."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {pid for task in tasks for pid in task.read_text().split()}


def parses(text):
    """Whether it is Python."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


OWN = {"temp": "/"}


@pytest.fixture(scope="session", autouse=True)
def _own_temp(tmp_path_factory):
    OWN["temp"] = f"{tmp_path_factory.getbasetemp()}/"


needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")


class Traced:
    """A program under strace, which writes READY just before the operation that is tried."""

    def __init__(self, program, calls):
        self.program, self.calls = program, calls

    def run(self, words, *options, log=os.devnull):
        """Its exit code, and the words that it wrote."""
        strace = ["strace", "-f", "-qq", "-o", str(log), *options]
        run = subprocess.run([*strace, sys.executable, "-c", self.program, *words],
                             capture_output=True, text=True, check=False,
                             timeout=10 * PATIENCE)  # fmt: skip
        return run.returncode, run.stdout.split()

    def steps(self, words, log, end=None):
        """The system calls from READY on, before `end`: (name, its number within the whole run)."""
        self.run(words, "-e", f"trace={self.calls}", log=log)
        counts, found, armed = Counter(), [], False
        for line in log.read_text().splitlines():
            if match := re.match(r"\d+ +(\w+)\(", line):
                counts[match[1]] += 1
                if armed and end and end in line:
                    return found
                if armed:
                    found.append((match[1], counts[match[1]]))
                armed = armed or '"READY' in line
        assert not end, "the traced run did not finish"
        return found

    def injected(self, words, at, fault):
        """The same of a run in which that happens at one of its system calls."""
        return self.run(words, "-e", f"trace={at[0]}", "-e", f"inject={at[0]}:{fault}:when={at[1]}")

    def killed(self, words, at):
        """The words that it wrote before it was killed at that one."""
        code, said = self.injected(words, at, "signal=SIGKILL")
        assert code in (-signal.SIGKILL, 128 + signal.SIGKILL), (code, said, at)
        return said


def alive(words):
    """How many processes below this run's directory have exactly this command line, with blanks.

    All others on the machine are somebody else's, perhaps another run of the same test.
    """
    line, found = words.replace(" ", "\0").encode() + b"\0", 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cmdline").read_bytes() == line:
                found += os.readlink(process / "cwd").startswith(OWN["temp"])
    return found


LACKS = {  # what a machine may be without; first what confines, from strong to weak
    "bubblewrap": (bubblewrap, "find_bwrap", lambda is_outside=None: None),
    "landlock": (landlock, "version", lambda: 0),
    "seccomp": (seccomp, "is_available", lambda: False),
    "ripgrep": (ripgrep, "find_ripgrep", lambda programs: None),
}
LEVELS = ("bubblewrap", "landlock", "seccomp", "none")  # from strong to weak


@pytest.fixture
def lacking(monkeypatch):
    """`lacking("landlock", ...)` takes away what this machine has."""

    def take_away(*names):
        for name in names:
            monkeypatch.setattr(*LACKS[name])

    return take_away


@pytest.fixture(params=LEVELS)
def level(request, lacking):
    """One level of confinement, made from what this machine has by taking away what is stronger."""
    lacking(*[*LACKS][: LEVELS.index(request.param)])
    return request.param


@contextmanager
def soon():
    """Fails when the block takes as long as something that hangs: no measure of speed."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < PATIENCE


@pytest.fixture
def typed(monkeypatch):
    """`typed(text)`: what somebody at the terminal answers to every question."""
    return lambda text: monkeypatch.setattr("builtins.input", lambda _: text)


@pytest.fixture
def home(tmp_path_factory, monkeypatch):
    """A home directory without settings: what a command inherits does not lead git past it."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def root(tmp_path):
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


class Session:
    """The tools of one agent session, and shorthands for what every test does with them."""

    def __init__(self, root, name="workspace", **options):
        self.root = root
        self.workspace = Workspace(root, **options)
        self.tools = toolset(name).bind(self.workspace)

    def read(self, path="a.txt", **arguments):
        return self.tools["read"].call({"file_path": path, **arguments})

    def ids(self, path="a.txt", **arguments):
        """The IDs that a read shows, in the order of the lines."""
        out = self.read(path, **arguments)
        assert out.ok, out.text
        return re.findall(r"^\[LID:([0-9a-f]{6})\] ", out.text, re.M)

    def edit(self, *changes, path="a.txt", **hidden):
        call = {"file_path": path, "changes": list(changes)}
        return self.tools["edit_lines"].call(call, **hidden)

    def write(self, content, path="a.txt", **hidden):
        return self.tools["write"].call({"file_path": path, "content": content}, **hidden)

    def close(self):
        self.workspace.close()


@pytest.fixture
def sessions(root):
    """`sessions(**options)` starts another agent session on the same directory."""
    opened = []

    def start(name="workspace", **options):
        opened.append(Session(root, name, **options))
        return opened[-1]

    yield start
    for session in opened:
        session.close()


@pytest.fixture
def session(sessions):
    return sessions()


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden", action="store_true", help="Write tests/golden/ anew from the code."
    )


@pytest.fixture
def shop(tmp_path):
    """A fresh copy of the failing project of the examples."""
    folder = tmp_path / "shop"
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("__pycache__", ".ai"))
    return folder
