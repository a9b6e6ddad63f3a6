"""What frameworks and their users do with tools besides calling them."""

import copy
import inspect
import pickle
import subprocess
import sys

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools.render import render_text_description
from llama_index.core.agent.workflow import CodeActAgent, FunctionAgent, ReActAgent

from fsagent_tools import TOOLSETS, Policy, Workspace
from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools_langchain import get_tools
from fsagent_tools_llamaindex import FsAgentMetadata, FsAgentToolSpec
from fsagent_tools_llamaindex import get_tools as llamaindex_tools
from samples import PRICES, arguments

pytestmark = pytest.mark.full

every_toolset = pytest.mark.parametrize("toolset", TOOLSETS)
READ = "read(file_path: str, offset: int | None = None, limit: int | None = None"
quiet = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


@every_toolset
def test_listings_show_the_visible_parameters_and_no_others(toolset, shop):
    ours, theirs = get_tools(shop, toolset), llamaindex_tools(shop, toolset)
    for tool, other in zip(ours, theirs, strict=True):
        listed = render_text_description([tool])
        assert listed.startswith(f"{tool.name}(")
        for function in (tool.func, tool.coroutine, other.fn, other.async_fn):
            shown = inspect.signature(function).parameters
            assert {*shown} == {*tool.args}
            needed = {name for name, one in shown.items() if one.default is one.empty}
            assert needed == {*tool.core.schema.get("required", ())}
    assert toolset != "workspace" or READ in render_text_description(ours)


def test_a_signature_is_the_same_with_strict_schemas(shop):
    for one, other in zip(get_tools(shop), get_tools(shop, strict=True), strict=True):
        assert str(one.core.signature) == str(other.core.signature)


@pytest.mark.parametrize("given", [PRICES, f' {{"file_path": "{PRICES}"}}', {"path": PRICES}])
async def test_bare_text_is_the_first_parameter_unless_it_is_an_object(given, shop):
    (read,) = get_tools(shop, only=["read"])
    expected = read.core.call({"file_path": PRICES}).text
    assert read.invoke(given) == read.run(given) == await read.ainvoke(given) == expected


async def test_the_functions_of_a_tool_take_arguments_as_python_has_them(shop):
    (read,) = get_tools(shop, only=["read"])
    text = read.core.call({"file_path": PRICES, "offset": 2}).text
    assert read.func(PRICES, 2)[0] == read.func(PRICES, offset=2)[0] == text
    assert (await read.coroutine(PRICES, 2))[0] == text
    (read,) = llamaindex_tools(shop, only=["read"])
    assert read(PRICES, 2).content == read.call(PRICES, offset=2).content == text
    assert (await read.acall(PRICES, 2)).content == text
    assert read.fn(PRICES, 2) == await read.async_fn(file_path=PRICES, offset=2) == text
    assert "Unknown argument 'nope'" in read.fn(PRICES, nope=1)
    with pytest.raises(TypeError, match="multiple values"):
        read.call(PRICES, file_path=PRICES)
    with pytest.raises(TypeError, match="too many"):
        read.call(*range(9))


@every_toolset
def test_copies_and_pickles_work_in_the_same_place(toolset, shop):
    workspace = Workspace(shop, policy=Policy(denied_paths=["secret"]), line_ids="words")
    for tool in get_tools(workspace, toolset):
        same, again = copy.deepcopy(tool), pickle.loads(pickle.dumps(tool))
        assert same.core.workspace is tool.core.workspace
        assert again.core.schema == tool.core.schema
        assert again.core.workspace.policy == tool.core.workspace.policy
        assert again.core.workspace.style.name == "words"
        assert render_text_description([again]) == render_text_description([tool])
        assert again.invoke(arguments(tool.core))
    for tool in llamaindex_tools(workspace, toolset):
        same, again = copy.deepcopy(tool), pickle.loads(pickle.dumps(tool))
        assert same.core.workspace is tool.core.workspace
        assert again.metadata == tool.metadata or again.metadata.name == tool.metadata.name
        assert again.call(**arguments(tool.core)).content


