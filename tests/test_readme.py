"""Every Python block of the documents runs, in a fresh copy of the demo project."""

import ast
import asyncio
import inspect
import re
from pathlib import Path

import pytest

from fsagent_tools.options import select_tools
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md")
README = (ROOT / "README.md").read_text()
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_PYTHON = {"bash", "console", "text", "json", "toml", "diff"}
TURNS = (call("read", file_path="README.md"), "It is a small shop.")


def blocks(name):
    for match in FENCE.finditer((ROOT / name).read_text()):
        line = match.string[: match.start()].count("\n") + 2
        yield pytest.param(match[1], match[2], line, id=f"{name}:{line}")


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")  # LlamaIndex's
@pytest.mark.parametrize(
    ("language", "code", "line"), [block for name in DOCUMENTS for block in blocks(name)]
)
def test_a_block_runs(language, code, line, shop, monkeypatch):
    """`model` and `llm` stand for the reader's own: here they are scripted."""
    if language in NOT_PYTHON:
        return
    assert language == "python", "a block names its language"
    monkeypatch.chdir(shop)
    names = {"model": ScriptedChatModel(TURNS), "llm": ScriptedLLM(TURNS)}
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    compiled = compile("\n" * (line - 1) + code, "README.md", "exec", flags=flags)
    result = eval(compiled, names)
    if inspect.iscoroutine(result):
        asyncio.run(result)


def row(tool):
    needed = tool.schema.get("required", ())
    seen = [name if name in needed else f"[{name}]" for name in tool.schema["properties"]]
    action, own = tool.entry.action, {*tool.entry.rename.values(), *tool.entry.pin}
    hidden = [n for n in action.params.model_fields if n not in tool.visible and n not in own]
    return f"| `{tool.name}` | {tool.effect.value} | {', '.join(seen)} | {', '.join(hidden)} |"


def test_the_table_of_tools_is_the_toolset():
    shown = re.findall(r"^\| `\w+` \| (?:read|write|delete|execute|network) \|.*$", README, re.M)
    assert shown == [row(tool) for tool in select_tools(".")]
