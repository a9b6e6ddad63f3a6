"""Our server and LangChain's MCP client in one environment, whichever was installed first."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import alive, eventually

ROOT = Path(__file__).parents[2]

OURS, THEIRS = f"{ROOT}[mcp]", "langchain-mcp-adapters>=0.3"
OUTER = getattr(sys, "_base_executable", sys.executable)  # has pip; ours may not
PROGRAM = """
import asyncio, sys
from pathlib import Path
from langchain_mcp_adapters.client import MultiServerMCPClient

async def main(root):
    words = ["-m", "fsagent_tools.cli", "--root", root, "serve"]
    server = {"transport": "stdio", "command": sys.executable, "args": words}
    tools = {t.name: t for t in await MultiServerMCPClient({"files": server}).get_tools()}
    await tools["write"].ainvoke({"file_path": "a.txt", "content": "written"})
    (shown,) = await tools["read"].ainvoke({"file_path": "a.txt"})
    print(shown["text"], flush=True)
    command = {"command": "touch begun; exec sleep 27182818"}
    call = asyncio.create_task(tools["bash"].ainvoke(command))
    while not Path(root, "begun").exists():
        await asyncio.sleep(0.05)
    print("begun", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    call.cancel()
    await asyncio.wait([call])
    print("cancelled", call.cancelled(), flush=True)
    await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("order", [(OURS, THEIRS), (THEIRS, OURS)], ids=["ours", "theirs"])
def test_langchains_client_calls_our_server_and_cancels(tmp_path, order):
    subprocess.run([OUTER, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    inside = tmp_path / "venv/bin/python"
    pip = [OUTER, "-m", "pip", "--python", inside, "install", "--quiet"]
    for wanted in order:
        subprocess.run([*pip, wanted], check=True)
    subprocess.run([*pip[:-2], "check"], check=True)
    (root := tmp_path / "root").mkdir()
    with subprocess.Popen(
        [inside, "-c", PROGRAM, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        try:
            assert client.stdout.readline().endswith("\twritten\n")
            assert client.stdout.readline() == "begun\n"
            assert eventually(lambda: alive("sleep 27182818"))
            print(file=client.stdin, flush=True)
            assert client.stdout.readline() == "cancelled True\n"
            assert client.poll() is None
            assert eventually(lambda: not alive("sleep 27182818"))
        finally:
            client.kill()
