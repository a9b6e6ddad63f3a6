"""Repairs what a command complains about, and takes everything back if it still fails.

Exit code 0 where the command passes in the end: a step of a CI job.
"""

import sys

from langchain.agents import create_agent
from offline import asked, model, project

from fsagent_tools import Workspace
from fsagent_tools.testing import call, line_id
from fsagent_tools_langchain import get_tools

COMMAND, ATTEMPTS = f"{sys.executable} -m unittest", 2
RIGHT = '    return int(whole) * 100 + int(cents.ljust(2, "0"))'
TURNS = (
    call("read", file_path="shop/prices.py"),
    lambda said: call(
        "edit_lines",
        file_path="shop/prices.py",
        changes=[{"line_id": line_id(said, "cents or 0"), "new_content": RIGHT}],
    ),
    "Prices are parsed now.",
    call("grep", pattern="BULK_FROM", path="shop"),
    lambda said: call(
        "edit_lines",
        file_path="shop/cart.py",
        changes=[
            {
                "line_id": line_id(said, "self.count > BULK_FROM"),
                "new_content": "        if self.count >= BULK_FROM:",
            }
        ],
    ),
    "Ten pieces are bulk now.",
)


def main() -> None:
    workspace = Workspace(project())
    agent = create_agent(model(TURNS), tools=get_tools(workspace, without=["bash", "websearch"]))
    before = workspace.checkpoint("before the repair")
    for attempt in range(ATTEMPTS + 1):
        done = workspace.run(COMMAND, timeout=600)
        if done.exit_code == 0:
            print(f"passes after {attempt} attempts\n{workspace.diff(before)}")
            return
        if attempt < ATTEMPTS:
            agent.invoke(asked(f"`{COMMAND}` fails. Repair the code:\n{done.output[-4000:]}"))
    workspace.undo(to=before)
    raise SystemExit("it still fails; everything was undone")


if __name__ == "__main__":
    main()
