"""What tools write while commands begin, run and end is theirs, and no change of the commands."""

from itertools import count
from threading import Thread

import pytest

from fsagent_tools import EventLog, identified, toolset
from fsagent_tools.history.look import Look


@pytest.fixture
def after_look(monkeypatch):
    """`after_look(number, work)` does the work when a look of that number is over."""
    looks, seen, works = count(), Look.again, {}

    def look(before, tracked):
        found = seen(before, tracked)
        works.pop(next(looks), lambda: None)()
        return found

    monkeypatch.setattr(Look, "again", look)
    return works.__setitem__


def told(workspace):
    return [[change.path for change in step.changes] for step in workspace.history.steps()]


def test_a_write_while_a_command_begins_is_not_taken_for_the_commands(workspace, after_look):
    def write():
        writing = Thread(target=workspace.write_bytes, args=("mine", b"x"))
        writing.start()
        writing.join()

    after_look(0, write)
    workspace.run("echo x > theirs")
    assert told(workspace) == [["mine"], ["theirs"]]


def test_a_write_while_running_commands_are_looked_at_is_not_taken_for_theirs(
    workspace, root, after_look
):
    after_look(1, lambda: workspace.write_bytes("mine", b"x"))
    after = workspace.services.history.commands.before()
    workspace.services.history.commands.catch_up()
    (root / "theirs").write_text("x")
    after()
    assert told(workspace) == [["mine"], ["theirs"]]


def test_what_another_session_writes_while_a_command_runs_is_its_own(opens, root):
    (root / "f").write_bytes(b"old")
    (root / "g").write_bytes(b"old")
    ours, other = opens(), opens()
    after = ours.history.commands.before()
    for data in (b"1", b"22"):
        for name in ("f", "g", "made", "d/made"):
            other.write_bytes(name, data)
    (root / "g").write_bytes(b"the command's")
    (root / "h").write_bytes(b"the command's")
    after()
    (step,) = ours.history
    assert sorted(change.path for change in step.changes) == ["g", "h"]
    ours.undo()
    assert {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()} == {
        "f": b"22",
        "g": b"old",
        "made": b"22",
    }
    assert (root / "d" / "made").read_bytes() == b"22"


def test_what_another_session_writes_again_after_a_command_is_the_commands(opens, root):
    (root / "f").write_bytes(b"old")
    ours, other = opens(), opens()
    after = ours.history.commands.before()
    other.write_bytes("f", b"first")
    (root / "f").write_bytes(b"the command's")
    other.write_bytes("f", b"then")
    after()
    ours.undo()
    assert (root / "f").read_bytes() == b"old"


def test_sessions_that_write_one_part_tell_of_their_own_changes(opens):
    told = []
    for name in "ab":
        workspace = opens(log=EventLog(told.append, content=True))
        workspace.run("true")
        with identified(call="call_0"):  # models number their calls, each from 0
            toolset("workspace").bind(workspace)["bash"].call({"command": f"echo {name} > {name}"})
    changed = [
        [diff["path"] for diff in event["diffs"]] for event in told if event.get("tool") == "bash"
    ]
    assert changed == [["a"], ["b"]]
