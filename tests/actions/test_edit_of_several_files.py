"""`edit` over several files: all of them are changed, or none."""

import json
from contextlib import closing

import pytest

from fsagent_tools import Policy, Workspace, toolset

NAMES = ("a.py", "b.py", "c.py")


@pytest.fixture
def root(tmp_path):
    for name in NAMES:
        (tmp_path / name).write_text(f"{name[0]} = old\n")
    return tmp_path


def contents(root):
    return [(root / name).read_bytes() for name in NAMES]


def call(workspace, *also, **args):
    tools = toolset("filesystem").showing({"edit": ["also"]}).bind(workspace)
    first = {"path": "a.py", "old_string": "old", "new_string": "new"}
    out = tools["edit"].call({**first, "also": [*also], **args})
    json.dumps([out.to_dict(), out.facts()])  # as hosts and records keep it
    return out


def further(name, old="old", new="new"):
    return {"file_path": name, "old_string": old, "new_string": new}


def test_all_are_changed_in_one_step(root):
    with closing(Workspace(root)) as workspace:
        before = contents(root)
        out = call(workspace, further("c.py"), further("b.py", "b = old", "b = newer"))
        assert out.ok, out.text
        assert contents(root) == [b"a = new\n", b"b = newer\n", b"c = new\n"]
        assert [line for line in out.text.splitlines() if line.startswith("==")] == [
            "== a.py",
            "== c.py",
            "== b.py",
        ]
        assert len(list(workspace.history)) == 1
        workspace.undo()
        assert contents(root) == before


@pytest.mark.parametrize(
    ("also", "says"),
    [
        (further("b.py", "gone"), "b.py"),
        (further("a.py"), "a.py is named twice"),
        (further("./a.py"), "a.py is named twice"),
        (further("none.py"), "none.py"),
        (further("../out.py"), "out.py"),
        ({"file_path": "b.py", "old_string": "old"}, "also: each has file_path, old_string"),
        ({"path": "b.py"}, "and this one path"),
    ],
)
def test_one_that_is_refused_leaves_all_as_they_were(root, also, says):
    with closing(Workspace(root)) as workspace:
        before = contents(root)
        out = call(workspace, further("c.py"), also)
        assert not out.ok
        assert says in out.text
        assert contents(root) == before
        assert [*workspace.history] == []


def test_it_is_asked_about_once_with_one_diff(root):
    requests = []
    with closing(Workspace(root, approve=lambda asked: not requests.append(asked))) as workspace:
        assert call(workspace, further("b.py"), further("c.py")).ok
    (request,) = requests
    assert request.paths == NAMES
    assert request.diff.count("+++ b/") == len(NAMES)


def test_what_the_policy_closes_refuses_all(root):
    policy = Policy(write_denied=["c.py"])
    with closing(Workspace(root, policy=policy)) as workspace:
        before = contents(root)
        assert call(workspace, further("b.py"), further("c.py")).code == "PATH_DENIED"
        assert contents(root) == before


def test_a_line_to_insert_at_is_of_the_first_file(root):
    with closing(Workspace(root)) as workspace:
        tools = toolset("filesystem").showing({"edit": ["also", "insert_at_line"]}).bind(workspace)
        out = tools["edit"].call({"path": "a.py", "insert_at_line": 1, "new_string": "x = 1\n",
                                  "also": [further("b.py")]})  # fmt: skip
        assert out.ok, out.text
    assert contents(root)[:2] == [b"x = 1\na = old\n", b"b = new\n"]
