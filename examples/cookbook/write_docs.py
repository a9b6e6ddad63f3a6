"""Writes documentation: the agent reads everything and may write below docs/ only."""

from langchain.agents import create_agent
from offline import asked, model, project

from fsagent_tools import Effect, Request, Verdict, Workspace
from fsagent_tools.testing import call
from fsagent_tools_langchain import get_tools

GOAL = "Write docs/prices.md: what the functions of shop/prices.py take and return."
PAGE = '# Prices\n\n`parse("12.50")` gives cents: 1250. `show(1250)` gives "12.50".\n'
TURNS = (
    call("read", file_path="shop/prices.py"),
    call("write", file_path="shop/README.md", content=PAGE),  # a slip: it is refused
    call("write", file_path="docs/prices.md", content=PAGE),
    "Written.",
)


def only_docs(request: Request) -> Verdict:
    """What is returned as a text is a refusal, and the model reads it."""
    inside = all(path.startswith("docs/") for path in request.paths)
    return (request.effect is Effect.WRITE and inside) or "Only files below docs/ may be written."


def main() -> None:
    workspace = Workspace(project(), approve=only_docs)
    tools = get_tools(workspace, only=["read", "grep", "glob", "ls", "write", "edit_lines"])
    create_agent(model(TURNS), tools=tools).invoke(asked(GOAL))
    print(workspace.diff())


if __name__ == "__main__":
    main()
