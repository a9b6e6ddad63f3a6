"""A LangChain agent finds, reads and fixes a failing project. No key, no network.

With FSAGENT_MODEL set (`openai:gpt-5`, `anthropic:claude-sonnet-4-5`, ...) that model does it.
"""

import os
from tempfile import TemporaryDirectory

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import FsAgentMiddleware
from shop_task import GOAL, TURNS, copy_project, run_tests


def model() -> BaseChatModel:
    live = os.environ.get("FSAGENT_MODEL")
    return init_chat_model(live) if live else ScriptedChatModel(TURNS)


def show(message: BaseMessage) -> None:
    if message.text:
        print(message.text)
    for call in getattr(message, "tool_calls", ()):
        print(f"\n>>> {call['name']}({call['args']})")


def main() -> None:
    with TemporaryDirectory() as temporary:
        folder = copy_project(temporary)
        print(f"tests before: {run_tests(folder)}\n\n{GOAL}")
        agent = create_agent(model(), middleware=[FsAgentMiddleware(folder)])
        for step in agent.stream({"messages": [("user", GOAL)]}, stream_mode="updates"):
            for update in step.values():
                for message in (update or {}).get("messages", ()):
                    show(message)
        verdict = run_tests(folder)
        print(f"\ntests after: {verdict}")
    if verdict != "OK":
        raise SystemExit("the tests still fail")


if __name__ == "__main__":
    main()
