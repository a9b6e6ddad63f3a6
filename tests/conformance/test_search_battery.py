"""Bad input and attacks on glob, grep and ls, in the documents' words."""

import json
import os

import pytest

from fsagent_tools import Policy, Tool, Workspace
from fsagent_tools.types import Entry
from tests.conformance.rows import rows
from tests.conftest import PATIENCE, soon

pytestmark = pytest.mark.full

TOOLS = ("glob", "grep", "ls")
CODES = {
    "PATH_OUTSIDE": {"PATH_OUTSIDE_WORKSPACE"},
    "DENIED": {"PERMISSION_DENIED", "PATH_DENIED"},
    "NOT_FOUND": {"FILE_NOT_FOUND"},
    "INVALID_ARG": {"VALIDATION_ERROR", "INVALID_GLOB", "INVALID_REGEX", "INVALID_PATH"},
    "REGEX_INVALID": {"INVALID_REGEX"},
    "TOO_LARGE": {"FILE_TOO_LARGE"},
    "TIMEOUT": {"TIMEOUT"},
    "CONFIG_INVALID": {"CONFIG_INVALID"},
}


ROWS = [row for row in rows("battery") if row["call"].get("action") in TOOLS]


def filled(value, ws):
    if isinstance(value, dict):
        text, times = value["repeat"]
        return text * times + value.get("then", "")
    return value.replace("$WS", str(ws)).replace("$OUT", str(ws.parent / "out"))


def make(step, ws, monkeypatch):  # noqa: C901 - one branch a word of the battery
    path = ws / step.get("file", step.get("dir", "x"))
    if "dir" in step:
        path.mkdir(parents=True, exist_ok=True)
    elif "file" in step:
        path.parent.mkdir(parents=True, exist_ok=True)
        if "hex" in step:
            path.write_bytes(bytes.fromhex(step["hex"]))
        else:
            path.write_text(filled(step if "repeat" in step else step["text"], ws))
        path.chmod(int(step.get("mode", "644"), 8))
    elif "symlink" in step:
        target, name = step["symlink"]
        (ws / name).symlink_to(filled(target, ws))
    elif "outside_file" in step:
        (ws.parent / "out" / step["outside_file"]).write_text(step["text"])
    elif "fifo" in step:
        os.mkfifo(ws / step["fifo"])
    elif "env" in step:
        for name, value in step["env"].items():
            monkeypatch.setenv(name, filled(value, ws))
    elif "deep_dirs" in step:
        deep(ws, step["deep_dirs"])
    elif "workspace_missing" in step:
        ws.rmdir()
    elif "delete_during_walk" in step:
        (ws / step["delete_during_walk"]).unlink()
    elif "policy" not in step:
        raise NotImplementedError(step)


def deep(ws, levels):
    fd = os.open(ws, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("a-directory-name", dir_fd=fd)
        inner = os.open("a-directory-name", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)


@pytest.mark.parametrize("engine", ["ripgrep", "fallback"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_battery_of_searches(row, engine, tmp_path, lacking, monkeypatch):
    if engine == "fallback":
        if row["call"]["action"] != "grep":
            pytest.skip("needs no engine")
        lacking("ripgrep")
    ws = tmp_path / "ws"
    ws.mkdir()
    (tmp_path / "out").mkdir()
    for step in row["setup"]:
        make(step, ws, monkeypatch)
    policies = [Policy(**step["policy"]) for step in row["setup"] if "policy" in step]
    workspace = Workspace(ws, policy=policies[0] if policies else None, cache_dir=tmp_path / "c")
    tool = Tool(Entry(row["call"]["action"], show=("path", "include")), workspace)
    arguments = {name: filled(value, ws) for name, value in row["call"]["args"].items()}
    lasting = engine == "fallback" and "TIMEOUT" in row["expect"].get("code_any", ())
    timed = row["call"]["action"] == "grep"
    hidden = {"timeout": 2 if lasting else PATIENCE - 10} if timed else {}
    with soon():
        out = tool.call(arguments, **hidden)
    check(row["expect"], out, ws)


def check(expect, out, ws):
    dumped = json.dumps(out.to_dict())
    dumped.encode()
    assert expect["status"] in ("either", "ok" if out.ok else "error"), out.text
    if not out.ok and "code_any" in expect:
        assert any(out.code in CODES.get(kind, ()) for kind in expect["code_any"]), out.code
    for text in expect.get("contains", ()):
        assert text in out.text
    for text in expect.get("not_contains", ()):
        assert text not in dumped
    for name in expect.get("absent", ()):
        assert not (ws / name).exists()
    assert len(out.text) <= expect.get("max_output_chars", 10**6)
    assert out.data.get("count", 0) <= expect.get("max_matches", 10**6)
    assert not [name for name in (os.listdir(ws) if ws.exists() else ()) if ".fsagent" in name]
