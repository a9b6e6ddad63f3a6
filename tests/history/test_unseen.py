"""What was there and not watched is nobody's creation when it comes into view."""

import errno
import os

import pytest

from fsagent_tools.history import look
from fsagent_tools.history.descent import Descent
from tests.history.conftest import tree
from tests.history.test_commands import files, git


@pytest.fixture
def rules(root):
    (root / ".gitignore").write_text("out/\n*.log\n")
    (root / "out").mkdir()
    (root / "out" / "x").write_text("precious\n")
    (root / "a.log").write_text("precious\n")
    return root


def test_what_a_command_takes_out_of_the_rules_was_there_before(workspace, rules):
    before = tree(rules)
    workspace.run("rm .gitignore; echo n > new")
    assert {change.path for change in workspace.history.steps()[0].changes} == {".gitignore", "new"}
    workspace.undo()
    assert tree(rules) == before


def test_what_came_into_view_is_covered_from_then_on(workspace, rules):
    workspace.run("rm .gitignore")
    before = tree(rules)
    ran = workspace.run("rm -r out a.log")
    assert ran.lost == ()
    workspace.undo()
    assert tree(rules) == before


def test_what_a_command_gives_to_git_was_there_before(workspace, rules):
    git(rules, "init", "-q")
    git(rules, "add", "-A")
    git(rules, "commit", "-qm", "x")
    before = files(rules)
    workspace.run("git add -f a.log out/x; echo n > new")
    assert {change.path for change in workspace.history.steps()[0].changes} == {"new"}
    workspace.undo()
    assert files(rules) == before


def test_what_a_rule_hides_is_forgotten_and_not_removed(workspace, root):
    (root / "data").mkdir()
    (root / "data" / "x").write_text("one\n")
    before = tree(root)
    workspace.run("echo data/ > .gitignore; echo two > data/x")
    workspace.run("rm .gitignore")
    workspace.undo(steps=2)
    assert tree(root) == before


@pytest.mark.unprivileged
def test_what_a_command_opens_to_itself_was_there_before(workspace, root):
    (root / "shut").mkdir()
    (root / "shut" / "x").write_text("precious\n")
    (root / "shut").chmod(0o755)
    before = tree(root)
    (root / "shut").chmod(0)
    workspace.run("chmod 755 shut; echo n > new")
    workspace.undo()
    (root / "shut").chmod(0o755)
    assert tree(root) == before


def test_attributes_that_a_command_changes_hold_from_then_on(workspace, root):
    (root / ".gitattributes").write_text("# none\n")
    (root / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    workspace.run("echo '*.txt text eol=crlf' >> .gitattributes; git add --renormalize .")
    before = files(root)
    ran = workspace.run("rm dos.txt")
    assert ran.lost == ()
    workspace.undo()
    assert files(root) == before


@pytest.mark.unprivileged
def test_what_is_closed_for_a_while_is_watched_again(workspace, root):
    (root / "shut" / "in").mkdir(parents=True)
    (root / "shut" / "in" / "x").write_text("one\n")
    before = tree(root)
    workspace.run("echo begun > new")
    workspace.run("chmod 0 shut")
    workspace.run("chmod 755 shut; echo two > shut/in/x")
    workspace.undo(steps=3)
    assert tree(root) == before


def test_new_rules_hold_for_all_that_is_beneath_them(workspace, root):
    (root / ".gitignore").write_text("*.log\n")
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "x.log").write_text("one\n")
    workspace.run("true")
    workspace.run("echo '!x.log' > a/.gitignore; sleep 0.2")  # until its time tells of changes
    before = tree(root)
    ran = workspace.run("rm a/b/x.log")
    assert ran.lost == ()
    workspace.undo()
    assert tree(root) == before


def too_many(self, folder):
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def test_what_cannot_be_looked_at_is_not_taken_for_removed(workspace, root, monkeypatch):
    (root / "a").mkdir()
    for name in ("x", "a/y"):
        (root / name).write_text("one\n")
    before = tree(root)
    workspace.run("true")
    with monkeypatch.context() as patched:
        patched.setattr(Descent, "enter", too_many)
        workspace.run("true")
    assert not workspace.history.steps()
    workspace.run("echo two > a/y; rm x")
    workspace.undo()
    assert tree(root) == before


