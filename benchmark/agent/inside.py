"""The agent that Harbor runs inside a task's container: all tools of a toolset, and a trajectory.

python inside.py --model NAME --toolset NAME --out FILE INSTRUCTION: a model as LangChain names it,
or a file of JSON, the turns of a scripted one (texts, and lists of [tool, arguments]). Needs no
other file of the benchmark. The trajectory is in Harbor's interchange format.
"""

import argparse
import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.errors import GraphRecursionError

from fsagent_tools import Workspace, __version__
from fsagent_tools.policy import Policy, ProcessPolicy
from fsagent_tools.testing import Call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import get_tools

SYSTEM = "You work in the directory {}. Do the task with your tools, and check what you did."
TURNS = 200


def model(name: str) -> Any:
    if not name.endswith(".json"):
        return init_chat_model(name.replace("/", ":", 1))
    turns = json.loads(Path(name).read_text("utf-8"))
    return ScriptedChatModel(
        [t if isinstance(t, str) else [Call(*one) for one in t] for t in turns]
    )


def trajectory(messages: list[BaseMessage], instruction: str, name: str) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": instruction}]
    for message in messages:
        if isinstance(message, AIMessage):
            calls = [
                {
                    "tool_call_id": one["id"],
                    "function_name": one["name"],
                    "arguments": one["args"],
                }
                for one in message.tool_calls
            ]
            step = {"step_id": len(steps) + 1, "source": "agent", "message": message.text}
            steps.append(step | ({"tool_calls": calls} if calls else {}))
        elif isinstance(message, ToolMessage):
            seen = steps[-1].setdefault("observation", {"results": []})["results"]
            seen.append({"source_call_id": message.tool_call_id, "content": message.text})
    used = [m.usage_metadata for m in messages if isinstance(m, AIMessage) and m.usage_metadata]
    whole = {
        "total_prompt_tokens": sum(one["input_tokens"] for one in used),
        "total_completion_tokens": sum(one["output_tokens"] for one in used),
        "total_cached_tokens": sum(
            one.get("input_token_details", {}).get("cache_read", 0) for one in used
        ),
    }
    agent = {"name": "fsagent-tools", "version": __version__, "model_name": name}
    return {"schema_version": "ATIF-v1.6", "agent": agent, "steps": steps, "final_metrics": whole}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--toolset", default="lines")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("instruction")
    options = parser.parse_args()
    policy = Policy(process=ProcessPolicy(sandbox="off", network=True))  # the container confines
    with closing(Workspace("/", policy=policy)) as workspace:
        tools = get_tools(workspace, options.toolset)
        told = SYSTEM.format(os.getcwd())
        agent: Any = create_agent(model(options.model), tools, system_prompt=told)
        asked, messages = {"messages": [("user", options.instruction)]}, list[BaseMessage]()
        try:
            for state in agent.stream(asked, {"recursion_limit": TURNS}, stream_mode="values"):
                messages = state["messages"]
                kept = trajectory(messages, options.instruction, options.model)
                options.out.write_text(json.dumps(kept), encoding="utf-8")  # lasts if we are ended
        except GraphRecursionError:
            print("too many turns")


if __name__ == "__main__":
    main()
