"""The toolset that a model was trained on."""

import pytest

from fsagent_tools import TOOLSETS, Workspace, select_tools, toolset_for
from fsagent_tools.errors import ConfigInvalid


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
    assert name in TOOLSETS


def test_a_model_is_known_by_the_objects_of_frameworks():
    anthropic = pytest.importorskip("langchain_anthropic").ChatAnthropic
    openai = pytest.importorskip("langchain_openai").ChatOpenAI
    assert toolset_for(anthropic(model="claude-of-tests", api_key="none")) == "anthropic"
    assert toolset_for(openai(model="gpt-5", api_key="none")) == "openai"


@pytest.mark.parametrize("model", [None, "", object()])
def test_a_model_without_a_name_is_refused_with_what_to_pass(model):
    with pytest.raises(ConfigInvalid, match=r"has no name\. Pass a name"):
        toolset_for(model)


def test_what_one_toolset_has_read_counts_for_another(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n" + "y = 1\n" * 200)
    workspace = Workspace(tmp_path)
    claude, other = (
        {tool.name: tool for tool in select_tools(workspace, name)}
        for name in ("anthropic", "compact")
    )
    edit = {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}
    assert other["Edit"].call(edit).code == "FILE_NOT_READ"
    assert claude["str_replace_based_edit_tool"].call({"command": "view", "path": "a.py"}).ok
    assert other["Edit"].call(edit).ok
