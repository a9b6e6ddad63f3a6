"""The toolset that a model was trained on."""

import logging

import pytest

from fsagent_tools import TOOLSETS, Workspace, select_tools, toolset_for
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.toolsets.families import FAMILIES
from fsagent_tools_langchain import FsAgentMiddleware, get_tools
from fsagent_tools_llamaindex import get_tools as llamaindex_tools


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-opus-5", "anthropic"),
        ("anthropic:claude-sonnet-5", "anthropic"),
        ("us.anthropic.claude-haiku-5-v1:0", "anthropic"),
        ("openrouter/anthropic/Claude-Opus-5", "anthropic"),
        ("gpt-5.5", "openai"),
        ("openai:gpt-5-mini", "openai"),
        ("azure/gpt-4.1", "openai"),
        ("gpt-oss-120b", "openai"),
        ("o3-mini", "openai"),
        ("openai:o4-mini", "openai"),
        ("codex-mini-latest", "openai"),
        ("gpt-4o", "lines"),
        ("gemini-3-pro", "lines"),
        ("qwen3-coder", "lines"),
        ("solo3", "lines"),
    ],
)
def test_a_model_is_known_by_its_name(model, name):
    assert toolset_for(model) == name


def test_the_table_names_toolsets_that_exist():
    assert {*FAMILIES.values()} <= {*TOOLSETS}


def test_a_table_of_the_host_goes_first_and_the_choice_is_logged(caplog):
    with caplog.at_level(logging.INFO, "fsagent_tools"):
        assert toolset_for("gpt-5", {"GPT-5*": "compact"}) == "compact"
    assert "toolset compact for the model gpt-5" in caplog.text


def names(tools):
    return [getattr(tool, "name", None) or tool.metadata.name for tool in tools]


def test_adapters_choose_by_the_models_own_objects(shop):
    anthropic = pytest.importorskip("langchain_anthropic").ChatAnthropic
    openai = pytest.importorskip("langchain_openai").ChatOpenAI
    claude = anthropic(model="claude-of-tests", api_key="none")
    gpt = openai(model="gpt-5", api_key="none")
    assert "memory" in names(get_tools(shop, "auto", model=claude))
    assert "apply_patch" in names(get_tools(shop, "auto", model=gpt))
    assert "apply_patch" in names(FsAgentMiddleware(shop, "auto", model=gpt).tools)
    assert "memory" in names(llamaindex_tools(shop, "auto", model="claude-of-tests"))
    one = names(get_tools(shop, "auto", model="gpt-5", families={"*": "compact"}))
    assert one == names(get_tools(shop, "compact"))


@pytest.mark.parametrize("model", [None, "", object()])
def test_auto_without_a_name_says_what_it_needs(model, shop):
    with pytest.raises(ConfigInvalid, match="needs the model"):
        select_tools(shop, "auto", model=model)


def test_what_one_dialect_has_read_counts_for_another(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n" + "y = 1\n" * 200)
    workspace = Workspace(tmp_path)
    claude, other = (
        {tool.name: tool for tool in select_tools(workspace, "auto", model=model, families=own)}
        for model, own in (("claude-of-tests", {}), ("other", {"other": "compact"}))
    )
    edit = {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}
    assert other["Edit"].call(edit).code == "FILE_NOT_READ"
    assert claude["str_replace_based_edit_tool"].call({"command": "view", "path": "a.py"}).ok
    assert other["Edit"].call(edit).ok
