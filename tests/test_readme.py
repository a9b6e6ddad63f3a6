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

from fsagent_tools import TOOLSETS, Workspace, select_tools, toolset
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools.toolkit import tokens

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
DOCUMENTS = ("README.md", "CONTRIBUTING.md", *PAGES)
TOOLS = ROOT / "docs/reference/tools.md"
FENCE = re.compile(r'^```(\w*)( title="[^"\n]*")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
HEAD = "| tool | effect | the model sets | you set |\n|---|---|---|---|\n"
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
OURS = re.compile(
    r"\]\(https://github\.com/fsagent-tools/fsagent-tools/(?:blob|tree)/main/([^)#]+)"
)
NOT_PYTHON = {"bash", "console", "text", "json", "toml", "yaml", "diff"}
TURNS = (call("read", file_path="README.md"), "It is a small shop.")


def blocks(name):
    for match in FENCE.finditer((ROOT / name).read_text()):
        line = match.string[: match.start()].count("\n") + 2
        if not match[
            2
        ]:  # blocks with a title need other frameworks: tests/adapters/test_frameworks
            yield pytest.param(match[1], match[3], line, id=f"{name}:{line}")


@pytest.fixture
def url(shop):
    """Of a server of tools, whose token is `...`."""
    command = [sys.executable, "-m", "fsagent_tools.cli", "--root", ".", "serve", "--http", "0"]
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
def test_a_block_runs(language, code, line, shop, monkeypatch, typed, request):
    """`model`, `llm` and `url` stand for the reader's own: here the models are scripted, and the
    server is one of the demo project. Questions get a yes.
    """
    if language in NOT_PYTHON:
        return
    assert language == "python", "a block names its language"
    monkeypatch.chdir(shop)
    typed("y")
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
    targets = [(ROOT / name).parent.joinpath(to).resolve() for to in LINK.findall(text)]
    ours = [ROOT / to for to in OURS.findall(text)]
    assert [to for to in (*targets, *ours) if not to.exists()] == []
    if name.startswith("docs/"):
        outside = [to for to in targets if not to.is_relative_to(ROOT / "docs")]
        assert outside == [], "the site has no such files: link to the repository"


@pytest.mark.parametrize("script", ["picture", "terminal", "ways_back"])
def test_a_picture_shows_what_the_tools_say(script):
    command = [sys.executable, ROOT / f"scripts/{script}.py", "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def hidden(entry):
    """The parameters that only a host sets, with their defaults."""
    for name, knob in entry.action.params.model_fields.items():
        if not entry.shows(name) and name not in entry.pin:
            value = entry.defaults.get(name, knob.get_default(call_default_factory=True))
            spelt = entry.spelling(name)
            yield spelt if value is None or spelt in entry.typed else f"{spelt}={value!r}"


def row(tool):
    needed = tool.schema.get("required", ())
    seen = [name if name in needed else f"[{name}]" for name in tool.schema["properties"]]
    cells = f"`{tool.name}`", tool.effect.value, ", ".join(seen), ", ".join(hidden(tool.entry))
    return f"| {' | '.join(cells)} |\n"


def parameters():
    for name in TOOLSETS:
        rows = "".join(map(row, select_tools(".", name)))
        yield f"### `{name}`\n\n{HEAD}{rows}"


def test_the_tables_of_tools_are_the_toolsets(request):
    text, made = TOOLS.read_text(), "\n".join(parameters())
    first = next(iter(TOOLSETS))
    tables = re.compile(rf"^### `{first}`.*?(?=\n^(?!#{{3}} `|\||$))", re.MULTILINE | re.DOTALL)
    if request.config.getoption("--update-golden"):
        TOOLS.write_text(text := tables.sub(lambda _: made, text))
    assert tables.findall(text) == [made], "made from the toolsets: --update-golden"


def test_the_tokens_of_each_toolset_are_told(monkeypatch):
    monkeypatch.setattr(tokens, "counter", lambda: None)  # estimated, as in `fsagent tools`
    told = dict(re.findall(r"^\| `(\w+)`.*?\| ([\d,]+) \|", TOOLS.read_text(), re.MULTILINE))
    assert list(told) == list(TOOLSETS)
    for name, figure in told.items():
        tools = toolset(name).bind(Workspace("."))
        made = sum(tokens.cost(map(tokens.definition, tools.values())).values())
        assert int(figure.replace(",", "")) == pytest.approx(made, rel=0.02)


@pytest.mark.slow
def test_every_block_type_checks():
    done = subprocess.run([sys.executable, ROOT / "scripts/snippets.py"], check=False)
    assert done.returncode == 0
