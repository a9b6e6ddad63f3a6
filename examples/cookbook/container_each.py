"""A container for each user: files and commands are there, the agent is here.

`IMAGE` has `fsagent-tools[mcp]` (see examples/remote/Dockerfile). Where `docker` is not used, the
server is a process of this machine, which shows the same.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_urlsafe

from langchain.agents import create_agent
from offline import asked, model, project

from fsagent_tools.testing import call
from fsagent_tools_langchain import get_tools

IMAGE = os.environ.get("IMAGE", "")
TURNS = (call("bash", command="pwd; ls"), "These are the files of the user.")
SERVE = ["fsagent_tools.cli", "--root", ".", "serve", "--http", "0"]


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, str]]:
    """Address and token of a server for this folder alone."""
    token = token_urlsafe()
    environment = {**os.environ, "FSAGENT_SERVE_TOKEN": token}
    command = [sys.executable, "-m", *SERVE]
    if IMAGE:
        mount = ["--volume", f"{folder}:/work", "--env", "FSAGENT_SERVE_TOKEN"]
        command = ["docker", "run", "--rm", "--network=host", *mount, IMAGE]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr
        try:
            yield server.stderr.readline().split()[-1].removesuffix("/mcp"), token
        finally:
            server.terminate()


def main() -> None:
    with served(project()) as (url, token):
        agent = create_agent(model(TURNS), tools=get_tools(url, token=token))
        for message in agent.invoke(asked("What is here?"))["messages"]:
            print(message.text)


if __name__ == "__main__":
    main()
