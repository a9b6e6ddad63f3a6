"""What an integrator chooses when tools are made; a wrong name lists the right ones."""

import re
from inspect import signature

import pytest

import fsagent_tools_llamaindex
from fsagent_tools import (
    TOOLSETS,
    EventLog,
    MemoryFiles,
    Policy,
    Toolset,
    Workspace,
    Workspaces,
    select_tools,
    toolset,
)
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools_langchain import get_tools


def names(tools):
    return [tool.name for tool in tools]


def only(tools, name):
    return next(tool for tool in tools if tool.name == name)


def test_a_toolset_is_given_by_name_or_as_an_object(tmp_path):
    mine = Toolset("mine", toolset("workspace").entries[:1])
    assert names(select_tools(tmp_path, mine)) == ["read"]
    assert names(select_tools(Workspace(tmp_path), "line_ids"))[:2] == ["read", "write"]


def test_tools_are_kept_dropped_and_renamed_in_the_toolset_s_order(tmp_path):
    tools = select_tools(
        tmp_path, only=["edit_lines", "read", "write"], without=["write"], renamed={"read": "view"}
    )
    assert names(tools) == ["view", "edit_lines"]


def test_a_default_holds_unless_the_model_says_otherwise(tmp_path):
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    read = only(select_tools(tmp_path, defaults={"read": {"limit": 2, "marks": "none"}}), "read")
    assert read.call({"file_path": "a.txt"}).data["content"] == "1\n2\n"
    assert read.call({"file_path": "a.txt", "limit": 1}).data["content"] == "1\n"
    assert "(default 2)" in read.schema["properties"]["limit"]["description"]


def test_a_required_parameter_with_a_default_is_no_longer_required(tmp_path):
    (tmp_path / "a.txt").write_text("1\n")
    read = only(select_tools(tmp_path, defaults={"read": {"file_path": "a.txt"}}), "read")
    assert "required" not in read.schema
    assert read.call({}).ok


def test_a_shown_parameter_is_one_that_the_model_can_set(tmp_path):
    (tmp_path / "a.txt").write_text("1\n")
    (read,) = select_tools(tmp_path, only=["read"], show={"read": ["marks"]})
    assert read.schema["properties"]["marks"]["enum"] == ["ids", "numbers", "none"]
    assert read.call({"file_path": "a.txt", "marks": "none"}).text == "1\n"


def test_a_policy_goes_with_a_path(tmp_path):
    write = only(select_tools(tmp_path, policy=Policy(denied_paths=["a"])), "write")
    assert write.call({"file_path": "a", "content": ""}).code == "PATH_DENIED"


def test_making_tools_touches_no_disk(tmp_path):
    assert select_tools(tmp_path)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["absent", "a.txt"])
def test_a_path_that_is_no_directory_is_refused_at_construction(name, tmp_path):
    (tmp_path / "a.txt").write_text("1\n")
    with pytest.raises(ConfigInvalid, match=f"There is no directory '.*{name}'"):
        select_tools(tmp_path / name)


def test_a_tilde_is_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.txt").write_text("1\n")
    assert Workspace("~").root == Workspace.from_config("~").root == tmp_path
    assert "a.txt" in only(select_tools("~"), "ls").call({}).text


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"policy": {"readonly": True}}, "policy is a Policy, not {'readonly': True}"),
        ({"approve": True}, "approve is a function that gets each Request, not True"),
        ({"log": "a.jsonl"}, "log is an EventLog, not 'a.jsonl': EventLog('agent.jsonl')"),
        ({"history": "no"}, "history is of type bool, not 'no'"),
        ({"servers": "ty"}, "servers is of type Mapping | None, not 'ty'"),
        ({"cache_dir": 5}, "cache_dir is of type str | PathLike | None, not 5"),
        ({"approve_effects": ["write"]}, "approve_effects is of type Effect, not 'write'"),
        ({"approve_effects": None}, "approve_effects is of type Iterable, not None"),
        ({"staleness": "never"}, "staleness is one of lines, file, not 'never'"),
        ({"lint": "loud"}, "lint is one of off, report, reject"),
        ({"line_ids": "word"}, "line_ids is one of tag, words, not 'word'"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_where_it_is_given(options, told, tmp_path):
    with pytest.raises(ConfigInvalid) as refused:
        Workspace(tmp_path, **options)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: EventLog(5), "sink is of type str | PathLike | Callable, not 5"),
        (lambda: Workspaces("users"), "choose is of type Callable, not 'users'"),
        (lambda: MemoryFiles(["a.py"]), "contents is of type Mapping | None, not ['a.py']"),
        (lambda: MemoryFiles({"a.py": 5}), "a.py is of type str | bytes, not 5"),
        (lambda: select_tools(5), "workspace is of type str | PathLike, not 5"),
    ],
)
def test_what_stands_beside_a_workspace_checks_its_types(make, told):
    with pytest.raises(ConfigInvalid, match=re.escape(told)):
        make()


