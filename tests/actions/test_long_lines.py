"""A hit or a change in a long line is shown where it is, and `read` reaches any column."""

import pytest

from fsagent_tools import Workspace, toolset

ONE = '{"x":"' + "ÿ" * 5000 + '","target":"NEEDLE=42"}\n'


@pytest.mark.parametrize("name", ["workspace", "compact", "lines", "filesystem"])
def test_a_hit_in_a_long_line_is_shown_with_what_is_around_it(tmp_path, name):
    (tmp_path / "one.json").write_text(ONE)
    (tmp_path / "deep.json").write_text("é" * 100_000 + ONE + "next\n")
    tools = toolset(name).bind(Workspace(tmp_path))
    grep = next(tool for tool in tools.values() if tool.name.lower() == "grep")
    shown = grep.call({"pattern": "NEEDLE=42"}).text
    assert shown.count("[column 5,019] …") == 1
    assert shown.count("[column 105,019] …") == 1
    assert shown.count('","target":"NEEDLE=42"}') == 2
    assert len(shown) < 700


def test_the_engine_without_ripgrep_tells_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("fsagent_tools.search.ripgrep.find_ripgrep", lambda _: None)
    (tmp_path / "one.json").write_text(ONE)
    shown = toolset("workspace").bind(Workspace(tmp_path))["grep"].call({"pattern": "NEEDLE=42"})
    assert "[column 5,019] …" in shown.text
    assert "NEEDLE=42" in shown.text


def test_read_reaches_any_column_of_a_line(tmp_path):
    (tmp_path / "b.json").write_text("first\n" + "é" * 30_000 + "NEEDLE=42" + "x" * 60_000 + "\n")
    read = toolset("workspace").bind(Workspace(tmp_path))["read"].call
    shown = read({"file_path": "b.json:2:30001"})
    assert shown.text.startswith("NEEDLE=42")
    assert "(line 2, columns 30,001-" in shown.text
    further = shown.text.split("continue with file_path=")[1].rstrip(")")
    assert read({"file_path": further}).text.startswith("xxx")
    whole = read({"file_path": "b.json", "offset": 2, "limit": 1}).text
    assert "continue with file_path=b.json:2:" in whole
    assert "column=99999 is past the end" in read({"file_path": "b.json:1:99999"}).text


def test_read_reaches_any_column_of_a_line_that_no_answer_holds(tmp_path):
    (tmp_path / "b.json").write_text("[" + "1234567," * 2_400_000 + '"é NEEDLE=42"]\n')
    read = toolset("workspace").bind(Workspace(tmp_path))["read"].call
    assert "file_path=b.json:1:1" in read({"file_path": "b.json"}).text
    assert read({"file_path": "b.json:1:19200002"}).text.startswith('"é NEEDLE=42"]\n(line 1, ')


@pytest.mark.parametrize("name", ["compact", "filesystem"])
def test_an_edit_of_a_long_line_shows_what_changed(tmp_path, name):
    (tmp_path / "one.json").write_text(ONE)
    tools = toolset(name).bind(Workspace(tmp_path))
    read, edit = (tools.get(n) or tools[n.capitalize()] for n in ("read", "edit"))
    path = next(iter(edit.schema["properties"]))
    read.call({path: "one.json"})
    quote = {"old_string": "NEEDLE=42", "new_string": "NEEDLE=43"}
    shown = edit.call({path: "one.json", **quote}).text
    assert '","target":"NEEDLE=42"}\n+[column 5,027] …' in shown
    assert '","target":"NEEDLE=43"}' in shown
    assert len(shown) < 700


def test_an_edit_of_a_long_line_by_id_shows_what_changed(tmp_path):
    (tmp_path / "one.json").write_text(ONE)
    tools = toolset("lines").bind(Workspace(tmp_path))
    mark = tools["read"].call({"file_path": "one.json", "limit": 1}).text.split("\t")[0]
    change = {"line_id": f'{mark} {{"x":"ÿÿ', "new_content": ONE.replace("42", "43").strip()}
    shown = tools["edit_lines"].call({"file_path": "one.json", "changes": [change]}).text
    assert '","target":"NEEDLE=43"}' in shown
    assert len(shown) < 500
