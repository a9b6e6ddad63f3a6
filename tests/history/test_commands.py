"""Undo of what commands changed: a walk before and after, in repositories and without."""

import contextvars
import os
import subprocess
import threading
from pathlib import Path

import pytest

from fsagent_tools import Policy, errors, toolset
from fsagent_tools.history import snapshots
from tests.conftest import eventually
from tests.history.conftest import too_large, tree

REPOSITORIES = {
    "no repository": "",
    "loose objects": "git init -q; git add -A; git commit -qm x",
    "a pack": "git init -q; git add -A; git commit -qm x; git gc -q",
    "filters and line ends": "git init -q; printf '* text eol=crlf ident\\n' > .gitattributes;"
    " git config core.autocrlf true; git add -A 2>/dev/null; git commit -qm x",
    "a nested repository": "git init -q d; git -C d add -A; git -C d commit -qm x; git init -q",
    "a submodule": "git init -q; git add f; git commit -qm x; git init -q ../sub;"
    " git -C ../sub commit -qm x --allow-empty;"
    " git -c protocol.file.allow=always submodule -q add ../sub sub 2>/dev/null",
}
COMMANDS = {
    "removed, written, moved": "rm run b; echo more >> f; mkdir n; echo new > n/n; mv d moved",
    "modes": "chmod 600 f; chmod 711 d; chmod +x d/e/x; chmod 644 .env",
    "kinds": "rm f; mkdir f; echo 1 > f/1; rm -r d; echo d > d; ln -sfn f run; rm b; ln -s f b",
    "places": "mv f g; mv d f; mv g d; mv empty d2; rmdir d2",
    "links": "ln -s d l; ln b b2; mv d/e real; ln -s ../real d/e; echo via > d/e/new",
    "odd names": "mv odd* odd2; printf x > $'new\\xff\\nline'; rm 'a b'",
    "ignored": "echo changed > .env; rm x.log; rm .gitignore",
    "everything": "rm -rf ./* .env .gitignore",
    "git in between": "rm -f f; git add -A; git commit -qm y; git gc -q --prune=now;"
    " git reset -q --hard HEAD~1; rm -f b",
}


@pytest.fixture
def project(root, monkeypatch):
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "n")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "n@example.org")
    (root / "d" / "e").mkdir(parents=True)
    (root / "empty").mkdir()
    for name, data in {
        "f": b"one\r\ntwo\n$Id$\n",
        "b": bytes(range(256)) * 40,
        "run": b"#!/bin/sh\n",
        "d/e/x": Path(__file__).read_bytes(),
        ".gitignore": b".env\n*.log\n",
        ".env": b"KEY=1\n",
        "x.log": b"log\n",
        "a b": b"blank\n",
    }.items():
        (root / name).write_bytes(data)
    Path(os.fsdecode(os.fsencode(root) + b"/odd\xff")).write_bytes(b"odd")
    (root / "run").chmod(0o750)
    (root / ".env").chmod(0o600)
    return root


def without_git(root):
    return {path: what for path, what in tree(root).items() if ".git" not in path.split("/")}


def run(workspace, command, **more):
    return toolset("workspace").bind(workspace)["bash"].call({"command": command, **more})


@pytest.mark.full
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("repository", REPOSITORIES.values(), ids=REPOSITORIES)
def test_what_a_command_changed_is_restored(opens, project, repository, command):
    subprocess.run(repository, cwd=project, shell=True, check=False)
    before = without_git(project)
    workspace = opens(policy=Policy(denied_paths=()))
    run(workspace, command)
    changed = without_git(project)
    assert changed != before or "git" in command
    done = [workspace.undo() for _ in workspace.history]
    assert without_git(project) == before
    assert not [one for each in done for one in each.left if ".git" not in one.path]
    if done and not done[0].left:
        workspace.redo()
        assert without_git(project) == changed


def test_tools_and_commands_are_undone_in_turn(workspace, root):
    states = [tree(root)]
    for number in range(6):
        if number % 2:
            run(workspace, f"echo {number} >> a; mkdir d{number}")
        else:
            workspace.write_bytes("a", b"%d" % number)
        states.append(tree(root))
    for state in states[-2::-1]:
        workspace.undo()
        assert tree(root) == state


def test_what_others_did_between_commands_is_left(workspace, root):
    run(workspace, "echo 1 > a")
    (root / "theirs").write_text("theirs")
    (root / "a").write_text("theirs")
    run(workspace, "echo 2 > b")
    workspace.undo()
    with pytest.raises(errors.Conflict, match="a: somebody changed it"):
        workspace.undo()
    held = {path: (root / path).read_text() for path in tree(root)}
    assert held == {"theirs": "theirs", "a": "theirs"}


