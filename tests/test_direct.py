"""The typed verbs beside the tools, on a real directory and in memory."""

import re

import pytest

from fsagent_tools import MemoryFiles, Policy, Workspace, errors, toolset
from fsagent_tools.search.start import Start
from fsagent_tools.shell.runner import run
from fsagent_tools.shell.shell import ShellRequest
from tests.conftest import alive

CONTENTS = {"a.py": "x = 1\ny = 2\n", "src/b.py": "z = 'a.b'\n", "src/.hidden": "h"}


@pytest.fixture(params=["disk", "memory"])
def opens(request, tmp_path):
    """`opens(**options)` makes a workspace with the same contents."""
    memory = MemoryFiles(CONTENTS)
    for path, text in CONTENTS.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)

    def make(**options):
        if request.param == "memory":
            return Workspace(files=memory, **options)
        return Workspace(tmp_path, **options)

    return make


@pytest.fixture
def workspace(opens):
    return opens()


def test_bytes_and_text_are_read_whole(workspace):
    found = workspace.read_bytes("a.py")
    assert (found.path, found.data) == ("a.py", b"x = 1\ny = 2\n")
    workspace.write_bytes("latin.txt", "\ufeffé\r\n".encode("utf-16"))
    text = workspace.read_text("latin.txt")
    assert text.text.endswith("é\r\n")
    assert text.encoding.startswith("utf-16")
    workspace.write_bytes("n.bin", b"\0\1\2")
    with pytest.raises(errors.BinaryFile):
        workspace.read_text("n.bin")


def test_bytes_are_written_as_they_are_asked_for(workspace):
    assert workspace.write_bytes("new/dir/c", b"\0c").created
    assert workspace.read_bytes("new/dir/c").data == b"\0c"
    with pytest.raises(errors.Missing):
        workspace.write_bytes("other/dir/c", b"", create_dirs=False)
    with pytest.raises(errors.AlreadyExists):
        workspace.write_bytes("a.py", b"lost", exist_ok=False)
    assert not workspace.write_bytes("a.py", b"won").created
    assert workspace.read_bytes("a.py").data == b"won"


def test_a_text_is_written_as_it_is_read(workspace):
    assert workspace.write_text("new/t.txt", "caf\u00e9\r\n").bytes_written == 7
    assert workspace.read_text("new/t.txt").text == "caf\u00e9\r\n"
    with pytest.raises(errors.AlreadyExists):
        workspace.write_text("new/t.txt", "", exist_ok=False)
    with pytest.raises(errors.EncodingError, match="`text` holds"):
        workspace.write_text("a.py", "\ud800")


def test_a_raw_write_makes_line_ids_stale(workspace):
    tools = toolset("workspace").bind(workspace)
    seen = tools["read"].call({"file_path": "a.py"}).text
    first, second = re.findall(r"LID:(\w+)", seen)
    workspace.write_bytes("a.py", b"other = 1\ny = 2\n")

    def edit(line_id):
        change = {"line_id": line_id, "new_content": "changed"}
        return tools["edit_lines"].call({"file_path": "a.py", "changes": [change]})

    assert edit(first).code == "STALE_LINE_IDS"
    assert edit(second).ok
    assert workspace.read_bytes("a.py").data == b"other = 1\nchanged\n"


def test_an_edit_replaces_exact_text_and_keeps_line_ids(workspace):
    tools = toolset("workspace").bind(workspace)
    _, second = re.findall(r"LID:(\w+)", tools["read"].call({"file_path": "a.py"}).text)
    edited = workspace.edit_text("a.py", "x = 1", "x = 7")
    assert (edited.path, edited.replacements) == ("a.py", 1)
    assert "+x = 7" in edited.diff
    assert second in tools["read"].call({"file_path": "a.py"}).text
    assert workspace.edit_text("a.py", " = ", "=", occurrences="all").replacements == 2
    with pytest.raises(errors.MultipleMatches):
        workspace.edit_text("a.py", "=", "==")
    with pytest.raises(errors.NoMatch):
        workspace.edit_text("a.py", "nowhere", "x")
    assert workspace.read_text("a.py").text == "x=7\ny=2\n"


def test_listing_tells_kinds_and_sizes(workspace):
    assert [(e.path, e.kind) for e in workspace.list()] == [("a.py", "file"), ("src", "directory")]
    assert [(e.path, e.size) for e in workspace.list("src")] == [
        ("src/.hidden", 1),
        ("src/b.py", 10),
    ]


def test_an_entry_that_goes_while_it_is_listed_is_not_told(tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / name).write_text("")
    allows = Start.allows

    def allows_late(start, sub):
        (tmp_path / "a").unlink(missing_ok=True)
        return allows(start, sub)

    monkeypatch.setattr(Start, "allows", allows_late)
    assert [entry.path for entry in Workspace(tmp_path).list()] == ["b"]


