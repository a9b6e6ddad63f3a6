"""One call of edit_lines that changes several files: all of them, or none."""

import json
from contextlib import closing

import pytest

from fsagent_tools import MemoryFiles, Workspace, toolset
from fsagent_tools.history import history


@pytest.fixture
def root(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(f"one {name}\ntwo {name}\nthree {name}\n")
    return tmp_path


class Model:
    """Reads all three, then names lines by what they are."""

    def __init__(self, workspace):
        self.workspace = workspace
        self.tools = toolset("lines").bind(workspace)
        self.ids = {}
        for name in ("a", "b", "c"):
            for line in self.tools["read"].call({"file_path": name}).text.splitlines():
                mark, _, text = line.partition("\t")
                self.ids[text] = f"{mark} {text}"

    def edit(self, *files):
        changes = [{"file_path": path, **one} for path, given in files for one in given]
        out = self.tools["edit_lines"].call({"file_path": files[0][0], "changes": changes})
        json.dumps([out.to_dict(), out.facts()])  # as hosts and records keep it
        return out

    def put(self, line, new):
        return {"line_id": self.ids[line], "new_content": new}


def contents(root):
    return [(root / name).read_text() for name in ("a", "b", "c")]


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("first", ["taken", "deleted"])
def test_lines_of_another_file_are_taken_as_they_were_before_the_call(root, history, first):
    with closing(Workspace(root, history=history)) as workspace:
        model = Model(workspace)
        taken = {"line_id": model.ids["one a"], "end_line_id": model.ids["two a"]}
        files = [
            ("b", [{**taken, "from_file": "a", "after_line_id": model.ids["two b"]}]),
            ("a", [{**taken, "new_content": ""}]),
        ]
        out = model.edit(*(files if first == "taken" else files[::-1]))
        assert out.ok, out.text
    assert contents(root)[:2] == ["three a\n", "one b\ntwo b\none a\ntwo a\nthree b\n"]


def test_a_change_that_forgets_its_file_does_not_reach_an_equal_one(root):
    for name in ("a", "b"):
        (root / name).write_text("from x import y\n\ndef f():\n    return 1\n")
    model = Model(Workspace(root))  # which knows the lines of b, the second that it read
    change = {"line_id": model.ids["    return 1"], "new_content": "    return 2"}
    out = model.tools["edit_lines"].call({"file_path": "a", "changes": [change]})
    assert out.code == "UNKNOWN_LINE_ID", out.text
    assert contents(root)[0].endswith("return 1\n")


def test_each_file_is_told_with_what_a_check_found_in_it(root):
    for name in ("a.py", "b.py"):
        (root / name).write_text("x = 1\n")
    with closing(Workspace(root)) as workspace:
        tools = toolset("lines").showing({"edit_lines": ["lint"]}).bind(workspace)
        changes = []
        for name in ("a.py", "b.py"):
            mark = tools["read"].call({"file_path": name}).text.split("\t")[0]
            changes.append({"file_path": name, "line_id": f"{mark} x =", "new_content": "x = ("})
        call = {"file_path": "a.py", "changes": changes, "lint": "report"}
        out = tools["edit_lines"].call(call)
        first, second = out.text.split("== b.py")
        assert ("was never closed" in first, "was never closed" in second) == (True, True), out.text
        (also,) = out.data["also"]
        assert also["path"] == "b.py"
        assert also["lint"]


def test_a_refusal_counts_the_changes_of_the_call(root):
    with closing(Workspace(root)) as workspace:
        model = Model(workspace)
        same = ("b", [model.put("one b", "one b")])
        out = model.edit(("a", [model.put("one a", "1"), model.put("two a", "2")]), same)
        assert out.text.startswith("Error: b: Change 3 changes nothing")


def test_a_change_without_a_file_is_of_the_file_of_the_call(root):
    with closing(Workspace(root)) as workspace:
        model = Model(workspace)
        changes = [{**model.put("one b", "1"), "file_path": "./b"}, model.put("one a", "1")]
        assert model.tools["edit_lines"].call({"file_path": "a", "changes": changes}).ok
        alone = [{**model.put("one c", "1"), "file_path": "c"}]
        out = model.tools["edit_lines"].call({"file_path": "a", "changes": alone})
        assert out.ok, out.text
    assert [text.split("\n")[0] for text in contents(root)] == ["1", "1", "1"]


def test_too_many_files_are_refused_by_name(root):
    with closing(Workspace(root)) as workspace:
        model = Model(workspace)
        for n in range(101):
            (root / f"f{n}").touch()
        changes = [{**model.put("one a", "1"), "file_path": f"f{n}"} for n in range(101)]
        out = model.tools["edit_lines"].call({"file_path": "a", "changes": changes})
        assert out.code == "VALIDATION_ERROR"
        assert "changes: they are of 101 files" in out.text


def test_all_are_changed_in_one_step(root):
    before = contents(root)
    with closing(Workspace(root)) as workspace:
        model = Model(workspace)
        out = model.edit(
            ("a", [model.put("two a", "2 a")]),
            ("b", [model.put("one b", "1 b")]),
            ("c", [model.put("three c", "")]),
        )
        assert out.ok, out.text
        assert [line[:4] for line in out.text.splitlines() if "==" in line] == [
            "== a",
            "== b",
            "== c",
        ]
        assert contents(root)[0] == "one a\n2 a\nthree a\n"
        assert contents(root)[2] == "one c\ntwo c\n"
        assert len(list(workspace.history)) == 1
        workspace.undo()
        assert contents(root) == before


def test_one_that_is_refused_leaves_all_as_they_were(root):
    before = contents(root)
    with closing(Workspace(root)) as workspace:
        model = Model(workspace)
        (root / "c").write_text("one c\nchanged\nthree c\n")
        before[2] = "one c\nchanged\nthree c\n"
        out = model.edit(
            ("a", [model.put("two a", "2 a")]),
            ("c", [model.put("two c", "2 c")]),
        )
        assert not out.ok
        assert contents(root) == before
        assert list(workspace.history) == []
        assert model.edit(("a", [model.put("two a", "2 a")])).ok


def test_all_are_asked_about_at_once(root):
    asked = []

    def approve(request):
        asked.append(request)
        return len(asked) > 1

    with closing(Workspace(root, approve=approve)) as workspace:
        model, before = Model(workspace), contents(root)
        files = [("a", [model.put("two a", "2 a")]), ("b", [model.put("one b", "1 b")])]
        assert model.edit(*files).code == "APPROVAL_DENIED"
        assert contents(root) == before
        assert model.edit(*files).ok
    assert len(asked) == 2
    assert asked[0].paths == ("a", "b")
    assert "-two a\n+2 a" in asked[0].diff
    assert "-one b\n+1 b" in asked[0].diff


def test_without_a_history_all_are_judged_before_the_first_is_written():
    files = MemoryFiles({"a": "one a\n", "b": "one b\n", "c": "one c\n"})
    with closing(Workspace(files=files)) as workspace:
        model = Model(workspace)
        wrong = {"line_id": "zzz one b", "new_content": "1"}
        assert not model.edit(("a", [model.put("one a", "1")]), ("b", [wrong])).ok
        assert workspace.read_text("a").text == "one a\n"
        assert model.edit(("a", [model.put("one a", "1")]), ("b", [model.put("one b", "1")])).ok
        assert workspace.read_text("b").text == "1\n"


def test_a_full_disk_in_the_middle_puts_back_what_was_written(root, monkeypatch):
    before = contents(root)
    with closing(Workspace(root)) as workspace:
        model = Model(workspace)
        overwrites = history.Journal.overwrites

        def full(self, slot, *rest, **more):
            if slot.name == "b":
                raise OSError(28, "No space left on device")
            return overwrites(self, slot, *rest, **more)

        monkeypatch.setattr(history.Journal, "overwrites", full)
        out = model.edit(("a", [model.put("two a", "2")]), ("b", [model.put("two b", "2")]))
        assert not out.ok
        assert "No space" in out.text
        assert contents(root) == before
