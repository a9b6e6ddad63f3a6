"""What a server is told of changes on disk."""

import pytest

from fsagent_tools.lsp import watch
from tests.conftest import PATIENCE


@pytest.fixture
def told(fake, monkeypatch):
    """A function: name of a file to ask about -> the files that the server was told of, in turn."""
    monkeypatch.setattr(watch, "SHARE", float("inf"))  # looks before every question
    pool, file = fake("watches")

    def ask(name):
        path = file.with_name(name)
        (problem,) = pool.check(path, path.read_text(), PATIENCE).problems
        return problem.message

    return ask


def test_a_server_gets_an_edit_once_and_hears_of_it_when_another_file_is_asked_about(
    told, tmp_path
):
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}")
    assert told("a.json") == "nothing"
    (tmp_path / "a.json").write_text("{ }")
    assert told("a.json") == "nothing"  # it is sent the text itself
    (tmp_path / "b.json").write_text("[ ]")
    assert told("a.json") == "b.json"
    assert told("b.json") == "b.json a.json"
    assert told("a.json") == "b.json a.json"
