"""Sessions on one root share what is kept: what one takes, no other misses."""

import os
import time

import pytest

from tests.conftest import eventually


@pytest.fixture
def secret(root):
    """A file without another copy, old enough for its stamps to be trusted."""
    path = root / "f"
    path.write_text("old\n")
    assert eventually(lambda: time.time_ns() - path.stat().st_ctime_ns > 10**8)
    return path


def command(workspace):
    """A command of the session that is running; call what this returns when it ends."""
    return workspace.services.history.commands.before()


def test_a_command_of_another_session_leaves_the_copy_that_a_running_one_needs(opens, secret):
    ours, other = opens(), opens()
    other.run("true")
    after = command(ours)
    secret.write_text("new\n")
    other.run("true")
    assert after() == ()
    ours.undo()
    assert secret.read_text() == "old\n"


def test_a_session_that_begins_leaves_the_copy_that_a_running_command_needs(
    opens, secret, state, monkeypatch
):
    ours = opens()
    after = command(ours)
    secret.write_text("new\n")
    days = time.time() + 10**6
    with monkeypatch.context() as later:
        later.setattr(time, "time", lambda: days)
        opens().run("true")
    assert after() == ()
    ours.undo()
    assert secret.read_text() == "old\n"


def test_two_sessions_that_change_one_file_in_turn_get_it_back(opens, secret):
    ours, other = opens(), opens()
    ours.run("true")
    other.run("true")
    after = command(ours)
    assert other.run("echo second > f").lost == ()
    secret.write_text("third\n")
    assert after() == ()
    ours.undo()
    assert secret.read_text() == "old\n"
    other.undo()
    assert secret.read_text() == "old\n"


def test_an_undo_leaves_the_copy_of_another_file_with_the_same_content(workspace, root, secret):
    (root / ".gitignore").write_text("*.bak\nf\n")
    assert workspace.run("mv f f.bak").lost == ()
    workspace.undo()
    assert workspace.run("echo new > f").lost == ()
    workspace.undo()
    assert secret.read_text() == "old\n"
    assert workspace.run("rm f.bak").lost == ()
    workspace.undo()
    assert (root / "f.bak").read_text() == "old\n"


def test_what_was_only_moved_keeps_the_copy_that_it_has(workspace, root, secret, state):
    workspace.run("mv f g")
    assert [path.name for path in state.glob("*/history/known/*")] == [
        "-".join(f"{n:x}" for n in (one.st_ino, one.st_mtime_ns, one.st_size))
        for one in [os.stat(root / "g")]
    ]
