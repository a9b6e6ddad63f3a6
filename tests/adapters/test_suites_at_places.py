"""The battery and the edit cases, at every place: what holds beside the files holds there."""

import shutil

import pytest
from deepagents.backends import LocalShellBackend

import places
from fsagent_tools import MemoryFiles, Workspace, toolset
from fsagent_tools.remote import remote_toolset
from fsagent_tools_places import SandboxChannel, SshChannel
from tests.conformance.battery import Case, Unsupported
from tests.conformance.test_battery import CHOSEN, SKIPPED
from tests.conformance.test_edit_cases import file_ops
from tests.conformance.test_matching import core

IN_PROCESS = {  # what is set up in this process, or before the far end is
    *("env", "short_writes", "clock_jump", "tmpfs", "policy"),
    *("workspace_is_symlink", "workspace_missing"),
    "leftover_temp_of_dead_run",  # looked for once in a while, and an inode may come again
}
ROWS = [row for row in CHOSEN if not any(IN_PROCESS & {*step} for step in row["setup"])]
RACES = 30  # tries, where the battery makes thousands
SOME = 4  # of so many edits one goes through a sandbox, where each starts a Python


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """One path for all rows, so that one far end serves them."""
    return tmp_path_factory.mktemp("places") / "case"


@pytest.fixture(scope="module", params=["sandbox", "ssh"])
def far(request, root):
    """Of a toolset's name: its tools at the place, each time in a session of their own."""
    channels = {}

    def channel(name):
        if request.param == "ssh":
            words = request.getfixturevalue("ssh")
            return SshChannel("127.0.0.1", f"{root}/ws", ssh=words, toolset=name, **places.FAR)
        here = LocalShellBackend(root_dir=root / "ws", inherit_env=True)
        return SandboxChannel(here, toolset=name, **places.FAR)

    def tools(name):
        if name not in channels:
            channels[name] = channel(name)
        return remote_toolset(channels[name]).bind(Workspace(files=MemoryFiles({})))

    tools.place = request.param
    return tools


class FarCase(Case):
    """A row whose calls are carried out at a place."""

    far = None
    bindings = None

    def bound(self, toolset, name):
        self.bindings = self.bindings or {}
        if toolset.name not in self.bindings:
            self.bindings[toolset.name] = self.far(toolset.name)
        return self.bindings[toolset.name][name]

    def do_repeat(self, repeat, call):
        super().do_repeat(min(repeat, RACES), call)

    def tool(self, action, args=()):
        found = super().tool(action, args)
        if getattr(found, "workspace", None) is self.workspace:
            raise Unsupported("no toolset has this as the document has it")
        return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_row_of_the_battery(row, far, root):
    if row["id"] in SKIPPED:
        pytest.skip(SKIPPED[row["id"]])
    root.mkdir()
    case = FarCase(row, root)
    case.far = far
    try:
        case.run()
        case.check()
    except Unsupported as reason:
        pytest.skip(str(reason))
    finally:
        case.close()
        shutil.rmtree(root)


def test_an_edit_does_there_what_it_does_here(far, root):
    folder = root / "ws"
    for number, row in enumerate(core("edit_cases")):
        if far.place == "sandbox" and number % SOME:
            continue
        said = []
        for bind in (lambda: toolset("file_ops").bind(Workspace(folder)), lambda: far("file_ops")):
            folder.mkdir(parents=True)
            if row["original"] is not None:
                (folder / "a.txt").write_bytes(row["original"].encode())
            tools = bind()
            for change in row.get("edits", [row]):
                done = file_ops(tools, row, change)
            said.append((done.text, done.to_dict(), [*map(content, folder.glob("*.txt"))]))
            shutil.rmtree(root)
        assert said[0] == said[1], row["id"]


def content(path):
    return path.name, path.read_bytes()
