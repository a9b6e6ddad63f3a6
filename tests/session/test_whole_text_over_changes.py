"""A whole text never goes silently over what somebody wrote since, however the file was known."""

import json

import pytest

from fsagent_tools import Workspace, toolset


@pytest.fixture
def tools(tmp_path):
    return {name: toolset(name).bind(Workspace(tmp_path)) for name in ("lines", "compact")}


def test_over_a_file_that_this_session_has_made(tmp_path, tools):
    write = tools["lines"]["write"]
    assert write.call({"file_path": "a.txt", "content": "mine\n"}).ok
    (tmp_path / "a.txt").write_text("a colleague's\n")
    out = write.call({"file_path": "a.txt", "content": "again\n"})
    assert not out.ok
    assert "-a colleague's" in out.text
    assert (tmp_path / "a.txt").read_text() == "a colleague's\n"


def test_over_a_change_elsewhere_in_a_file_of_which_a_part_was_edited_meanwhile(tmp_path, tools):
    call = tools["compact"]
    path = tmp_path / "n.txt"
    path.write_text("a\nb\n")
    assert call["Read"].call({"file_path": str(path)}).ok
    path.write_text("a colleague's line\nb\n")
    edit = {"file_path": str(path), "old_string": "b", "new_string": "c"}
    assert call["Edit"].call(edit).ok
    assert not call["Write"].call({"file_path": str(path), "content": "a\nzz\n"}).ok
    assert path.read_text() == "a colleague's line\nc\n"


def test_an_edit_of_one_line_opens_no_other(tmp_path, tools):
    call = tools["compact"]
    path = tmp_path / "n.txt"
    path.write_text("".join(f"line {n}\n" for n in range(200)))
    assert call["Grep"].call({"pattern": "line 77$"}).ok
    edit = {"file_path": str(path), "old_string": "line 77\n", "new_string": "line x\n"}
    assert call["Edit"].call(edit).ok
    out = call["Write"].call({"file_path": str(path), "content": "all\n"})
    assert out.code == "FILE_NOT_READ"


def test_over_a_notebook_that_was_saved_since(tmp_path, tools):
    cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    book = {"cells": [{**cell, "source": "x = 1"}], "metadata": {}, "nbformat": 4}
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps(book) + "\n")
    assert tools["lines"]["read"].call({"file_path": "n.ipynb"}).ok
    book["cells"][0]["source"] = "x = 2"
    path.write_text(json.dumps(book) + "\n")
    assert not tools["lines"]["write"].call({"file_path": "n.ipynb", "content": "{}\n"}).ok
