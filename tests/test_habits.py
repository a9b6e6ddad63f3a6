"""What models send out of habit is taken where it can only mean one thing."""

import json

import pytest

from fsagent_tools.actions.edit_lines import ChangeParam
from fsagent_tools.toolkit.coercion import FLAT


@pytest.fixture
def file(root):
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    return root / "a.txt"


def test_one_change_may_stand_beside_the_path(session, file):
    first, _, third = session.ids()
    edit = session.tools["edit_lines"]
    out = edit.call({"file_path": "a.txt", "line_id": first, "new_content": "ONE"})
    assert out.ok, out.text
    sent = {"filePath": "a.txt", "afterLineId": third, "newContent": "four"}
    assert edit.call(sent).ok
    assert file.read_text() == "ONE\ntwo\nthree\nfour\n"
    refused = edit.call({"file_path": "a.txt", "line_id": third})
    assert "this change has line_id, no new_content" in refused.text


def test_a_change_is_not_mixed_with_a_list_of_changes(session, file):
    first, *_ = session.ids()
    sent = {"file_path": "a.txt", "changes": [], "line_id": first, "new_content": "x"}
    out = session.tools["edit_lines"].call(sent)
    assert out.text.startswith("Error: Unknown arguments 'line_id', 'new_content'.")


@pytest.mark.parametrize(
    "shape",
    [
        lambda change: change,
        lambda change: [[change]],
        lambda change: [json.dumps(change)],
        lambda change: json.dumps([change]),
        lambda change: json.dumps(change),
        lambda change: [{"lineId": change["line_id"], "newContent": "TWO"}],
        lambda change: [{"lid": change["line_id"], "content": "TWO"}],
        lambda change: [{"start_id": change["line_id"], "endId": change["line_id"], "text": "TWO"}],
        lambda change: [{**change, "reason": "as asked"}],
    ],
)
def test_a_list_of_changes_may_come_in_other_forms(shape, session, file):
    change = {"line_id": session.ids()[1], "new_content": "TWO"}
    out = session.tools["edit_lines"].call({"file_path": "a.txt", "changes": shape(change)})
    assert out.ok, out.text
    assert file.read_text() == "one\nTWO\nthree\n"


@pytest.mark.parametrize(
    "wrong",
    [
        {"anchor": "", "new_content": "x"},  # replaced, or beside it?
        {"line_id": "", "old_content": "two", "new_content": "x"},
        {"line_id": "", "new_content": "x", "content": "y"},
        {"line_id": "", "reason": 5, "new_content": "x"},
    ],
)
def test_a_change_that_may_mean_two_things_is_refused(wrong, session, file):
    change = {k: v or session.ids()[1] for k, v in wrong.items()}
    out = session.tools["edit_lines"].call({"file_path": "a.txt", "changes": [change]})
    assert out.code == "VALIDATION_ERROR"
    assert file.read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    "form",
    [
        "{}", " {} ", "[LID:{}] two", "LID: {}", "+[LID:{}] two", "{}:", "{}: two", "{}|two",
        "{}\ttwo", "`{}`", '"{}"', "[{}]",
    ],
)  # fmt: skip
def test_an_id_may_come_with_what_stands_around_it(form, session, file):
    change = {"line_id": form.format(session.ids()[1]), "new_content": "TWO"}
    assert session.edit(change).ok
    assert file.read_text() == "one\nTWO\nthree\n"


@pytest.mark.parametrize("name", ["input", "arguments", "params"])
def test_all_arguments_may_stand_in_one_object(name, session, file):
    assert session.tools["read"].call({name: {"filePath": "a.txt", "reason": "to see"}}).ok
    out = session.tools["read"].call({name: {"file_path": "a.txt"}, "offset": 1})
    assert out.text.startswith(f"Error: Unknown argument {name!r}.")


def test_the_keys_of_a_change_are_all_known():
    whose_file = {"file_path"}  # beside the arguments it is that of the call
    assert {*FLAT["changes"]} | whose_file == {*ChangeParam.model_fields}


def test_words_about_a_command_are_passed_over(session):
    sent = {"command": "echo hi", "description": "Say hi"}
    assert session.tools["bash"].call(sent).text.strip() == "hi"
    out = session.tools["ls"].call({"description": "Look"})
    assert out.text.startswith("Error: Unknown argument 'description'.")


@pytest.mark.parametrize("name", ["filePath", "FilePath", "FILE_PATH", "path"])
def test_the_spelling_of_another_language_is_taken(name, session, file):
    assert session.tools["read"].call({name: "a.txt"}).ok


@pytest.mark.parametrize("other", ["file_path", "FilePath", "path"])
def test_two_spellings_of_one_argument_are_refused(other, session, file):
    out = session.tools["read"].call({"filePath": "a.txt", other: "b.txt"})
    assert out.code == "VALIDATION_ERROR"


@pytest.mark.parametrize("tool", ["bash", "webfetch", "jobs"])
@pytest.mark.parametrize("sent", [60000, "60000"])
def test_a_timeout_in_milliseconds_is_refused_with_the_seconds(tool, sent, session):
    needed = {"bash": {"command": "true"}, "webfetch": {"url": "http://127.0.0.1:9"}}
    out = session.tools[tool].call({**needed.get(tool, {}), "timeout": sent})
    assert out.code == "VALIDATION_ERROR"
    assert out.text.endswith("(got 60000); if these are milliseconds, send 60.")


def test_the_value_of_a_json_file_is_written_as_text(session, root):
    for value in ({"name": "Zoë", "list": [1, 2]}, [1, {"a": None}]):
        assert session.write(value, path="a.JSON").ok
        text = (root / "a.JSON").read_text()
        assert json.loads(text) == value
        assert text.endswith(("}\n", "]\n"))


def test_of_other_files_the_text_is_asked_for(session, root):
    out = session.write({"a": 1}, path="a.py")
    assert out.text == "Error: content: send the whole file as text."
    assert not (root / "a.py").exists()


@pytest.mark.parametrize("path", ["`a.txt`", "'a.txt'", '"a.txt"'])
def test_a_path_may_be_quoted_as_in_prose(session, file, path):
    assert session.tools["read"].call({"file_path": path}).data["path"] == "a.txt"
    assert session.tools["write"].call({"file_path": path, "content": "new\n"}).ok
    assert file.read_text() == "new\n"


def test_a_name_with_quotes_of_its_own_can_be_reached(session, root):
    (root / "'a'").write_text("quoted\n")
    assert "quoted" in session.tools["read"].call({"file_path": "./'a'"}).text
    said = session.tools["read"].call({"file_path": "`"})
    assert said.code == "FILE_NOT_FOUND"
    out = session.tools["write"].call({"file_path": "b.txt", "content": "'kept'"})
    assert out.ok
    assert (root / "b.txt").read_text() == "'kept'"