def test_what_a_command_moves_out_of_the_rules_goes_back(workspace, rules):
    os.utime(rules / "a.log", (1e9, 1e9))
    before = tree(rules)
    workspace.run("mv a.log kept.txt; mv out/x seen; echo n > new")
    workspace.run("mv kept.txt other.txt; echo more >> seen")
    workspace.undo(2)
    assert tree(rules) == before
    workspace.redo()
    assert (rules / "other.txt").read_text() == "precious\n"


def test_ignored_files_that_a_command_overwrites_or_removes_come_back(workspace, rules):
    (rules / ".env.log").write_text("secret\n")
    before = tree(rules)
    ran = workspace.run("echo x > a.log; rm .env.log; rm -r out; echo made > made.log")
    assert ran.lost == ()
    done = workspace.undo()
    assert (done.paths, done.lost) == ((".env.log", "a.log", "out", "out/x"), ())
    made = tree(rules).pop("made.log")
    assert tree(rules) == {**before, "made.log": made}
    workspace.redo()
    assert {*tree(rules)} == {".gitignore", "a.log", "made.log"}


def test_ignored_files_of_more_than_a_megabyte_and_closed_directories_are_named(workspace, rules):
    (rules / "a.log").write_bytes(b"x" * ((1 << 20) + 1))
    (rules / "node_modules" / "m").mkdir(parents=True)
    ran = workspace.run("rm a.log; rm -r node_modules; echo n > new")
    assert ran.lost == ("a.log", "node_modules")
    done = workspace.undo()
    assert (done.paths, done.lost) == (("new",), ("a.log", "node_modules"))


def test_ignored_directories_with_too_many_files_are_not_looked_into(workspace, rules, monkeypatch):
    monkeypatch.setattr(look, "MOST_IGNORED", 5)
    for number in range(10):
        (rules / "out" / f"{number}").write_text("x")
    workspace.run("true")
    workspace.run("echo more > out/more; rm a.log; rm out/1")
    workspace.undo()
    assert (rules / "a.log").read_text() == "precious\n"
    assert (rules / "out" / "more").exists()
    assert not (rules / "out" / "1").exists()


@pytest.mark.parametrize(
    "moved", ["mv .git .git2", "mkdir new; git commit -qm y --allow-empty; mv .git new/"]
)
def test_a_repository_that_a_command_moves_is_not_removed_by_an_undo(workspace, root, moved):
    git(root, "init", "-q")
    git(root, "config", "user.name", "a")
    git(root, "config", "user.email", "a@b.c")
    (root / "f").write_text("1\n")
    workspace.run("true")
    ran = workspace.run(f"{moved}; echo 2 > f")
    assert (ran.exit_code, ran.lost) == (0, (".git",))
    done = workspace.undo()
    assert "f" in done.paths
    assert (root / "f").read_text() == "1\n"
    (head,) = root.rglob("config")
    assert head.parent.name in (".git2", ".git")
    workspace.run("echo 3 > f")
    workspace.undo()
    assert head.exists()


def test_a_tree_of_any_depth_goes_and_comes_back(workspace, root):
    deep = "/".join("d" * 1500)
    for _ in range(2):
        ran = workspace.run(f"mkdir -p {deep[:1500]}; cd {deep[:1500]}; mkdir -p {deep[:1500]}")
        assert ran.exit_code == 0, ran.both
    assert workspace.run("rm -r d").exit_code == 0
    assert look.Look(str(root)).sees(deep) is False


def test_settings_that_the_policy_closes_stay_and_are_named(workspace, root):
    (root / ".vscode").mkdir()
    (root / ".vscode" / "settings.json").write_text("{}\n")
    (root / "f").write_text("1\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    ran = workspace.run("git rm -rq .vscode; echo 2 > f")
    assert ran.exit_code == 0, ran.both
    assert not (root / ".vscode").exists()
    for dry in (True, False):
        done = workspace.undo(dry_run=dry)
        assert (done.paths, done.conflicts) == ((".vscode", "f"), ())
        assert done.lost == (".vscode/settings.json",)
    assert (root / "f").read_text() == "1\n"
