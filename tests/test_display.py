"""What a person sees of the public objects: names, short reprs, HTML in a notebook."""

import importlib
import subprocess
import sys

import pytest

import fsagent_tools
from fsagent_tools import TOOLSETS, Workspace, toolset


def test_the_public_names_are_listed():
    assert {*fsagent_tools.__all__, "__version__"} == {*dir(fsagent_tools)}
    assert fsagent_tools.__version__.count(".") == 2


@pytest.mark.parametrize("name", ["langchain", "llamaindex", "mcp", "deepagents", "ray"])
def test_an_adapter_lists_what_it_offers(name):
    adapter = importlib.import_module(f"fsagent_tools_{name}")
    assert dir(adapter) == sorted(adapter.__all__)


def test_reprs_are_short(session, root):
    (root / "a.txt").write_text("one\ntwo\n")
    out = session.read()
    assert repr(out).startswith("Outcome(OK, '[LID:")
    assert repr(session.read("nope")).startswith("Outcome(FILE_NOT_FOUND, 'Error: nope does")
    assert repr(session.tools["ls"]) == "Tool('ls', path, effect='read')"
    assert repr(Workspace("x/y")) == "Workspace('x/y')"
    for name in TOOLSETS:
        assert len(repr(toolset(name))) < 200


def test_an_edit_is_a_coloured_diff_in_a_notebook_and_a_refusal_is_framed(session, root):
    (root / "a.txt").write_text("<one>\n")
    out = session.edit({"line_id": session.ids()[0], "new_content": "<two>"})
    assert '<span style="color:#cf222e">-&lt;one&gt;</span>' in out._repr_html_()
    assert '<span style="color:#1a7f37">+&lt;two&gt;</span>' in out._repr_html_()
    assert "border-left" in session.read("nope")._repr_html_()
    assert "border-left" not in out._repr_html_()
    for shown in (out, session.read("nope")):
        assert "font-family:monospace;word-break:normal" in shown._repr_html_(), "Jupyter resets it"


def test_a_toolset_is_a_table_in_a_notebook():
    assert "<td style='text-align:left'>old_string" not in toolset("workspace")._repr_html_()
    assert "file_path, changes" in toolset("workspace")._repr_html_()


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    ).stderr


def test_on_windows_the_import_names_the_way():
    told = run("import sys; sys.platform = 'win32'; import fsagent_tools")
    assert "use it inside WSL" in told


def test_a_module_that_cannot_be_imported_tells_its_cause():
    told = run("import os; del os.O_NONBLOCK; from fsagent_tools import Workspace")
    assert "has no attribute 'O_NONBLOCK'" in told.rsplit("ImportError", 1)[-1]


def test_a_diff_at_the_very_beginning_is_coloured(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    tools = toolset("workspace").bind(Workspace(tmp_path))
    line_id = tools["read"].call({"file_path": "a.txt"}).text[5:11]
    change = {"line_id": line_id, "new_content": "two"}
    out = tools["edit_lines"].call({"file_path": "a.txt", "changes": [change]})
    assert out.text.startswith("@@ ")
    assert '<span style="color:#cf222e">-one</span>' in out._repr_html_()
