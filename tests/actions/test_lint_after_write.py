import sys
from pathlib import Path

import pytest

from fsagent_tools.lsp import beside
from tests.conftest import PATIENCE


def test_without_asking_nothing_is_checked(session):
    out = session.write("def f(:\n", path="a.py")
    assert out.ok
    assert "lint" not in out.to_dict()


def test_a_report_tells_the_model_and_the_host(sessions):
    out = sessions(lint="report", servers={"python": ()}).write("def f(:\n", path="a.py")
    assert out.ok
    assert "lint: 1 error: 1:7" in out.text
    assert out.to_dict()["lint"][0]["line"] == 1


def test_a_clean_write_has_an_empty_report_and_no_line(sessions):
    out = sessions(lint="report").write("x = 1\n", path="a.py")
    assert out.to_dict()["lint"] == []
    assert "lint" not in out.text


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


def test_installed_servers_are_asked_without_being_set(sessions, monkeypatch):
    if not Path(sys.executable).with_name("ruff").exists():
        pytest.skip("ruff is not installed")
    for name in ("LINT_TIMEOUT", "LINT_START"):
        monkeypatch.setattr(beside, name, PATIENCE)
    assert "F401" in sessions(lint="report").write("import os\n", path="a.py").text
