"""Fixes a bug on a branch: the agent edits and runs the tests, the program alone commits.

The agent's commands have no network and cannot write `.git`, so what is committed is what the
program says.
"""

import subprocess
import sys
from pathlib import Path

from langchain.agents import create_agent
from offline import asked, model, project

from fsagent_tools import Workspace
from fsagent_tools.testing import call, line_id
from fsagent_tools_langchain import get_tools

GOAL = "'12.5' is parsed as 1205 cents. Fix shop/prices.py, then run the tests of prices."
RIGHT = '    return int(whole) * 100 + int(cents.ljust(2, "0"))'
TURNS = (
    call("read", file_path="shop/prices.py"),
    lambda said: call(
        "edit_lines",
        file_path="shop/prices.py",
        changes=[{"line_id": line_id(said, "cents or 0"), "new_content": RIGHT}],
    ),
    call("bash", command=f"{sys.executable} -m unittest -k price"),
    "Prices with one digit of cents are parsed as they are meant.",
)


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=fixer", "-c", "user.email=fixer@localhost")
    command = ["git", "-C", str(root), *who, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> None:
    root = project()
    if not (root / ".git").exists():
        git(root, "init", "--quiet")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", "As it was")
    git(root, "switch", "--quiet", "--create", "fix-prices")
    workspace = Workspace(root)
    agent = create_agent(model(TURNS), tools=get_tools(workspace, without=["websearch"]))
    said = agent.invoke(asked(GOAL))["messages"][-1].text
    changed = [change.path for step in workspace.history for change in step.changes]
    git(root, "add", *dict.fromkeys(changed))  # not what the tests left behind
    git(root, "commit", "--quiet", "--message", said)
    print(git(root, "show", "--stat", "--format=%s"))


if __name__ == "__main__":
    main()
