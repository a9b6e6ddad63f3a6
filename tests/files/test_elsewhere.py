"""A missing name is looked for in the rest of the tree, nearest first and not for long."""

import os

import pytest

from fsagent_tools import MemoryFiles, Policy, Workspace, errors, toolset
from fsagent_tools.files import errors as suggestions
from fsagent_tools.files.guarded import GuardedFiles
from fsagent_tools.files.local import LocalFiles

TREE = ("shop/prices.py", "a/b/c/prices.py", "node_modules/x/prices.py", ".git/prices.py")


@pytest.fixture(params=["local", "memory"])
def files(request, tmp_path):
    if request.param == "memory":
        store = MemoryFiles(dict.fromkeys(TREE[:2], "x"))
        return lambda policy=None, **more: GuardedFiles(store, policy or Policy(), **more)
    for path in TREE:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    return lambda policy=None, **more: LocalFiles(tmp_path, policy or Policy(), **more)


def hint(files, path):
    with pytest.raises(errors.Missing) as refused:
        files.open(path)
    return refused.value.hint


def test_the_places_of_a_name_are_named(files):
    there = {"shop/prices.py", "a/b/c/prices.py"}
    for path in ("prices.py", "docs/prices.py", "shop/old/prices.py"):
        told = hint(files(), path)
        assert {*told.removeprefix("Did you mean ").removesuffix("?").split(", ")} == there
    assert "/shop/prices.py" in hint(files(virtual=True), "/prices.py")
    assert hint(files(), "nowhere.py") == "Check the path. List the directory with `ls`."


def test_what_the_policy_closes_is_not_named(files):
    denied = Policy(denied_paths=["shop/**", "a/**"])
    assert "prices" not in hint(files(policy=denied), "prices.py")


def test_a_name_beside_it_comes_first(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "price.py").write_text("x")
    (tmp_path / "prices.py").write_text("x")
    assert hint(LocalFiles(tmp_path, Policy()), "price.py") == "Did you mean prices.py?"


def test_a_place_for_a_new_file_is_no_question(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "prices.py").write_text("x")
    with pytest.raises(errors.Missing) as refused:
        Workspace(tmp_path).write_bytes("new/prices.py", b"", create_dirs=False)
    assert "shop" not in refused.value.hint


def test_no_link_is_followed_and_the_look_is_bounded(tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "prices.py").write_text("x")
    root = tmp_path / "root"
    for n in range(20):
        (root / f"{n:02}").mkdir(parents=True)
        (root / f"{n:02}" / "other.py").write_text("x")
    (root / "link").symlink_to(tmp_path / "out")
    os.symlink(root, root / "loop")
    (root / "00" / "prices.py").write_text("x")
    files = LocalFiles(root, Policy())
    assert hint(files, "prices.py") == "Did you mean 00/prices.py?"
    monkeypatch.setattr(suggestions, "MAX_SEARCHED", 5)
    assert hint(files, "prices.py").startswith("Check the path")


def test_nothing_is_looked_for_where_nobody_reads_of_it(tmp_path, monkeypatch):
    """A directory of dangling links is listed, and none of them is searched for."""
    for n in range(3):
        (tmp_path / f"link{n}").symlink_to("gone")
    monkeypatch.setattr(suggestions, "deque", None)
    out = toolset("workspace").bind(Workspace(tmp_path))["ls"].call({})
    assert out.text == "link0@\nlink1@\nlink2@"
    with pytest.raises(errors.Missing):
        LocalFiles(tmp_path, Policy()).open("new.txt")
