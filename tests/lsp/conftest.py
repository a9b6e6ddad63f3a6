import os
import shutil
import sys
from pathlib import Path

import pytest

from fsagent_tools import Policy, Toolset, Workspace
from fsagent_tools.lsp.manager import ServerManager
from fsagent_tools.lsp.process import ServerConfinement
from fsagent_tools.lsp.servers import LANGUAGES, language_id
from fsagent_tools.policy.programs import Programs
from fsagent_tools.shell.closed import ClosedPaths
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


def manager_of(root, settings=None, **options):
    confinement = ServerConfinement(Programs((str(root),)), ClosedPaths(str(root), Policy()))
    return ServerManager(root.resolve(), settings or {}, confinement, **options)


@pytest.fixture
def servers(tmp_path, monkeypatch):
    """A function: settings -> the servers of `tmp_path`, closed at the end."""
    made = []
    first = (str(NODE_BIN), str(RUST), os.environ["PATH"])
    monkeypatch.setenv("PATH", os.pathsep.join(first))

    def make(settings=None, root=tmp_path, **options):
        made.append(manager_of(root, settings, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def fake(servers, tmp_path):
    """A function: behaviour -> (servers with that fake one for JSON, a file to check)."""
    file = tmp_path.resolve() / "a.json"
    file.write_text("{}\n")

    def make(*behaviour, **options):
        command = (sys.executable, str(FAKE), *map(str, behaviour))
        return servers({"json": command}, **options), file

    return make


def processes(word):
    """The numbers of processes with that word in the environment or the command; no zombies."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in told:
            found.append(int(process.name))
    return found


def fakes(word):
    """Of these the fake servers, without what confines them and has all words of what it starts."""
    commands = {n: Path(f"/proc/{n}/cmdline").read_bytes() for n in processes(word)}
    return [n for n, one in commands.items() if one.startswith(os.fsencode(sys.executable))]


def gone(word):
    return eventually(lambda: not processes(word))


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
        entry = Entry("diagnostics", name="lsp", show=("timeout", "new"))
        lsp = Toolset("t", (entry,)).bind(made[-1])

        def ask(path, **more):
            answer = lsp["lsp"].call({"path": path, "timeout": TIMEOUT, **more})
            assert answer.ok, answer.text
            return answer.text

        return ask

    make.workspaces = made
    yield make
    for each in made:
        each.close()


def only_server(server, name):
    """The setting by which a file of that name is checked by one server."""
    file = Path(name)
    return {next(n for n, each in LANGUAGES.items() if language_id(file, each)): (server,)}


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
