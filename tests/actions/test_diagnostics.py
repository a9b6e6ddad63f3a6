"""The tool `lsp`, from the arguments to the text, with servers written for the purpose."""

import sys
from pathlib import Path

import pytest

from fsagent_tools import Policy, Toolset, Workspace
from fsagent_tools.actions.diagnostics import MAX_PROBLEMS
from fsagent_tools.types import Entry, Shape
from tests.conftest import DEADLINES

SERVER = Path(__file__).with_name("line_server.py")
SHAPE = Shape.flat("output", "diagnostics")
LSP = Toolset("t", (Entry("diagnostics", name="lsp", rename={"file_path": "path"}, result=SHAPE),))


@pytest.fixture
def project(tmp_path):
    """A function: options -> the tool, with a server that repeats what the file tells it to."""
    made = []

    def make(*arguments, **options):
        command = (sys.executable, str(SERVER), *arguments)
        made.append(Workspace(tmp_path, **{"servers": {"go": command}, **options}))
        return LSP.bind(made[-1])["lsp"]

    yield make
    for workspace in made:
        workspace.close()


def test_problems_come_errors_first_each_line_with_its_id(project, tmp_path):
    (tmp_path / "a.go").write_text("ok\n  warning: unused\nerror: broken\nerror: worse\n")
    out = project().call({"file_path": "a.go"})
    first, line, *_ = out.text.splitlines()
    assert first == "a.go:3:1: error: broken [fake E1]"
    assert line.startswith("[LID:")
    assert line.endswith("] error: broken")
    assert [d["line"] for d in out.to_dict()["diagnostics"]] == [3, 4, 2]
    assert out.to_dict()["diagnostics"][0] == {
        "line": 3,
        "column": 1,
        "severity": "error",
        "message": "broken",
        "source": "fake",
        "code": "E1",
        "end": {"line": 3, "column": 14},
    }
    assert list(out.to_dict())[:3] == ["success", "output", "diagnostics"]


def test_a_line_too_long_to_show_leaves_only_the_problem(project, tmp_path):
    (tmp_path / "a.go").write_text(f"{'x' * 300} error: broken\n")
    out = project().call({"file_path": "a.go"})
    assert out.text == "a.go:1:302: error: broken [fake E1]"


def test_hints_are_left_out_unless_asked_for(project, tmp_path):
    (tmp_path / "a.go").write_text("hint: unused\n")
    tool = project()
    assert "No problems in a.go" in tool.call({"file_path": "a.go"}).text
    assert "a.go:1:1: hint: unused" in tool.call({"file_path": "a.go"}, severity="hint").text


def test_one_server_may_be_asked_alone(project, tmp_path):
    (tmp_path / "a.go").write_text("error: broken\n")
    tool = project()
    assert "'nosuch' does not check go" in tool.call({"file_path": "a.go"}, server="nosuch").text


def test_many_problems_are_capped_and_counted(project, tmp_path):
    (tmp_path / "a.go").write_text("error: x\n" * (MAX_PROBLEMS + 7))
    out = project().call({"file_path": "a.go"})
    assert len(out.data["diagnostics"]) == MAX_PROBLEMS
    assert out.data["count"] == MAX_PROBLEMS + 7
    assert out.text.endswith(f"(7 more, {MAX_PROBLEMS + 7} in all)")


def test_silence_is_not_called_success(project, tmp_path):
    (tmp_path / "a.go").write_text("ok\n")
    tool = project("mute")
    for seconds in DEADLINES:  # a server that has not even started is no silent one
        out = tool.call({"file_path": "a.go"}, timeout=seconds)
        if "did not start" not in out.text:
            break
    assert out.text.startswith("Not checked: a.go by ")
    assert "did not answer in time" in out.text
    assert out.data["servers"] == []
    assert "No problems" not in out.text


def test_line_endings_and_encodings_leave_lines_and_columns_right(project, tmp_path):
    (tmp_path / "a.go").write_bytes("\ufeffé𝄞\r\né𝄞 error: broken\r\n".encode("utf-16"))
    out = project().call({"file_path": "a.go"})
    assert out.text.splitlines()[0] == "a.go:2:4: error: broken [fake E1]"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "a.rs",
            "No language server for rust is installed. Install rust-analyzer (rustup component",
        ),
        ("a.xyz", "No language server is known for .xyz. Languages: python, "),
        ("gone.go", "gone.go does not exist"),
        ("../out.go", "outside"),
    ],
)
def test_what_cannot_be_checked_says_what_to_do(project, tmp_path, monkeypatch, name, words):
    monkeypatch.setenv("PATH", "/nowhere")
    for file in ("a.rs", "a.xyz"):
        (tmp_path / file).write_text("x\n")
    out = project().call({"file_path": name})
    assert not out.ok
    assert words in out.text


def test_a_large_file_is_refused_before_it_is_read(project, tmp_path):
    with (tmp_path / "a.go").open("wb") as file:
        file.truncate(400 << 20)
    out = project().call({"file_path": "a.go"})
    assert (out.code, "419,430,400 bytes" in out.text) == ("FILE_TOO_LARGE", True)


def test_without_a_server_the_syntax_is_checked_and_the_answer_says_so(project, tmp_path):
    tool = project(servers={"json": ()})
    for text, told in (("{}", "no errors"), ("{", "a.json:1:2: error")):
        (tmp_path / "a.json").write_text(text)
        answer = tool.call({"file_path": "a.json"}).text
        assert answer.startswith("Not checked: a.json: The `servers` setting turns json off.")
        assert told in answer
        assert "Only its syntax was checked, by a parser" in answer


def test_a_policy_can_forbid_it(project, tmp_path):
    (tmp_path / "a.go").write_text("x\n")
    tool = project(policy=Policy(allowed_actions=("read",)))
    assert tool.call({"file_path": "a.go"}).code == "ACTION_NOT_ALLOWED"
