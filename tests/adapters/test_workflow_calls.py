"""Calls of an agent of LlamaIndex are known by the IDs that its model gave them."""

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from workflows.runtime.types.results import StepWorkerContext

from fsagent_tools import EventLog, Workspace
from fsagent_tools.testing import call
from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools_llamaindex import get_tools

pytestmark = [
    pytest.mark.skipif(
        "event" not in StepWorkerContext.__dataclass_fields__,
        reason="this LlamaIndex does not say what a step is about",
    ),
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
]


class Naming(ScriptedLLM):
    """Gives calls another ID, as the classes of LlamaIndex for some providers do."""

    id_: str

    def get_tool_calls_from_response(self, *given, **more):
        found = super().get_tool_calls_from_response(*given, **more)
        return [one.model_copy(update={"tool_id": self.id_}) for one in found]


async def calls_of(root, id_):
    records = []
    workspace = Workspace(root, log=EventLog(records.append))
    llm = Naming([[call("ls")] * 2, "Done."], id_=id_)
    await FunctionAgent(tools=get_tools(workspace), llm=llm).run("go")
    return [record["call"] for record in records]


async def test_records_have_the_id_of_the_models_call(root):
    assert await calls_of(root, "call_7") == ["call_7"] * 2


@pytest.mark.parametrize("id_", ["ls", ""])
async def test_an_id_that_is_the_tools_name_or_empty_names_no_call(root, id_):
    one, other = await calls_of(root, id_)
    assert one != other