def test_tools_are_bound_to_a_workspace_alone():
    with pytest.raises(ConfigInvalid, match=r"bound to a Workspace: Workspace\('\.'\)"):
        toolset("workspace").bind(".")


WRONG = {
    "no such toolset": ({"toolset": "nope"}, "There is no toolset 'nope'. There are: lines"),
    "no such option": (
        {"shown": {}},
        "There is no option 'shown'. There are: toolset, only, without",
    ),
    "an option of others": ({"exclude": []}, "There is no option 'exclude'. Use without=[...]."),
    "an option of a workspace": (
        {"approve": print},
        "Use Workspace(path, approve=...) in place of",
    ),
    "no such tool kept": ({"only": ["Read"]}, "has no tool 'Read'. It has: read, write"),
    "no such tool dropped": ({"without": ["bsh"]}, "has no tool 'bsh'. It has: read, write"),
    "no such tool renamed": ({"renamed": {"x": "y"}}, "has no tool 'x'. It has: read, write"),
    "a dropped tool renamed": (
        {"only": ["read"], "renamed": {"write": "y"}},
        "has no tool 'write'. It has: read.",
    ),
    "no such parameter shown": (
        {"show": {"read": ["markers"]}},
        "'read' has no parameter 'markers'. It has: file_path, offset",
    ),
    "no such parameter set": (
        {"defaults": {"read": {"lmit": 1}}},
        "'read' has no parameter 'lmit'. It has: file_path, offset",
    ),
    "a default out of range": ({"defaults": {"read": {"limit": 0}}}, "read: limit: "),
    "one name for two tools": ({"renamed": {"read": "write"}}, "would have one name"),
    "a name no provider takes": (
        {"renamed": {"read": "re ad"}},
        "'re ad' is not a valid tool name",
    ),
    "a string for a list": ({"only": "read"}, "only is a list of names, not the string 'read'"),
    "a string in show": ({"show": {"read": "marks"}}, "is a list of names, not the string 'marks'"),
    "a list for a mapping": ({"show": ["read"]}, "show maps a tool's name"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_choice_is_refused_at_construction(case, tmp_path):
    options, told = WRONG[case]
    with pytest.raises(ConfigInvalid) as refused:
        select_tools(tmp_path, **options)
    assert told in str(refused.value)


PINNED = [
    (name, entry.shown_name, field, value)
    for name, known in TOOLSETS.items()
    for entry in known.entries
    for field, value in entry.pin.items()
]


@pytest.mark.parametrize(("name", "tool", "field", "value"), PINNED)
def test_what_a_toolset_pins_is_refused_and_never_offered(name, tool, field, value, tmp_path):
    for option in ({"defaults": {tool: {field: value}}}, {"show": {tool: [field]}}):
        for choose in (select_tools, get_tools, fsagent_tools_llamaindex.get_tools):
            with pytest.raises(ConfigInvalid, match=f"{field} of {tool!r} cannot be changed"):
                choose(tmp_path, name, **option)
    with pytest.raises(ConfigInvalid, match=r"has no parameter 'nope'\. It has: ") as refused:
        toolset(name).with_defaults({tool: {"nope": 1}})
    assert field not in str(refused.value).split(": ")[-1].rstrip(".").split(", ")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("root_dir", "the first argument"),
        ("denied_paths", "policy=Policy(denied_paths=...)"),
        ("readonly", "policy=Policy(readonly=True)"),
        ("encodings", "Workspace(path, encodings=...) in place of the path"),
        ("approval", "interrupt_on(tools)"),
    ],
)
def test_an_option_of_another_place_is_sent_there(name, place, tmp_path):
    for choose in (select_tools, get_tools, fsagent_tools_llamaindex.get_tools):
        with pytest.raises(ConfigInvalid) as refused:
            choose(tmp_path, **{name: 1})
        assert place in str(refused.value)


@pytest.mark.parametrize("choose", [select_tools, get_tools, fsagent_tools_llamaindex.get_tools])
def test_the_signature_names_every_option(choose):
    shown = [*signature(choose).parameters]
    assert {"workspace", "toolset", "only", "strict", "label"} <= {*shown}
    assert "options" not in shown


def test_a_policy_beside_a_workspace_is_refused(tmp_path):
    with pytest.raises(ConfigInvalid, match="policy is given twice"):
        select_tools(Workspace(tmp_path), policy=Policy())
