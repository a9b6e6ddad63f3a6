"""The adapters' tests with the lowest versions of the frameworks; .venv has the newest.

Arguments go to pytest.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from package import OUTER, ROOT, lowest, run

# What agents are made of is no dependency of ours; older ones lack what approval is built upon.
AGENTS = ("langchain==1.4.2", "langgraph==1.2.11")
# `langchain-mcp-adapters` wants an MCP library older than ours: here is where it fits.
BESIDE = ("langgraph-checkpoint-sqlite>=3", "langchain-mcp-adapters>=0.3", "langchain-tests>=1.1")
TESTS = ("pytest>=8", "pytest-asyncio>=1", "hypothesis", "blockbuster>=1.5", "jsonschema>=4")
NEWEST_ONLY = (  # they need more
    "contract",
    "mcp",
    "mcp_node",
    "deepagents",
    "remote",
    "pictures",
    "virtual",
)


def main() -> None:
    extras = "langchain,llamaindex"
    with TemporaryDirectory() as temporary:
        place = Path(temporary) / "venv"
        run(OUTER, "-m", "venv", "--without-pip", place)
        inside = place / "bin" / "python"
        wanted = (*lowest(extras), *AGENTS, *BESIDE, *TESTS)
        pip = (OUTER, "-m", "pip", "--python", inside, "install", "--quiet")
        run(*pip, "--editable", f"{ROOT}[{extras},config,media,web]", *wanted)
        ignored = [f"--ignore=tests/adapters/test_{name}.py" for name in NEWEST_ONLY]
        words = sys.argv[1:] or ["-q", "-m", "not slow", "tests/adapters"]
        run(inside, "-m", "pytest", "-p", "no:cacheprovider", *ignored, *words)
    print("The adapters work with the lowest versions, too.")


if __name__ == "__main__":
    main()
