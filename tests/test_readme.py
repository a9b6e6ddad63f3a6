"""Every Python block of the documents runs, in a fresh copy of the demo project."""

import ast
import asyncio
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fsagent_tools.options import select_tools
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
DOCUMENTS = ("README.md", "CONTRIBUTING.md", *PAGES)
TOOLS = ROOT / "docs/reference/tools.md"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
NOT_PYTHON = {"bash", "console", "text", "json", "toml", "diff"}
TURNS = (call("read", file_path="README.md"), "It is a small shop.")


def blocks(name):
    for match in FENCE.finditer((ROOT / name).read_text()):
        line = match.string[: match.start()].count("\n") + 2
        yield pytest.param(match[1], match[2], line, id=f"{name}:{line}")


@pytest.fixture
def url(shop):
    """Of a server of tools, whose token is `...`."""
    command = [sys.executable, "-m", "fsagent_tools.cli", "serve", "--http", "0"]
    token = {"FSAGENT_SERVE_TOKEN": "..."}
    served = subprocess.Popen(
        command, cwd=shop, env={**os.environ, **token}, stderr=subprocess.PIPE, text=True
    )
    yield re.search(r"http://\S+", served.stderr.readline())[0]
    served.kill()
    served.communicate()


def run_on_a_cluster(code):
    """In a process of its own, since one process has one connection to Ray."""
    pytest.importorskip("ray", reason="needs ray")
    command = [sys.executable, ROOT / "tests/cluster.py"]
    done = subprocess.run(command, input=code, text=True, check=False)
    assert done.returncode == 0


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")  # LlamaIndex's
@pytest.mark.parametrize(
    ("language", "code", "line"), [block for name in DOCUMENTS for block in blocks(name)]
)
def test_a_block_runs(language, code, line, shop, monkeypatch, request):
    """`model`, `llm` and `url` stand for the reader's own: here the models are scripted, and the
    server is one of the demo project. Questions get a yes.
    """
    if language in NOT_PYTHON:
        return
    assert language == "python", "a block names its language"
    monkeypatch.chdir(shop)
    monkeypatch.setattr("builtins.input", lambda _: "y")
    names = {"model": ScriptedChatModel(TURNS), "llm": ScriptedLLM(TURNS)}
    if "(url" in code:
        names["url"] = request.getfixturevalue("url")
    if "ray.init()" in code:
        run_on_a_cluster(code)
        return
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    compiled = compile("\n" * (line - 1) + code, "README.md", "exec", flags=flags)
    result = eval(compiled, names)
    if inspect.iscoroutine(result):
        asyncio.run(result)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_link_leads_somewhere(name):
    text = FENCE.sub("", (ROOT / name).read_text())
    missing = [to for to in LINK.findall(text) if not (ROOT / name).parent.joinpath(to).exists()]
    assert not missing


def test_the_picture_shows_what_the_tools_say():
    command = [sys.executable, ROOT / "scripts/picture.py", "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def row(tool):
    needed = tool.schema.get("required", ())
    seen = [name if name in needed else f"[{name}]" for name in tool.schema["properties"]]
    action, own = tool.entry.action, {*tool.entry.rename.values(), *tool.entry.pin}
    hidden = [n for n in action.params.knobs if n not in tool.visible and n not in own]
    return f"| `{tool.name}` | {tool.effect.value} | {', '.join(seen)} | {', '.join(hidden)} |\n"


def test_the_table_of_tools_is_the_toolset(request):
    text, rows = TOOLS.read_text(), "".join(row(tool) for tool in select_tools("."))
    table = re.compile(r"(?:^\| `\w+` \| (?:read|write|delete|execute|network) \|.*\n)+", re.M)
    if request.config.getoption("--update-golden"):
        TOOLS.write_text(text := table.sub(lambda _: rows, text))
    assert table.findall(text) == [rows], "made from the toolset: --update-golden"


@pytest.mark.slow
def test_every_block_type_checks():
    done = subprocess.run([sys.executable, ROOT / "scripts/snippets.py"], check=False)
    assert done.returncode == 0
