"""Changes of several files that all happen or none."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial

import pytest

from fsagent_tools import MemoryFiles, Policy, Workspace, errors, toolset
from tests.history.conftest import tree


@pytest.fixture
def files(root):
    (root / "d/e").mkdir(parents=True)
    for name in ("a", "b", "d/1", "d/e/2"):
        (root / name).write_text(f"{name}\n")
    return tree(root)


def boom():
    raise ZeroDivisionError


def all_of(workspace, *changes):
    with workspace.transaction():
        for change in changes:
            change()


def fails(workspace, *changes):
    with pytest.raises(ZeroDivisionError):
        all_of(workspace, *changes, boom)


def fails_late(workspace):
    fails(
        workspace,
        lambda: workspace.write_text("a", "A\n"),
        lambda: workspace.edit_text("a", "A", "AA"),
        lambda: workspace.write_text("new/deep/made", "x\n"),
        lambda: workspace.remove("d", recursive=True),
        lambda: workspace.move("b", "c"),
    )


def test_what_a_block_changed_is_taken_back_if_it_raises(root, files, workspace):
    fails_late(workspace)
    assert tree(root) == files
    assert [*workspace.history] == []
    with pytest.raises(errors.Missing, match="nothing to take back"):
        workspace.undo()


def test_a_block_is_one_step(root, files, workspace):
    with workspace.transaction():
        workspace.write_text("a", "A\n")
        workspace.edit_text("b", "b", "B")
        workspace.remove("d", recursive=True)
    (step,) = workspace.history
    assert {change.path for change in step.changes} >= {"a", "b", "d/1", "d/e/2"}
    workspace.undo()
    assert tree(root) == files


def test_tools_take_part(root, files, workspace):
    write = toolset("workspace").bind(workspace)["write"]
    done = []

    def call(path):
        return lambda: done.append(write.call({"file_path": path, "content": "A\n"}).ok)

    fails(workspace, call("a"), call("new/b"))
    assert done == [True, True]
    assert tree(root) == files


def test_line_ids_are_as_before(files, workspace):
    tools = toolset("line_ids").bind(workspace)
    shown = tools["read"].call({"file_path": "a"}).text
    fails_late(workspace)
    assert tools["read"].call({"file_path": "a"}).text == shown


def test_earlier_and_later_steps_of_the_session_stay(root, files, workspace):
    workspace.write_text("a", "before\n")
    fails_late(workspace)
    workspace.write_text("b", "after\n")
    assert [len(step.changes) for step in workspace.history] == [1, 1]
    workspace.undo(2)
    assert tree(root) == files


def test_a_file_that_others_changed_is_named(root, files, workspace):
    with pytest.raises(errors.Conflict, match="but for a: others have changed"):
        all_of(
            workspace,
            lambda: workspace.write_text("a", "A\n"),
            lambda: workspace.write_text("b", "B\n"),
            lambda: (root / "a").write_text("theirs\n"),
            boom,
        )
    assert (root / "a").read_text() == "theirs\n"
    assert (root / "b").read_text() == "b\n"


def test_others_wait_until_it_has_ended(root, files, workspace, opens):
    other, order = opens(), []

    def append(who, files):
        files.edit_text("a", "a\n", f"{who}\na\n")
        order.append(who)

    def meanwhile():
        append("mine", workspace)
        theirs.start()
        workspace.write_text("b", "B\n")
        order.append("end")

    theirs = threading.Thread(target=append, args=("theirs", other))
    fails(workspace, meanwhile)
    theirs.join()
    assert order == ["mine", "end", "theirs"]
    assert (root / "a").read_text() == "theirs\na\n"


def test_what_a_thread_does_after_its_end_is_no_part_of_it(root, files, workspace):
    ended = threading.Event()

    def later():
        ended.wait()
        workspace.write_text("a", "A\n")
        workspace.checkpoint()

    def start():
        threads.append(threading.Thread(target=copy_context().run, args=(later,)))
        threads[0].start()

    threads = []
    fails(workspace, lambda: workspace.write_text("b", "B\n"), start)
    ended.set()
    threads[0].join()
    assert (root / "a").read_text() == "A\n"
    workspace.write_text("a", "again\n")
    workspace.undo(2)
    assert tree(root) == files


def test_threads_inside_change_one_file_one_after_the_other(root, files, workspace):
    def append(n):
        with workspace.files.lock("a") as file:
            file.write(file.read() + b"%d\n" % n, expect=file.version)

    with workspace.transaction(), ThreadPoolExecutor(8) as pool:
        done = [pool.submit(copy_context().run, append, n) for n in range(40)]
        for one in done:
            one.result()
    assert sorted((root / "a").read_text().split()) == sorted(["a", *map(str, range(40))])


def test_one_inside_another_is_a_part_of_it(root, files, workspace):
    fails(workspace, lambda: all_of(workspace, lambda: workspace.write_text("a", "A\n")))
    assert tree(root) == files


def test_other_workspaces_take_no_part(root, files, workspace, opens):
    other = opens()
    fails(workspace, lambda: other.write_text("a", "A\n"))
    assert (root / "a").read_text() == "A\n"


@pytest.mark.parametrize(
    "call",
    [lambda w: w.run("true"), lambda w: w.undo(), lambda w: w.redo(), lambda w: w.checkpoint()],
)
def test_what_is_no_change_of_files_is_refused_inside(root, files, workspace, call):
    with pytest.raises(errors.InvalidArguments, match="cannot be part of a transaction"):
        all_of(workspace, lambda: workspace.write_text("a", "A\n"), lambda: call(workspace))
    assert tree(root) == files


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"history": False}, errors.NotConfigured),
        ({"policy": Policy(readonly=True)}, errors.Denied),
    ],
)
def test_without_a_history_there_is_none(root, files, opens, options, error):
    with pytest.raises(error):
        all_of(opens(**options), lambda: (root / "a").unlink())
    assert tree(root) == files


def test_nor_for_files_elsewhere():
    with pytest.raises(errors.Denied):
        all_of(Workspace(files=MemoryFiles({"a": "1"})))


def test_what_could_not_be_taken_back_is_not_changed(root, files, workspace):
    os.mkfifo(root / "d/pipe")
    os.link(root / "b", root / "hard")

    def texts():
        return {path: path.read_text() for path in root.rglob("*") if path.is_file()}

    before = texts()
    for change in (
        lambda: workspace.move("d", "e"),
        lambda: workspace.remove("d", recursive=True),
        lambda: workspace.write_text("b", "B\n"),
        lambda: workspace.remove("hard"),
    ):
        with pytest.raises(errors.Conflict, match="could not take it back"):
            all_of(workspace, lambda: workspace.write_text("a", "A\n"), change)
        assert texts() == before


@pytest.mark.parametrize(
    ("most", "names", "error", "told"),
    [
        (64 << 20, "b", errors.TooLarge, "too large to be taken back"),
        ((64 << 20) + 3, "ab", errors.Conflict, "more than is kept of one transaction"),
    ],
)
def test_more_than_is_kept_is_not_changed(
    root, files, workspace, monkeypatch, most, names, error, told
):
    monkeypatch.setattr("fsagent_tools.history.archive.MOST_OF_ONE", most)
    with pytest.raises(error, match=told):
        all_of(
            workspace, *(partial(workspace.write_text, name, f"{name.upper()}\n") for name in names)
        )
    assert tree(root) == files


def test_a_part_that_failed_fails_the_whole(root, files, workspace):
    def part():
        with suppress(ZeroDivisionError):
            all_of(workspace, lambda: workspace.write_text("b", "B\n"), boom)

    with pytest.raises(errors.Conflict, match="A part of the transaction has failed"):
        all_of(workspace, lambda: workspace.write_text("a", "A\n"), part)
    assert tree(root) == files


def test_one_of_another_workspace_does_not_begin_inside(root, files, workspace, opens):
    other = opens()
    with pytest.raises(errors.InvalidArguments, match="transaction of another workspace"):
        all_of(workspace, lambda: workspace.write_text("a", "A\n"), lambda: all_of(other))
    assert tree(root) == files


def test_one_that_is_under_way_is_left_alone(root, files, workspace, opens):
    with workspace.transaction():
        workspace.write_text("a", "A\n")
        other = opens()
        assert other.read_text("a").text == "A\n"
        with suppress(errors.Missing):
            other.undo()
    assert (root / "a").read_text() == "A\n"
