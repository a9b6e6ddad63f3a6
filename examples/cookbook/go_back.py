"""Files that go back with a LangGraph thread: each turn begins with a checkpoint of the files."""

from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from offline import asked, model, project

from fsagent_tools import Workspace
from fsagent_tools.testing import call
from fsagent_tools_langchain import get_tools

TURNS = (
    call("write", file_path="notes.txt", content="first\n"),
    "Done.",
    call("bash", command="rm -r shop; echo second > notes.txt"),
    "Done.",
)


def main() -> None:
    workspace = Workspace(project())
    agent = create_agent(model(TURNS), get_tools(workspace), checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    for text in ("Make notes.", "Clean up."):
        agent.invoke(asked(text), thread)
        state = agent.get_state(thread).config  # where the thread and the files are now
        workspace.checkpoint(state["configurable"]["checkpoint_id"])
    first = [s.config for s in agent.get_state_history(thread) if not s.next][1]
    workspace.undo(to=first["configurable"]["checkpoint_id"])
    print(len(agent.get_state(first).values["messages"]), workspace.read_text("notes.txt").text)


if __name__ == "__main__":
    main()