def test_finding_says_when_there_was_more(workspace):
    assert workspace.find("**/*.py").paths == ("a.py", "src/b.py")
    assert workspace.find("*.py", "src").paths == ("src/b.py",)
    few = workspace.find("**/*.py", limit=1)
    assert (few.paths, few.truncated) == (("a.py",), True)


def test_searching_takes_a_regex_or_plain_text(workspace):
    found = workspace.search("[xyz] = ")
    assert [(h.path, h.line, h.text) for h in found.hits] == [
        ("a.py", 1, "x = 1"),
        ("a.py", 2, "y = 2"),
        ("src/b.py", 1, "z = 'a.b'"),
    ]
    assert workspace.search("a.b", fixed=True).hits == workspace.search(r"a\.b").hits
    assert workspace.search("= [(*", fixed=True).hits == ()
    assert [h.path for h in workspace.search("=", include="src/*").hits] == ["src/b.py"]
    few = workspace.search("=", limit=2)
    assert (len(few.hits), few.truncated) == (2, True)
    assert workspace.search("x", "a.py").hits[0].path == "a.py"
    with pytest.raises(errors.InvalidRegex):
        workspace.search("(")


def test_what_is_on_the_way_to_what_is_allowed_is_listed(root):
    (root / "a/b").mkdir(parents=True)
    for name in ("a/b/in.txt", "a/out.txt", "out.txt"):
        (root / name).write_text("text\n")
    workspace = Workspace(root, policy=Policy(allowed_paths=("a/b/**",)))
    assert [entry.path for entry in workspace.list(".")] == ["a"]
    assert [entry.path for entry in workspace.list("a")] == ["a/b"]
    assert workspace.find("*.txt").paths == ("a/b/in.txt",)


def test_the_policy_binds_these_verbs_too(opens):
    closed = opens(policy=Policy(denied_paths=("src",), max_file_size=5))
    with pytest.raises(errors.PathDenied):
        closed.read_bytes("src/b.py")
    with pytest.raises(errors.TooLarge):
        closed.read_bytes("a.py")
    assert [e.path for e in closed.list()] == ["a.py"]
    assert closed.search("z").hits == ()
    readonly = opens(policy=Policy(readonly=True))
    for change in (
        lambda: readonly.write_bytes("a.py", b""),
        lambda: readonly.edit_text("a.py", "x", "y"),
    ):
        with pytest.raises(errors.ReadOnly):
            change()
    with pytest.raises(errors.ActionDenied):
        opens(policy=Policy(allowed_actions=("read",))).run("true")
    assert opens().read_text("a.py").text == CONTENTS["a.py"]


def test_a_command_runs_in_a_directory_of_this_machine(tmp_path):
    (tmp_path / "sub").mkdir()
    workspace = Workspace(tmp_path)
    ran = workspace.run("pwd; echo $GREETING; exit 3", working_dir="sub", env={"GREETING": "hello"})
    assert (ran.output, ran.exit_code) == (f"{tmp_path.resolve()}/sub\nhello\n", 3)
    workspace.close()
    with pytest.raises(errors.Denied, match="this machine"):
        Workspace(files=MemoryFiles()).run("true")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda w: w.read_bytes(3), "path"),
        (lambda w: w.read_text("a.py", encoding=3), "encoding"),
        (lambda w: w.write_bytes("a.py", "text"), "data"),
        (lambda w: w.write_text("a.py", b"bytes"), "text"),
        (lambda w: w.edit_text("a.py", 3, "x"), "old"),
        (lambda w: w.find(None), "pattern"),
        (lambda w: w.search("x", limit="many"), "limit"),
        (lambda w: w.run("true", timeout="soon"), "timeout"),
        (lambda w: w.run("true", env=["A=1"]), "env"),
        (lambda w: w.undo("a"), "steps"),
        (lambda w: w.undo(to=3), "to"),
        (lambda w: w.undo(paths=3), "paths"),
        (lambda w: w.checkpoint(3), "name"),
    ],
)
def test_a_value_of_another_type_is_refused_by_its_name(workspace, call, name):
    with pytest.raises(errors.InvalidArguments, match=f"^{name} is "):
        call(workspace)


@pytest.mark.parametrize("paths", ["a.py", [3]])
def test_what_an_undo_takes_back_is_several_paths(tmp_path, paths):
    with pytest.raises(errors.InvalidArguments, match="paths"):
        Workspace(tmp_path).undo(paths=paths)


def test_a_time_that_is_none_leaves_no_command_behind(tmp_path):
    workspace = Workspace(tmp_path)
    command = workspace.services.shell.prepare(ShellRequest("sleep 161803398", str(tmp_path)))
    with pytest.raises(TypeError):
        run(command, "soon")
    assert not alive("sleep 161803398")
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "settings.json").write_text("{}")
    assert workspace.run("true").exit_code == 0
    assert (tmp_path / ".vscode" / "settings.json").exists()
    workspace.close()
