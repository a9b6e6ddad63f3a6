"""The tool `undo`, in a toolset of the host's, and the commands of the command line."""

import json
import pickle
import sys

import pytest

from fsagent_tools import Toolset, toolset
from fsagent_tools.cli import main
from fsagent_tools.types import Entry
from tests.history.conftest import too_large, tree

ROW = Entry("undo", show=("steps", "to", "redo", "dry_run"))
TOOLS = Toolset("mine", (*toolset("filesystem").entries, ROW))


@pytest.fixture
def tools(workspace):
    return TOOLS.bind(workspace)


def test_a_model_undoes_its_calls_and_reverts_the_undo(tools, root):
    tools["write"].call({"path": "a", "content": "1\n"})
    tools["write"].call({"path": "a", "content": "2\n"})
    told = tools["undo"].call({"dry_run": True})
    assert "Would undo 1 step; restored: a" in told.text
    assert "-2\n+1" in told.text
    assert (root / "a").read_text() == "2\n"
    assert tools["undo"].call({}).text == "Undid 1 step; restored: a"
    assert (root / "a").read_text() == "1\n"
    assert tools["undo"].call({"redo": True}).ok
    assert (root / "a").read_text() == "2\n"
    assert tools["undo"].call({"steps": 5}).ok
    assert tree(root) == {}
    assert tools["undo"].call({}).code == "FILE_NOT_FOUND"


def test_an_undo_is_approved_with_its_diff(opens, root):
    asked = []
    workspace = opens(approve=lambda request: asked.append(request) or len(asked) < 3)
    tools = TOOLS.bind(workspace)
    tools["write"].call({"path": "a", "content": "1\n"})
    tools["write"].call({"path": "a", "content": "2\n"})
    assert not tools["undo"].call({}).ok
    assert "-2\n+1" in str(asked[-1].diff)
    assert (root / "a").read_text() == "2\n"


def test_a_pickled_view_has_its_virtual_paths(opens):
    view = pickle.loads(pickle.dumps(opens().view(paths="virtual")))
    assert view.write_bytes("/a", b"1").path == "/a"
    assert view.read_bytes("/a").data == b"1"
    view.close()


def test_no_named_toolset_has_it_and_files_elsewhere_lack_it():
    assert "undo" not in {e.shown_name for e in toolset("workspace").entries}


@pytest.fixture
def fsagent(root, capsys):
    def run(*words):
        code = main(["--root", str(root), *words])
        return code, capsys.readouterr()

    return run


def test_the_command_line_undoes_its_own_steps_and_others_if_it_is_asked(workspace, root, fsagent):
    workspace.write_bytes("a", b"1\n")
    mark = fsagent("checkpoint", "start")[1].out.strip()
    workspace.write_bytes("a", b"2\n")
    assert fsagent("write", "b", "b\n")[0] == 0
    code, told = fsagent("log")
    rows = [line.split() for line in told.out.splitlines()]
    assert (code, [row[-1] for row in rows]) == (0, ["b", "a", "start", "a"])
    assert rows[0][4:6] == ["command", "line"]
    assert rows[1][4] == workspace.session.id[:16]
    assert "-1\n+2" in fsagent("diff", mark)[1].out
    code, told = fsagent("undo", "--steps", "2")
    assert (code, "--any" in told.err, workspace.session.id[:16] in told.err) == (1, True, True)
    assert "-2\n+1" in fsagent("undo", "--steps", "2", "--dry-run")[1].out
    code, told = fsagent("undo")
    assert (code, "undone: " in told.out, (root / "b").exists()) == (0, True, False)
    assert fsagent("undo")[0] == 1
    assert fsagent("undo", "--to", "start", "--any")[0] == 0
    assert (root / "a").read_bytes() == b"1\n"
    assert fsagent("undo", "--redo")[0] == 0
    assert (root / "a").read_bytes() == b"2\n"
    last = fsagent("checkpoint")[1].out.strip()
    assert "nothing has changed there" in fsagent("undo", "--to", last)[1].err
    assert "no step that changed c" in fsagent("undo", "c")[1].err
    found = json.loads(fsagent("log", "--json", "-n", "2")[1].out)
    assert [(one["kind"], one["paths"]) for one in found] == [("checkpoint", []), ("redo", ["a"])]
    assert fsagent("undo", "--redo", "a")[0] == 2
    assert fsagent("undo", "--to", "nonsense")[0] == 1
    assert fsagent("log", "--prune")[0] == 0


def test_json_tells_all_that_the_tool_tells(workspace, root, fsagent):
    too_large(root / "big")
    workspace.write_bytes("a", b"1\n")
    workspace.run("echo y > big")
    told = TOOLS.bind(workspace)["undo"].call({"dry_run": True, "steps": 2}).data
    assert [one["path"] for one in told["left"]] == ["big"]
    found = json.loads(fsagent("undo", "--any", "--steps", "2", "--dry-run", "--json")[1].out)
    assert {*told} - {"output", "dry_run"} == {*found}
    assert [one["path"] for one in found["left"]] == ["big"]


def test_the_command_line_says_where_a_long_conflict_is_told_whole(workspace, root, capsys):
    (root / "a").write_text("".join(f"{n}\n" for n in range(300)))
    workspace.write_bytes("a", b"ours\n")
    (root / "a").write_text("".join(f"{n} theirs\n" for n in range(300)))
    assert main(["--root", str(root), "undo", "--any"]) == 1
    told = capsys.readouterr().err
    assert "more lines" in told
    assert len(told.splitlines()) < 40
    assert "--json" in told
    assert main(["--root", str(root), "undo", "--any", "--json"]) == 1
    whole = json.loads(capsys.readouterr().out)["conflicts"][0]["diff"]
    assert "-299 theirs" in whole


def test_the_log_names_what_was_not_kept(workspace, root, capsys):
    too_large(root / "big")
    toolset("workspace").bind(workspace)["bash"].call({"command": "rm big"})
    assert main(["--root", str(root), "log"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.split("  ")[2].strip() == "bash"
    assert line.endswith("big (not kept)")


def test_names_make_no_rows_of_the_log(workspace, root, capsys):
    workspace.write_bytes("a\nb", b"1")
    workspace.checkpoint("c\nd\x1b[31m")
    assert main(["--root", str(root), "log"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("c\\nd\\x1b[31m")
    assert second.endswith("a\\nb")


def test_a_terminal_is_not_flooded_with_what_an_undo_did(workspace, root, capsys, monkeypatch):
    workspace.write_bytes("a", b"line\n" * 1000)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["--root", str(root), "undo", "--any"]) == 0
    told = capsys.readouterr()
    assert 150 < told.out.count("-line") < 250
    assert "more lines: `fsagent log -n 1 --diff`" in told.err
    assert main(["--root", str(root), "log", "-n", "1", "--diff"]) == 0
    assert capsys.readouterr().out.count("-line") == 1000
