"""The public battery's bash cases against the real tool, confined as by default."""

import json
import resource
import socket

import pytest

from fsagent_tools import Policy, Tool, Workspace
from fsagent_tools.shell import landlock
from fsagent_tools.types import Entry
from tests.conformance.rows import rows
from tests.conftest import alive, soon

pytestmark = pytest.mark.full

ROWS = [row for row in rows("battery") if row["call"].get("action") == "bash"]
CODES = {
    "TIMEOUT": {"TIMEOUT"},
    "INVALID_ARG": {"VALIDATION_ERROR", "INVALID_PATH"},
    "TOO_LARGE": {"FILE_TOO_LARGE"},
    "ACTION_DISABLED": {"ACTION_NOT_ALLOWED"},
    "PATH_OUTSIDE": {"PATH_OUTSIDE_WORKSPACE"},
    "DENIED": {"PERMISSION_DENIED"},
}


class World:
    """What a row's setup makes: a workspace, its surroundings, a policy, perhaps a server."""

    def __init__(self, row, base, monkeypatch):
        self.ws, self.out = base / "ws", base / "out"
        self.ws.mkdir()
        self.out.mkdir()
        self.server, policy = None, {}
        for step in row["setup"]:
            if "file" in step:
                path = self.ws / step["file"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(step["text"])
            elif "outside_file" in step:
                (self.out / step["outside_file"]).write_text(step["text"])
            elif "policy" in step:
                policy.update(step["policy"])
            elif "env" in step:
                for name, value in step["env"].items():
                    monkeypatch.setenv(name, value)
            elif step.get("server") == "loopback":
                self.server = socket.create_server(("127.0.0.1", 0))
            else:
                raise AssertionError(f"unknown setup {step}")
        self.tool = Tool(
            Entry("bash", show=("timeout", "working_dir")),
            Workspace(self.ws, policy=Policy(**policy)),
        )
        self.before = self.outside()

    def outside(self):
        return {path: path.read_bytes() for path in self.out.rglob("*")}

    def call(self, arguments):
        return self.tool.call({name: self._fill(value) for name, value in arguments.items()})

    def _fill(self, value):
        if isinstance(value, dict):
            return value["repeat"][0] * value["repeat"][1] + value.get("then", "")
        if isinstance(value, str):
            port = str(self.server.getsockname()[1]) if self.server else ""
            return (
                value.replace("$WS", str(self.ws))
                .replace("$OUT", str(self.out))
                .replace("$PORT", port)
            )
        return value


@pytest.fixture
def world(request, tmp_path, monkeypatch):
    world = World(request.param, tmp_path, monkeypatch)
    yield world
    world.tool.workspace.close()
    if world.server:
        world.server.close()


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.parametrize(
    ("world", "row"), [(row, row) for row in ROWS], indirect=["world"], ids=[r["id"] for r in ROWS]
)
def test_a_case_of_the_battery(world, row):
    expect = row["expect"]
    before = peak_mb()
    with soon():
        out = world.call(row["call"]["args"])
    json.dumps(out.to_dict())
    failed = not out.ok or out.data.get("exit_code") != 0
    assert expect["status"] == "either" or failed == (expect["status"] == "error"), out.text
    if not out.ok and "code_any" in expect:
        assert out.code in set.union(*(CODES[word] for word in expect["code_any"])), out.text
    assert len(out.text) < expect.get("max_output_chars", 200_000)
    assert all(word in out.text for word in expect.get("contains", ()))
    assert not any(word in out.text for word in expect.get("not_contains", ()))
    assert all((world.ws / name).exists() for name in expect.get("present", ()))
    for key in expect.keys() & {"truncated", "exit_code"}:
        assert out.data[key] == expect[key]
    if "no_survivors" in expect:
        assert not alive(expect["no_survivors"])
    if "max_rss_mb" in expect:
        assert peak_mb() - before < expect["max_rss_mb"]  # growth: all of the suite is loaded here
    assert_confined(world, expect, out)
    assert_next_call(world, expect)


def assert_confined(world, expect, out):
    """What is sent into a loopback of the workspace's own has left nothing, and need not fail."""
    private = out.ok and out.data["sandbox"].startswith("bubblewrap")
    allowed = {"sandbox_no_network"} if private else set()
    failed = not out.ok or out.data.get("exit_code") != 0
    if landlock.version():
        assert world.outside() == world.before
        assert failed or {expect.get("denied_if")} <= {None, *allowed}


def assert_next_call(world, expect):
    if "next_call_cwd" in expect:
        assert world.call({"command": "pwd -P"}).text == str(world.ws.resolve())
    if "next_call_clear_error" in expect:
        again = world.call({"command": "echo hi"})
        assert again.ok or str(world.ws) in again.text or "workspace" in again.text
