"""One agent for many users: each run works in the folder of its user, with that user's policy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from offline import asked, model, project

from fsagent_tools import Policy, Workspace
from fsagent_tools.testing import call
from fsagent_tools_langchain import get_tools

TURNS = (call("write", file_path="note.txt", content="hello\n"), "Done.") * 2


@dataclass
class User:
    name: str
    may_write: bool = True


def main() -> None:
    homes = project().parent / "homes"

    def home_of(run: Any) -> Workspace | Path:
        """For each call; None outside a run, where the tools are described."""
        if run is None:
            return homes
        user: User = run.context
        folder = homes / user.name
        folder.mkdir(parents=True, exist_ok=True)
        return Workspace(folder, policy=Policy(readonly=not user.may_write))

    homes.mkdir(exist_ok=True)
    tools = get_tools(home_of, without=["bash", "websearch"])
    agent = create_agent(model(TURNS), tools=tools, context_schema=User)
    for user in (User("ann"), User("guest", may_write=False)):
        answers = agent.invoke(asked("Write a note."), context=user)["messages"]
        print(user.name, [one.text for one in answers if one.type == "tool"])


if __name__ == "__main__":
    main()
