import os
import shutil
import sys
from pathlib import Path

import pytest

from fsagent_tools import Toolset, Workspace
from fsagent_tools.lsp.languages import language_of
from fsagent_tools.lsp.pool import Servers
from fsagent_tools.lsp.table import LANGUAGES
from fsagent_tools.types import Entry
from tests.conftest import eventually

REPO = Path(__file__).parents[2]
FAKE = Path(__file__).with_name("fake_server.py")
NODE = Path(os.environ.get("FSAGENT_NODE") or REPO / ".ci" / "node")
BIN = Path(sys.executable).parent
NODE_BIN = NODE / "node_modules/.bin"
RUST = REPO / ".ci" / "rust/bin"
NODE_TS7 = Path(os.environ.get("FSAGENT_NODE_TS7") or REPO / ".ci" / "node-ts7")
TIMEOUT = 60.0


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """A function: settings -> pool on `tmp_path`, closed at the end."""
    made = []
    first = (str(NODE / "node_modules/.bin"), str(RUST), os.environ["PATH"])
    monkeypatch.setenv("PATH", os.pathsep.join(first))

    def make(settings=None, root=tmp_path, **options):
        made.append(Servers(root.resolve(), settings, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def fake(pool, tmp_path):
    """A function: behaviour -> (pool with that fake server for JSON, a file to check)."""
    file = tmp_path.resolve() / "a.json"
    file.write_text("{}\n")

    def make(*behaviour, **options):
        command = (sys.executable, str(FAKE), *map(str, behaviour))
        return pool({"json": command}, **options), file

    return make


def children(pool):
    """The processes of the servers that `pool` runs."""
    slots = list(pool._slots.values())
    return [slot.server.client._child.process for slot in slots if slot.server]


def gone(own):
    """No process runs any more whose temporary directory is `own`; a zombie does not run."""
    return eventually(lambda: not running(own))


def running(own):
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if own.encode() in environment.read_bytes():
                return True
        except OSError:
            continue
    return False


def own(pool):
    """The directory that only servers of `pool` use."""
    return pool._own[0].place.path


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A function: programs, files, options of the workspace -> a function: path -> the answer of
    `lsp`.
    """
    made = []

    def make(programs, files, **options):
        monkeypatch.setenv("PATH", f"{NODE_BIN}{os.pathsep}{RUST}{os.pathsep}{os.environ['PATH']}")
        for program in programs:
            found = shutil.which(program) or (BIN / program).exists()
            if program == "rust-analyzer":  # another one on the path may be rustup's proxy
                found = (RUST / program).exists()
            if not found:
                pytest.skip(f"{program} is not installed")
        write(tmp_path, files)
        made.append(Workspace(tmp_path, **options))
        entry = Entry("diagnostics", name="lsp", show=("timeout",))
        lsp = Toolset("t", (entry,)).bind(made[-1])

        def ask(path):
            answer = lsp["lsp"].call({"path": path, "timeout": TIMEOUT})
            assert answer.ok, answer.text
            return answer.text

        return ask

    yield make
    for each in made:
        each.close()


def only_server(server, name):
    """The setting by which a file of that name is checked by one server."""
    return {language_of(Path(name), LANGUAGES).name: (server,)}


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