def test_a_command_that_changes_nothing_is_no_step(workspace, root):
    (root / "a").write_text("1")
    run(workspace, "cat a; touch a; cp a b; rm b; mkdir __pycache__; echo > __pycache__/x")
    assert list(workspace.history) == []


def test_caches_that_a_command_made_do_not_keep_a_directory(workspace, root):
    run(workspace, "mkdir -p p/__pycache__; echo > p/__pycache__/x; echo > p/a.py")
    workspace.undo()
    assert tree(root) == {}


def test_what_cannot_be_kept_is_named_in_the_result_and_blocks_nothing(opens, root):
    too_large(root / "big")
    (root / "b").write_text("b")
    workspace = opens()
    workspace.write_bytes("a", b"1")
    result = run(workspace, "rm big b")
    assert "[not covered by undo: big]" in result.text
    (step,) = [step for step in workspace.history if step.tool == "bash"]
    assert step.lost == ("big",)
    done = workspace.undo()
    assert (done.paths, [one.path for one in done.left]) == (("b",), ["big"])
    workspace.undo()
    assert sorted(tree(root)) == ["b"]


def test_what_is_not_kept_is_moved_back_whatever_its_size(workspace, root):
    too_large(root / "big")
    (root / "nested" / ".git").mkdir(parents=True)
    for name in ("node_modules", ".venv"):
        (root / name / "p").mkdir(parents=True)
    (root / "node_modules" / "p" / "i.js").write_text("1")
    before = tree(root)
    run(workspace, "mv big d; mv node_modules old; mkdir n; mv .venv n/; mv nested/.git nested/g")
    assert tree(root) != before
    workspace.undo()
    assert tree(root) == before


def test_what_a_command_makes_or_removes_of_node_modules_is_named(workspace, root):
    (root / "node_modules").mkdir()
    assert (
        "[not covered by undo: node_modules]" in run(workspace, "rmdir node_modules; echo > a").text
    )
    assert [one.path for one in workspace.undo().left] == ["node_modules"]
    run(workspace, "mkdir .venv; echo > .venv/x; echo > b")
    done = workspace.undo()
    assert (done.paths, [one.path for one in done.left]) == (("b",), [".venv"])


def test_what_only_came_into_view_was_there_before(workspace, root):
    (root / "node_modules").mkdir()
    (root / "node_modules" / "theirs").write_text("theirs")
    run(workspace, "echo > a")
    run(workspace, "mv node_modules n; echo > b")
    run(workspace, "echo > n/theirs2; rm b")
    for _ in workspace.history:
        workspace.undo()
    assert (root / "node_modules" / "theirs").exists()


@pytest.mark.parametrize(
    ("limit", "said"),
    [("MAX_ENTRIES", "the tree has more than 5 entries"), ("MAX_READ", "more than 0 GB")],
)
def test_a_tree_that_is_too_large_is_not_kept_and_the_result_says_so_first(
    workspace, root, monkeypatch, limit, said
):
    for number in range(6):
        (root / f"d{number}").write_text("1")
    monkeypatch.setattr(snapshots, limit, 5)
    result = run(workspace, "echo out; echo > a")
    assert result.text.startswith(f"[not covered by undo: all that it changed, as {said}")
    assert "out" in result.text
    with pytest.raises(errors.Missing):
        workspace.undo()


def test_denied_files_are_neither_kept_nor_shown(opens, root):
    (root / "secret").write_text("hidden")
    workspace = opens(policy=Policy(denied_paths=("secret",)))
    run(workspace, "echo 1 > a")
    stores = [*Path(os.environ["XDG_STATE_HOME"]).rglob("history.sqlite")]
    import sqlite3
    import zlib

    kept = [
        zlib.decompress(d)
        for s in stores
        for (d,) in sqlite3.connect(s).execute("SELECT data FROM content")
    ]
    assert b"1\n" in kept
    assert b"hidden" not in kept


def test_a_write_by_another_session_while_a_command_runs_is_its_own(opens, root):
    ours, other = opens(), opens()
    (root / "f").write_text("old")
    (root / "g").write_text("old")
    after = ours.history.commands.before()
    for data in (b"1", b"22"):
        for name in ("f", "g", "made"):
            other.write_bytes(name, data)
    (root / "g").write_text("the command's")
    (root / "h").write_text("the command's")
    other.write_bytes("late", b"1")
    assert after() == ()
    (step,) = ours.history
    assert [change.path for change in step.changes] == ["g", "h"]
    ours.undo()
    held = {path.name: path.read_text() for path in root.iterdir() if path.is_file()}
    assert held == {"f": "22", "g": "22", "made": "22", "late": "1"}


