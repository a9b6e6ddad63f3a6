"""Positions of a thread: who goes on, who is beside, who went back."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from fsagent_tools import ToolError, identified
from fsagent_tools.types import Lineage, ThreadRun


@pytest.fixture
def step(workspace, root):
    """Runs one step of a thread that writes a file; gives the position after it."""

    def run(known, name, text, thread="t", **options):
        lineage = Lineage(workspace, thread, "", ThreadRun())
        position = lineage.arrive(known, name, **options) or known
        if text is None:
            return position
        with identified(session=thread):
            workspace.write_bytes("a.txt", text.encode())
        return lineage.leave(name)

    return run


def content(root):
    return (root / "a.txt").read_text()


def test_a_position_is_json(step):
    position = step(None, "1", "one")
    assert json.loads(json.dumps(position)) == position


def test_a_state_copied_into_another_thread_brings_its_files(step, root):
    one = step(None, "1", "one")
    step(one, "2", "two")
    copied = step(one, "3", None, thread="copy")
    assert content(root) == "one"
    later = step(copied, "4", "four", thread="copy")
    step(copied, "5", None, thread="copy")
    assert content(root) == "one"
    step(later, "6", None, thread="copy")
    assert content(root) == "four"


def test_a_copy_of_the_last_state_changes_nothing(step, root):
    two = step(step(None, "1", "one"), "2", "two")
    assert step(two, "3", None, thread="copy") == two
    assert content(root) == "two"


def test_a_step_that_is_run_again_finds_what_it_did(step, root):
    """Its state was not saved: it was interrupted, or its process ended."""
    one = step(None, "1", "one")
    step(one, "2", "two")
    step(one, "2", None)
    assert content(root) == "two"


def test_a_step_whose_state_was_lost_is_taken_back_by_another(step, root):
    one = step(None, "1", "one")
    step(one, "2", "two")
    step(one, "3", None)
    assert content(root) == "one"


def test_a_thread_without_any_history_left_goes_on(workspace, step, root):
    gone = {"id": "0000", "at": 1, "step": "9"}
    assert step(gone, "10", None)["step"] == "10"


def test_back_without_a_beginning_is_refused(workspace, step):
    lineage = Lineage(workspace, "t", "", ThreadRun())
    lineage.leave("1")
    with pytest.raises(ToolError, match="beginning of this thread"):
        lineage.arrive(None, "2", back=True)


def test_positions_have_the_order_of_their_checkpoints(workspace):
    lineage = Lineage(workspace, "t", "", ThreadRun())
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lineage.leave, map(str, range(64))))
    order = [one.id for one in workspace.history.checkpoints()]
    assert [one["id"] for one in sorted(made, key=lambda one: one["at"])] == order


def test_parts_of_a_thread_do_not_know_each_other(workspace, step, root):
    one = step(None, "1", "one")
    inner = Lineage(workspace, "t", "inner", ThreadRun())
    known = inner.arrive(None, "a")
    step(one, "2", "two")
    assert inner.arrive(known, "b") is None
    assert content(root) == "two"


def test_checkpoints_of_hosts_are_not_taken_for_a_state(workspace, step, root):
    one = step(None, "1", "one")
    with identified(session="t"):
        workspace.checkpoint("state of affairs")
    assert step(one, "2", None) == one
