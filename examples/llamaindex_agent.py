"""A LlamaIndex agent finds, reads and fixes a failing project. No key, no network.

With FSAGENT_MODEL set (`openai:gpt-5`, `anthropic:claude-sonnet-4-5`) that model does it.
"""

import asyncio
import os
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent, ToolCall, ToolCallResult

from fsagent_tools.testing.llamaindex import ScriptedLLM
from fsagent_tools_llamaindex import get_tools
from shop_task import GOAL, TURNS, copy_project, run_tests

PROVIDERS = {"openai": "OpenAI", "anthropic": "Anthropic"}


def model() -> Any:
    provider, _, name = os.environ.get("FSAGENT_MODEL", "").partition(":")
    if not provider:
        return ScriptedLLM(TURNS)
    if provider not in PROVIDERS:
        raise SystemExit(f"FSAGENT_MODEL begins with one of {', '.join(PROVIDERS)}, then a colon.")
    try:
        module = import_module(f"llama_index.llms.{provider}")
    except ModuleNotFoundError:
        raise SystemExit(f"{provider} needs: pip install llama-index-llms-{provider}") from None
    return getattr(module, PROVIDERS[provider])(model=name)


async def main() -> None:
    with TemporaryDirectory() as temporary:
        folder = copy_project(temporary)
        print(f"tests before: {run_tests(folder)}\n\n{GOAL}")
        handler = FunctionAgent(tools=get_tools(folder), llm=model()).run(GOAL)
        async for event in handler.stream_events():
            if isinstance(event, ToolCallResult):
                print(event.tool_output.content)
            elif isinstance(event, ToolCall):
                print(f"\n>>> {event.tool_name}({event.tool_kwargs})")
        print(f"\n{await handler}")
        verdict = run_tests(folder)
        print(f"\ntests after: {verdict}")
    if verdict != "OK":
        raise SystemExit("the tests still fail")


if __name__ == "__main__":
    asyncio.run(main())
