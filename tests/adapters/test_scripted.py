"""Scripted models where frameworks shorten, hand over or structure what is said."""

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import LLMToolSelectorMiddleware, SummarizationMiddleware
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.prompts import PromptTemplate
from pydantic import BaseModel

from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools_langchain import get_tools
from fsagent_tools_llamaindex import get_tools as llamaindex_tools
from samples import PRICES

GOAL = {"messages": [("user", "Look at prices.")]}
READS = [call("read", file_path=PRICES, offset=n) for n in range(1, 9)]
quiet = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


class Found(BaseModel):
    file: str
    lines: int


ANSWER = {"file": PRICES, "lines": 3}


def test_a_summary_of_the_history_repeats_no_turn(shop):
    model = ScriptedChatModel([*READS, "Read."])
    short = SummarizationMiddleware(
        ScriptedChatModel(["A summary."] * 20), trigger=("messages", 4), keep=("messages", 1)
    )
    agent = create_agent(model, tools=get_tools(shop), middleware=[short])
    state = agent.invoke(GOAL, {"recursion_limit": 60})
    assert state["messages"][-1].text == "Read."
    assert len(state["messages"]) < len(READS)


def test_one_model_may_summarise_for_itself(shop):
    turns = [call("ls"), call("ls"), "A summary.", "Listed."]
    model = ScriptedChatModel(turns)
    short = SummarizationMiddleware(model, trigger=("messages", 5), keep=("messages", 1))
    state = create_agent(model, tools=get_tools(shop), middleware=[short]).invoke(GOAL)
    assert state["messages"][-1].text == "Listed."
    assert "A summary." in state["messages"][0].text


@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_structured_answer_is_a_mapping(strategy, way, shop):
    model = ScriptedChatModel([call("read", file_path=PRICES), ANSWER])
    agent = create_agent(model, tools=get_tools(shop), response_format=strategy(Found))
    state = agent.invoke(GOAL) if way == "invoke" else await agent.ainvoke(GOAL)
    assert state["structured_response"] == Found(**ANSWER)


def test_with_structured_output_gives_what_was_asked_for():
    model = ScriptedChatModel([ANSWER, ANSWER])
    assert model.with_structured_output(Found).invoke("go") == Found(**ANSWER)
    schema = {**Found.model_json_schema(), "title": "found", "description": "What was found."}
    assert model.with_structured_output(schema).invoke("go") == ANSWER


def test_a_model_that_selects_tools(shop):
    seen = []

    def look(_):
        seen.extend(tool["function"]["name"] for tool in model.bound)
        return "Done."

    model = ScriptedChatModel([look])
    selector = LLMToolSelectorMiddleware(model=ScriptedChatModel([{"tools": ["read", "ls"]}]))
    create_agent(model, tools=get_tools(shop), middleware=[selector]).invoke(GOAL)
    assert seen == ["read", "ls"]


@quiet
async def test_agents_that_hand_over_have_scripts_of_their_own(shop):
    hand = ScriptedLLM([call("handoff", to_agent="fixer", reason="prices")])
    fix = ScriptedLLM([call("read", file_path=PRICES), "Fixed."])
    finder = FunctionAgent(name="finder", description="Finds.", llm=hand, tools=[])
    fixer = FunctionAgent(name="fixer", description="Fixes.", llm=fix, tools=llamaindex_tools(shop))
    said = await AgentWorkflow(agents=[finder, fixer], root_agent="finder").run("Fix shop.")
    assert str(said).strip() == "Fixed."


@quiet
async def test_a_structured_answer_of_llamaindex(shop):
    llm = ScriptedLLM([call("read", file_path=PRICES), "Read.", ANSWER])
    agent = FunctionAgent(llm=llm, tools=llamaindex_tools(shop), output_cls=Found)
    result = await agent.run("Look.")
    assert result.get_pydantic_model(Found) == Found(**ANSWER)
    prompt = PromptTemplate("Look.")
    assert ScriptedLLM([ANSWER]).structured_predict(Found, prompt) == Found(**ANSWER)
