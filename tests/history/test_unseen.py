"""What was there and not watched is nobody's creation when it comes into view."""

import errno
import os

import pytest

from fsagent_tools import Entry, Toolset
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


@pytest.mark.parametrize("further", ["true", "mv kept.txt other.txt", "echo more >> kept.txt"])
def test_what_a_command_moves_out_of_the_rules_is_named_when_it_goes(workspace, rules, further):
    """Where it came from is not known; only a redo has it after an undo."""
    os.utime(rules / "a.log", (1e9, 1e9))
    mark = workspace.checkpoint()
    workspace.run("mv a.log kept.txt; mv out/x seen; echo n > new")
    workspace.run(further)
    goes = {"mv kept.txt other.txt": "other.txt"}.get(further, "kept.txt")
    assert goes in workspace.undo(to=mark, dry_run=True).older
    done = workspace.undo(to=mark)
    assert goes in done.older
    assert "new" in {*done.paths} - {*done.older}
    assert not (rules / goes).exists()
    assert workspace.redo().older == ()
    assert (rules / goes).read_text().startswith("precious\n")


def test_the_tool_names_what_only_a_redo_has(workspace, rules):
    os.utime(rules / "a.log", (1e9, 1e9))
    tools = Toolset("mine", (Entry("undo", show=("dry_run",)),)).bind(workspace)
    workspace.run("mv a.log kept.txt")
    told = tools["undo"].call({"dry_run": True})
    assert "only `redo` has them: kept.txt" in told.text
    assert tools["undo"].call({}).data["older"] == ["kept.txt"]
