"""Names whose letters are composed otherwise than the path that a model writes."""

import unicodedata

import pytest

from fsagent_tools import Policy, Workspace, toolset
from fsagent_tools.shell.closed import ClosedPaths

NAME = "ré sumé 한글.txt"
FORMS = {form: unicodedata.normalize(form, NAME) for form in ("NFC", "NFD")}


@pytest.fixture
def tools(root):
    return toolset("workspace").bind(Workspace(root))


@pytest.mark.parametrize(("stands", "said"), [("NFD", "NFC"), ("NFC", "NFD")])
@pytest.mark.parametrize("absolute", [False, True])
def test_a_name_is_found_however_its_letters_are_composed(tools, root, stands, said, absolute):
    folder = root / f"d {FORMS[stands]}"
    folder.mkdir()
    file = folder / FORMS[stands]
    file.write_text("alpha\n")
    path = f"d {FORMS[said]}/{FORMS[said]}"
    path = f"{root}/{path}" if absolute else path
    seen = tools["read"].call({"file_path": path})
    assert seen.ok, seen.text
    change = {"line_id": seen.text[5:11], "new_content": "beta"}
    assert tools["edit_lines"].call({"file_path": path, "changes": [change]}).ok
    assert tools["write"].call({"file_path": path, "content": "gamma\n"}).ok
    assert tools["write"].call({"file_path": f"d {FORMS[said]}/new", "content": ""}).ok
    assert file.read_text() == "gamma\n"
    assert sorted(p.name for p in folder.iterdir()) == ["new", FORMS[stands]]
    assert tools["grep"].call({"pattern": "gamma", "path": path}).data["count"] == 1


def test_a_name_that_is_there_is_meant_as_it_is(tools, root):
    for form, name in FORMS.items():
        (root / name).write_text(form)
    for form, name in FORMS.items():
        assert form in tools["read"].call({"file_path": name}).text
    (root / FORMS["NFC"]).unlink()
    assert tools["write"].call({"file_path": "other é", "content": ""}).ok
    assert (root / "other é").exists()


@pytest.mark.parametrize(("stands", "ruled"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_a_rule_of_the_policy_holds_however_a_name_is_composed(root, stands, ruled):
    (root / FORMS[stands]).write_text("secret\n")
    workspace = Workspace(root, policy=Policy(denied_paths=[FORMS[ruled]]))
    tools = toolset("workspace").bind(workspace)
    for name in FORMS.values():
        assert tools["read"].call({"file_path": name}).code == "PATH_DENIED"
    assert not tools["grep"].call({"pattern": "secret"}).data["count"]
    assert FORMS[stands] not in tools["ls"].call({}).text
    ran = tools["bash"].call({"command": "cat *.txt"})
    assert "secret" not in ran.text or "bubblewrap" not in ran.data["sandbox"]
    only = Workspace(root, policy=Policy(allowed_paths=[FORMS[ruled]]))
    assert only.read_text(FORMS[ruled]).text == "secret\n"
    workspace.close()


def test_what_a_link_or_two_dots_lead_to_is_not_looked_at(tools, root):
    outside = root.parent / FORMS["NFD"]
    outside.write_text("secret")
    for path in (f"../{FORMS['NFC']}", f"{root.parent}/{FORMS['NFC']}"):
        assert tools["read"].call({"file_path": path}).code == "PATH_OUTSIDE_WORKSPACE"


@pytest.mark.parametrize("stands", [["NFD"], ["NFC"], ["NFC", "NFD"]])
@pytest.mark.parametrize("ruled", ["NFC", "NFD"])
def test_a_place_outside_the_root_is_closed_to_programs_however_it_is_composed(
    root, tmp_path_factory, stands, ruled
):
    outside = tmp_path_factory.mktemp("outside")
    rule = f"{outside}/{FORMS[ruled]}/{FORMS[ruled]}"
    survey = ClosedPaths(str(root), Policy(denied_paths=[rule]))
    assert not any(str(outside) in path for path in survey.look().hidden)
    files = {outside / FORMS[folder] / FORMS[name] for folder in stands for name in stands}
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("secret")
    hidden = survey.look().hidden
    assert {path for path in hidden if str(outside) in path} == {*map(str, files)}


def test_a_move_to_the_same_letters_says_how_to_compose_them_otherwise(root):
    tools = toolset("filesystem").bind(Workspace(root))
    here, there = FORMS["NFC"], FORMS["NFD"]
    (root / here).write_text("")
    refused = tools["mv"].call({"source": here, "destination": there})
    assert not refused.ok
    assert "the same letters" in refused.text
    assert "another name first" in refused.text
    for source, destination in ((here, "between"), ("between", there)):
        assert tools["mv"].call({"source": source, "destination": destination}).ok
    assert {here, there} & {p.name for p in root.iterdir()} == {there}
