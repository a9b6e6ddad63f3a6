"""What `lint=` says of a write, who looked, and what it refuses."""

import sys
from pathlib import Path

import pytest

from fsagent_tools import Workspace, toolset
from tests.conftest import eventually

BIN = Path(sys.executable).parent
with_servers = pytest.mark.skipif(
    not ((BIN / "ruff").exists() and (BIN / "ty").exists()), reason="ty or ruff is not installed"
)


def test_without_asking_nothing_is_checked(session):
    out = session.write("def f(:\n", path="a.py")
    assert out.ok
    assert "lint" not in out.to_dict()


def test_a_report_tells_the_model_and_the_host(sessions):
    out = sessions(lint="report", servers={"python": ()}).write("def f(:\n", path="a.py")
    assert out.ok
    assert "lint: 1 error: 1:7" in out.text
    assert out.to_dict()["lint"][0]["line"] == 1


def test_a_clean_write_has_an_empty_report_and_says_who_looked(sessions):
    out = sessions(lint="report", servers={"python": ()}).write("x = 1\n", path="a.py")
    assert out.to_dict()["lint"] == []
    assert out.text.endswith("lint: no new problems (syntax only)")
    assert "lint" not in sessions(lint="report").write("x", path="a.md").text
    told = sessions(lint="report").write("x", path="a.xyz").text
    assert told.endswith("lint: not checked: there is no parser for .xyz files")


TYPESCRIPT = [
    "const x = ;", "function f( {", "class A { m( { } }", "f();\n}\n", "let = = 1;", "if (a {}",
    "const a = [1, 2;", "import { a from 'b';",
]  # fmt: skip


@pytest.mark.parametrize("text", TYPESCRIPT)
def test_typescript_that_the_grammar_cannot_parse_is_a_doubtful_finding(sessions, text):
    session = sessions(lint="reject", servers={"typescript": ()})
    out = session.write(text, path="a.ts")
    assert out.ok
    assert out.to_dict()["lint"]
    assert "by a grammar that may be older than the text" in out.text


@with_servers
def test_a_write_before_the_servers_have_answered_says_so(tmp_path):
    for number in range(6):
        (tmp_path / str(number)).mkdir()
        with_ = toolset("compact").bind(Workspace(tmp_path / str(number), lint="report"))
        text = "import os\nx = undefined_name\n"
        out = with_["Write"].call({"file_path": "f.py", "content": text})
        assert out.to_dict()["metadata"]["lint"] or "syntax only: no answer from ty" in out.text


def test_only_what_the_edit_introduced_is_told(sessions, root):
    (root / "a.json").write_text('{"a": 1,}\n{"b":\n')
    session = sessions(lint="report")
    _, second = session.ids("a.json")
    out = session.edit({"line_id": second, "new_content": "[]"}, path="a.json")
    assert out.ok
    assert out.to_dict()["lint"] == []


def test_reject_leaves_the_file_as_it_was(sessions, root):
    (root / "a.json").write_text('{"a": 1}\n')
    session = sessions(lint="reject")
    (line_id,) = session.ids("a.json")
    out = session.edit({"line_id": line_id, "new_content": '{"a": 1'}, path="a.json")
    assert out.code == "LINT_REJECTED"
    assert "1:" in out.text
    assert out.to_dict()["lint"][0]["severity"] == "error"
    assert (root / "a.json").read_text() == '{"a": 1}\n'
    assert session.edit({"line_id": line_id, "new_content": '{"a": 2}'}, path="a.json").ok


def test_a_new_file_with_a_syntax_error_is_rejected_too(session, root):
    out = session.write("[1,", path="new.json", lint="reject")
    assert out.code == "LINT_REJECTED"
    assert not (root / "new.json").exists()


def test_one_call_may_ask_for_a_check(session):
    assert "lint: 1 error" in session.write("a: [1\n", path="a.yaml", lint="report").text


@with_servers
def test_a_warm_server_says_what_the_change_made_wrong(sessions):
    session = sessions(lint="report")

    def written():
        session.write("x = 1\n", path="a.py")
        return session.write("import os\n\nx = 1\n", path="a.py").text

    assert eventually(lambda: "F401" in written())
    assert eventually(lambda: written().endswith("[Ruff F401] (syntax, ty, ruff)"))
