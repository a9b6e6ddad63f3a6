"""The tool `rename`, with a server that fails as it is told."""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fsagent_tools import Effect, MemoryFiles, Policy, Workspace, toolset
from tests.conftest import PATIENCE, eventually

pytestmark = pytest.mark.full

SERVER = Path(__file__).with_name("name_server.py")
FILES = {
    "a.go": "total x\nvalue total\n# total\n",
    "b.go": "print total.of total\n",
    "d/c.go": "local total\nlast\n",
    "notes.md": "The total.\n",
}


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "ws"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def opens(root):
    """A function: how the server fails, options -> a workspace."""
    made = []

    def make(*mode, **options):
        servers = {"go": (sys.executable, str(SERVER), *map(str, mode))}
        made.append(Workspace(root, servers=servers, **options))
        return made[-1]

    yield make
    for workspace in made:
        workspace.close()


def call(workspace, tool, **args):
    tools = toolset("refactor").showing({tool: ["timeout"]}).bind(workspace)
    return tools[tool].call({"file_path": "a.go", "name": "total", "timeout": PATIENCE, **args})


def renamed(workspace, **args):
    return call(workspace, "rename", **{"new_name": "sum", **args})


@pytest.mark.parametrize("new", ["1x", "a b", "", "x.y", "a():\n    pass", "-"])
def test_what_is_no_name_is_not_given(opens, root, new):
    before = contents(root)
    assert renamed(opens(), new_name=new).code == "VALIDATION_ERROR"
    assert contents(root) == before


def test_who_is_asked_about_programs_alone_is_asked_about_the_server(opens, root):
    before, asked = contents(root), []
    options = {"approve": asked.append, "approve_effects": [Effect.EXECUTE]}
    assert renamed(opens(**options)).code == "ACTION_NOT_ALLOWED"
    assert (contents(root), asked) == (before, [])


def contents(root):
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*.*"))
            if p.is_file() and ".ai" not in p.parts}  # fmt: skip


def test_a_rename_changes_every_use_in_one_step(opens, root):
    workspace, before = opens(), contents(root)
    out = renamed(workspace)
    assert out.ok, out.text
    assert out.text.startswith("Renamed total to sum: 4 places, 2 files.\n== a.go\n")
    assert out.text.endswith("knows no use of it: a.go:3, d/c.go:1, notes.md:1.")
    assert out.data["files"] == ["a.go", "b.go"]
    after = {**FILES, "a.go": "sum x\nvalue sum\n# total\n", "b.go": "print sum.of sum\n"}
    assert contents(root) == {name: text.encode() for name, text in after.items()}
    assert len(list(workspace.history)) == 1
    workspace.undo()
    assert contents(root) == before


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("overlaps", "places in .*a.go overlap"),
        ("beyond", "a.go has no such place"),
        ("shifted", "takes 'otal ' in a.go, line 1, for total"),
        ("version", "it is of another version of .*a.go"),
        ("moves", "it would rename a file"),
        ("malformed", "it is malformed"),
        ("unprepared", "has no name here"),
        ("refuses", "does not rename it: the name is taken"),
    ],
)
def test_an_answer_that_does_not_fit_changes_nothing(opens, root, mode, says):
    before = contents(root)
    out = renamed(opens(mode))
    assert not out.ok
    assert re.search(says, out.text), out.text
    assert "Nothing was written." in out.text
    assert contents(root) == before


def test_a_place_inside_a_character_is_none(opens, root):
    (root / "a.go").write_text("𝄞 total\n")
    before = contents(root)
    out = renamed(opens("inside-a-character"))
    assert "a.go has no such place" in out.text
    assert contents(root) == before


def test_what_lies_outside_refuses_the_whole(opens, root, tmp_path):
    (tmp_path / "out.go").write_text(FILES["a.go"])
    before = contents(root)
    out = renamed(opens("outside", tmp_path / "out.go"))
    assert out.code == "PATH_OUTSIDE_WORKSPACE"
    assert contents(root) == before
    assert (tmp_path / "out.go").read_text() == FILES["a.go"]


@pytest.mark.parametrize(
    "policy",
    [Policy(write_denied=["b.go"]), Policy(max_file_size=22), Policy(readonly=True)],
    ids=["closed", "large", "readonly"],
)
def test_what_the_policy_closes_refuses_the_whole(opens, root, policy):
    before = contents(root)
    assert not renamed(opens(policy=policy), new_name="a_much_longer_name").ok
    assert contents(root) == before


def test_a_server_that_answers_late_is_said_to(opens, root):
    before = contents(root)
    out = renamed(opens("late"), timeout=1)
    assert out.code == "TIMEOUT"
    assert contents(root) == before


def test_a_server_that_cannot_rename_is_said_to(opens):
    out = renamed(opens("only-finds"))
    assert out.code == "NO_LANGUAGE_SERVER"
    assert "cannot rename" in out.text


def test_a_file_that_changes_while_the_server_answers_is_asked_about_again(opens, root):
    workspace = opens("waits")

    def change():
        servers = workspace.services.servers
        assert eventually(lambda: Path(servers.directory or "/none", "asked").exists())
        (root / "b.go").write_text(f"new\n{FILES['b.go']}")

    with ThreadPoolExecutor(1) as threads:
        changing = threads.submit(change)
        out = renamed(workspace)
        changing.result()
    assert out.ok, out.text
    assert (root / "b.go").read_text() == "new\nprint sum.of sum\n"


