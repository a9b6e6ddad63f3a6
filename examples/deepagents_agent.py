"""A deep agent fixes a failing project with our tools under deepagents' names. No key, no network.

With FSAGENT_MODEL set (`openai:gpt-5`, `anthropic:claude-sonnet-4-5`, ...) that model does it.
"""

import os
from tempfile import TemporaryDirectory

from deepagents import create_deep_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_deepagents import deep_agent_options
from langchain_agent import show
from shop_task import GOAL, RIGHT, WRONG, copy_project, run_tests

PRICES, CART = "/shop/prices.py", "/shop/cart.py"
OLD = f"    return int(whole) * 100 + {WRONG}"
LARGE, BULK = "self.count > BULK_FROM", "self.count >= BULK_FROM"
TURNS = (
    [call("ls", path="/shop"), call("grep", pattern="BULK_FROM", path="/shop")],
    [call("read_file", file_path=PRICES), call("read_file", file_path=CART)],
    [
        call("edit_file", file_path=PRICES, old_string=OLD, new_string=RIGHT),
        call("edit_file", file_path=CART, old_string=LARGE, new_string=BULK),
    ],
    call("execute", command="python3 -m unittest -q"),
    "Fixed: prices are parsed with one or two digits, and ten pieces are bulk.",
)


def model() -> BaseChatModel:
    live = os.environ.get("FSAGENT_MODEL")
    return init_chat_model(live) if live else ScriptedChatModel(TURNS)


def main() -> None:
    with TemporaryDirectory() as temporary:
        folder = copy_project(temporary)
        print(f"tests before: {run_tests(folder)}\n\n{GOAL}")
        agent = create_deep_agent(model=model(), **deep_agent_options(folder, "deepagents"))
        for message in agent.invoke({"messages": [("user", GOAL)]})["messages"][1:]:
            show(message)
        verdict = run_tests(folder)
        print(f"\ntests after: {verdict}")
    if verdict != "OK":
        raise SystemExit("the tests still fail")


if __name__ == "__main__":
    main()
