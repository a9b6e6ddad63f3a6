"""A migration, file by file: a fresh run for each, and a file that no longer parses is put back."""

import ast

from langchain.agents import create_agent
from offline import asked, model, project

from fsagent_tools import Workspace
from fsagent_tools.testing import call, line_id
from fsagent_tools_langchain import get_tools

FIND, GOAL = r"unittest", "Rewrite {} for pytest: plain functions and `assert`."
TURNS = (
    call("read", file_path="tests/test_shop.py"),
    lambda said: call(
        "edit_lines",
        file_path="tests/test_shop.py",
        changes=[{"line_id": line_id(said, "import unittest"), "new_content": "import pytest"}],
    ),
    "Done.",
)


def main() -> None:
    workspace = Workspace(project())
    tools = get_tools(workspace, only=["read", "edit_lines", "write", "grep"])
    found = workspace.search(FIND, include="*.py", path="tests").hits
    for path in dict.fromkeys(hit.path for hit in found):
        before = workspace.checkpoint(path)
        create_agent(model(TURNS), tools=tools).invoke(asked(GOAL.format(path)))
        try:
            ast.parse(workspace.read_text(path).text)
        except SyntaxError as error:
            workspace.undo(to=before)
            print(f"{path}: undone, {error}")
    print(workspace.diff())


if __name__ == "__main__":
    main()