def test_an_answer_of_before_a_change_is_not_written(opens, root):
    asked = []

    def approve(request):
        asked.append(request.diff)
        if len(asked) == 1:
            (root / "b.go").write_text(f"more\n{FILES['b.go']}")
        return True

    out = renamed(opens(approve=approve))
    assert out.ok, out.text
    assert (root / "b.go").read_text() == "more\nprint sum.of sum\n"
    assert len(asked) == 2


def test_approval_shows_one_diff_of_all_files(opens, root):
    requests, before = [], contents(root)

    def approve(request):
        requests.append(request)
        return False

    assert renamed(opens(approve=approve)).code == "APPROVAL_DENIED"
    (request,) = requests
    assert request.paths == ("a.go", "b.go")
    assert "+value sum" in request.diff
    assert "+print sum.of sum" in request.diff
    assert contents(root) == before


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_line_ends_marks_and_wide_characters_stay(opens, root, encoding):
    for name in ("a.go", "b.go"):
        (root / name).write_bytes("é 𝄞 total 𝄞 total\r\ntotal\r\nx".encode(encoding))
    out = renamed(opens())
    assert out.ok, out.text
    for name in ("a.go", "b.go"):
        want = "é 𝄞 sum 𝄞 sum\r\nsum\r\nx".encode(encoding)
        assert (root / name).read_bytes() == want


def test_a_file_by_two_names_is_changed_once(opens, root):
    (root / "link.go").symlink_to("b.go")
    out = renamed(opens())
    assert out.ok, out.text
    assert out.data["files"] == ["a.go", "b.go"]
    assert (root / "b.go").read_text() == "print sum.of sum\n"
    assert (root / "link.go").is_symlink()


def test_a_name_of_several_things_is_not_guessed(opens, root):
    (root / "a.go").write_text("# total\nlocal total\ntotal of\n")
    before = contents(root)
    out = renamed(opens())
    assert "means several things in a.go, as on the lines 2 and 3" in out.text
    assert contents(root) == before


@pytest.mark.parametrize("number", [2, "2", "id"])
def test_a_line_says_which_is_meant(opens, root, number):
    (root / "a.go").write_text("# total\nlocal total\ntotal of\n")
    workspace = opens(line_ids="tag")
    if number == "id":
        read = toolset("workspace").bind(workspace)["read"]
        shown = read.call({"file_path": "a.go"}).text.splitlines()[1]
        number = shown.partition("]")[0].removeprefix("[LID:")
        workspace.rest()  # as when others are in use: the text is read again
    assert renamed(workspace, line=number).ok
    assert (root / "a.go").read_text() == "# total\nlocal sum\ntotal of\n"
    assert (root / "b.go").read_text() == FILES["b.go"]


def test_more_of_the_line_says_which_is_meant(opens, root):
    (root / "a.go").write_text("local total\nof total\n")
    assert renamed(opens(), name="of total").ok
    assert (root / "a.go").read_text() == "local total\nof sum\n"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"name": "totals"}, "totals is not in a.go"),
        ({"name": "x", "line": 2}, "x is not in line 2 of a.go"),
        ({"line": 3}, "knows no symbol total there: 0 places"),
        ({"line": 99}, "total is not in line 99 of a.go"),
        ({"name": "..."}, "name: this is not a name"),
        ({"new_name": "total"}, "It is called total"),
        ({"file_path": "notes.md"}, "No language server"),
        ({"file_path": "none.go"}, "none.go"),
    ],
)
def test_no_place_is_an_error(opens, root, args, says):
    before = contents(root)
    out = renamed(opens(), **args)
    assert not out.ok
    assert says in out.text
    assert contents(root) == before


def test_files_elsewhere_have_no_servers():
    workspace = Workspace(files=MemoryFiles(FILES))
    assert renamed(workspace).code == "PERMISSION_DENIED"


def test_two_renames_at_once_leave_each_file_of_one_or_both(opens, root):
    (root / "b.go").write_text("total value\n")
    asked = [("total", "sum"), ("value", "price")]
    with ThreadPoolExecutor(2) as threads:
        outs = list(threads.map(lambda names: renamed(opens(), name=names[0], new_name=names[1]),
                                asked))  # fmt: skip
    done = [names for names, out in zip(asked, outs, strict=True) if out.ok]
    assert done, [out.text for out in outs]
    texts = {"a.go": FILES["a.go"].replace("# total", "#"), "b.go": "total value\n"}
    for old, new in done:
        texts = {name: text.replace(old, new) for name, text in texts.items()}
    for name, text in texts.items():
        assert (root / name).read_text().replace("# total", "#") == text
    assert all(out.ok or out.code in ("FILE_CHANGED", "STRING_NOT_FOUND", "TIMEOUT")
               or "changed meanwhile" in out.text for out in outs)  # fmt: skip


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes every file")
def test_a_file_without_the_right_to_write_refuses_the_whole(opens, root):
    (root / "b.go").chmod(0o444)
    before = contents(root)
    assert not renamed(opens()).ok
    assert contents(root) == before
