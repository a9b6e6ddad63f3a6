"""A reviewer that cannot change anything: four tools that read, and a policy."""

from langchain.agents import create_agent
from offline import asked, model, project

from fsagent_tools import Policy
from fsagent_tools.testing import call
from fsagent_tools_langchain import get_tools

GOAL = "Review shop/prices.py: name bugs with file and line, the worst first."
TURNS = (
    call("read", file_path="shop/prices.py"),
    call("grep", pattern="parse\\(", path="tests"),
    'shop/prices.py:7: the cents of "12.5" count as 5, not as 50.',
)


def main() -> None:
    tools = get_tools(project(), "readonly", policy=Policy(readonly=True))
    agent = create_agent(model(TURNS), tools=tools)
    print(agent.invoke(asked(GOAL))["messages"][-1].text)


if __name__ == "__main__":
    main()