def test_what_a_tool_noted_before_a_command_and_did_during_it_is_the_tools(opens, root):
    ours, other = opens(), opens()
    other.write_bytes("f", b"1")
    (last,) = (store := other.history.store).changes("1")
    store.record(
        "other", [last._replace(before=last.after, after=last.after._replace(hash=store.add(b"2")))]
    )
    after = ours.history.commands.before()
    (root / "f").write_text("2")
    other.write_bytes("f", b"3")
    assert after() == ()
    assert not list(ours.history)


def test_a_write_between_two_writes_of_a_command_goes_back_with_them(workspace, root):
    workspace.write_bytes("first", b"1")
    after = workspace.history.commands.before()
    workspace.write_bytes("z", b"before the command's")
    (root / "z").write_text("one")
    workspace.write_bytes("z", b"in between")
    (root / "z").write_text("in between, two")
    assert after() == ()
    assert workspace.undo().paths == ("z",)
    assert (root / "z").read_text() == "before the command's"
    assert workspace.redo().paths == ("z",)
    assert (root / "z").read_text() == "in between, two"
    assert [workspace.undo().paths for _ in range(3)] == [("z",), ("z",), ("first",)]
    assert not tree(root)


def test_what_changed_while_a_job_ran_is_undone_only_by_name(workspace, root):
    (root / "mine").write_text("1")
    workspace.write_bytes("before", b"1")
    job = run(workspace, "echo 1 > made; sleep 0.3; echo 2 >> made", background=True)
    assert job.ok
    (root / "mine").write_text("2")
    eventually(lambda: "job" in [step.kind for step in workspace.history])
    with pytest.raises(errors.Conflict, match=r"made: .*name it in `paths`"):
        workspace.undo()
    assert workspace.undo(2).paths == ("before",)
    assert workspace.undo(paths=["made"]).paths == ("made",)
    assert (root / "mine").read_text() == "2"
    assert sorted(tree(root)) == ["mine"]


def test_commands_at_once_lose_nothing(workspace, root):
    """Each change is in one step, whoever ended first."""
    tool = toolset("workspace").bind(workspace)["bash"]
    (root / "a").write_text("a")
    before = tree(root)
    contexts = [contextvars.copy_context() for _ in range(20)]
    commands = [{"command": f"ln -s x f{n}; echo x >> a"} for n in range(20)]
    called = zip(contexts, commands, strict=True)
    threads = [threading.Thread(target=own.run, args=(tool.call, one)) for own, one in called]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    paths = [change.path for step in workspace.history for change in step.changes]
    assert {*paths} == {"a", *(f"f{n}" for n in range(20))}
    assert len(paths) - paths.count("a") == 20
    workspace.undo(20)
    assert tree(root) == before


def test_the_same_change_again_is_a_step_again(workspace, root):
    (root / "f").write_text("mine")
    for _ in range(3):  # within two seconds
        run(workspace, "rm f")
        workspace.undo()
        assert (root / "f").read_text() == "mine"


def test_what_a_user_keeps_in_the_folder_of_our_cache_comes_back(workspace, root):
    (root / "app/.ai").mkdir(parents=True)
    (root / "app/.ai/rules.md").write_text("rules")
    (root / ".ai/cache").mkdir(parents=True)
    before = tree(root)
    run(workspace, "mv app web")
    workspace.undo()
    assert tree(root) == before
    run(workspace, "rm -r app")
    workspace.undo()
    assert tree(root) == before
    run(workspace, "mkdir pkg")
    (root / "pkg/.ai").mkdir()
    (root / "pkg/.ai/mine").write_text("mine")
    assert workspace.undo().left
    assert (root / "pkg/.ai/mine").exists()


def test_a_link_that_takes_the_place_of_a_directory_is_not_followed(workspace, root, tmp_path):
    (root / "src").mkdir()
    (root / "src" / "a.py").write_text("ours")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.py").write_text("theirs")
    before = tree(root)
    run(workspace, f"mv src away; ln -s {tmp_path}/outside src")
    changes = {(change.path, change.verb) for change in next(iter(workspace.history)).changes}
    assert changes == {("src", "changed"), ("away", "created"), ("src/a.py", "moved")}
    workspace.undo()
    assert tree(root) == before
    assert (tmp_path / "outside" / "a.py").read_text() == "theirs"


def test_names_of_one_file_come_back_as_copies(workspace, root):
    (root / "a").write_text("old")
    for name in ("b", "c"):
        os.link(root / "a", root / name)
    run(workspace, "rm c; echo new > a")
    done = workspace.undo()
    assert (done.paths, done.left) == (("a", "b", "c"), ())
    assert [(root / name).read_text() for name in "abc"] == ["old"] * 3