def test_callbacks_see_the_models_arguments_only(shop):
    class Watch(BaseCallbackHandler):
        seen = ()

        def on_tool_start(self, serialized, input_str, *, inputs=None, **_):
            self.seen = (*self.seen, inputs)

    watch = Watch()
    agent = create_agent(
        ScriptedChatModel([call("read", file_path=PRICES), "Done."]), tools=get_tools(shop)
    )
    agent.invoke({"messages": [("user", "go")]}, {"callbacks": [watch]})
    assert watch.seen == ({"file_path": PRICES},)


async def test_to_fastmcp_takes_the_tools(shop):
    adapters = pytest.importorskip("langchain_mcp_adapters.tools")
    for tool in get_tools(shop):
        converted = adapters.to_fastmcp(tool)
        assert converted.parameters == tool.core.schema
    read, edit = (adapters.to_fastmcp(t) for t in get_tools(shop, only=["read", "edit_lines"]))
    shown = await read.run({"file_path": PRICES})
    change = {"line_id": shown.splitlines()[0], "new_content": "import re"}
    await edit.run({"file_path": PRICES, "changes": [change]})
    assert (shop / PRICES).read_text().startswith("import re\n")


@quiet
def test_react_agents_of_llamaindex_are_told_the_parameters(shop):
    agent = ReActAgent(tools=llamaindex_tools(shop), llm=ScriptedLLM([]))
    told = agent.formatter.format(llamaindex_tools(shop), [])[0].content
    assert '"file_path": {"description": "File."' in told


CODE = """<execute>
print(read(file_path='shop/prices.py', limit=1))
print(bash('echo from $((40 + 2))', timeout=20))
</execute>"""


@quiet
async def test_an_agent_that_writes_code_calls_the_default_tools(shop, capsys):
    tools, prompts = llamaindex_tools(shop), []

    def execute(code: str) -> str:
        exec(code, {tool.metadata.name: tool.fn for tool in tools})
        return capsys.readouterr().out

    def code(said):
        prompts.append(said[0].text)
        return CODE

    llm = ScriptedLLM([code, lambda said: said[-1].text])
    agent = CodeActAgent(code_execute_fn=execute, tools=[*tools], llm=llm)
    assert "from 42" in str(await agent.run("Look."))
    assert "def read(file_path: str, offset: int | None = None" in prompts[0]
    assert "file_path: File." in prompts[0]


def test_metadata_of_llamaindex_tells_what_a_tool_may_do(shop):
    write, bash = llamaindex_tools(shop, only=["write", "bash"])
    assert isinstance(write.metadata, FsAgentMetadata)
    assert write.metadata.effect == "write"
    assert write.metadata.permissions == ("fs.write",)
    assert write.metadata.risk == "medium"
    assert write.metadata.side_effects == ("filesystem_write",)
    assert bash.metadata.risk == "high"
    assert {*write.metadata.to_openai_tool()["function"]} == {"name", "description", "parameters"}


@quiet
async def test_a_spec_has_methods_and_takes_pairs_of_them(shop):
    spec = FsAgentToolSpec(shop)
    text = spec.read(PRICES)
    assert text == await spec.aread(file_path=PRICES)
    assert "def parse" in text
    tools = spec.to_tool_list([("read", "aread"), "ls"])
    assert [tool.metadata.name for tool in tools] == ["read", "ls"]
    agent = FunctionAgent(
        tools=tools, llm=ScriptedLLM([call("read", file_path=PRICES), lambda said: said[-1].text])
    )
    assert "def parse" in str(await agent.run("go"))
    with pytest.raises(KeyError):
        spec.to_tool_list(["nope"])


@pytest.mark.parametrize(
    ("adapter", "module", "extra"),
    [
        ("fsagent_tools_langchain", "langchain_core", "langchain"),
        ("fsagent_tools_llamaindex", "llama_index.core", "llamaindex"),
    ],
)
def test_without_its_framework_an_adapter_says_what_to_install(adapter, module, extra):
    code = f"import sys; sys.modules[{module!r}] = None; import {adapter}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert f"pip install 'fsagent-tools[{extra}]'" in last


def test_only_the_middleware_needs_more_than_langgraph_and_names_it():
    code = (
        "import sys; sys.modules['langchain'] = None\n"
        "from fsagent_tools_langchain import get_tools, interrupt_on\n"
        "print(get_tools('.')[0].name)\n"
        "from fsagent_tools_langchain import FsAgentMiddleware"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "read", ran.stderr
    assert "langchain.agents" in ran.stderr.splitlines()[-1]
