"""`langgraph dev`, which watches its loop for blocking calls, with an agent and a graph factory."""

import asyncio
import json
import os
import re
import socket
import subprocess
from pathlib import Path

import httpx
import pytest

from test_frameworks import ROOT, python_with
from tests.conftest import PATIENCE, alive, eventually

pytestmark = pytest.mark.full

STAYS = "sleep 2718282"
GRAPHS = f"""
import gc

from langchain.agents import create_agent

from fsagent_tools.testing import call
from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import aget_tools, get_tools

WORK = [
    [call("read", file_path="shop/prices.py"), call("bash", command="echo from $((40 + 2))")],
    call("write", file_path="new.txt", content="x"),
]
STAYS = call("bash", command="exec {STAYS}", background=True)
agent = create_agent(ScriptedChatModel([*WORK, "Done."]), get_tools("."))


async def factory():
    gc.collect()  # agents of earlier runs end here, on the loop
    return create_agent(ScriptedChatModel([*WORK, STAYS, "Done."]), await aget_tools("."))
"""
SETTINGS = {"dependencies": ["."], "graphs": {n: f"./g.py:{n}" for n in ("agent", "factory")}}


async def test_no_call_blocks_the_loop_and_no_run_leaves_anything(shop, tmp_path):
    python = python_with("langgraph_api")
    (shop / "g.py").write_text(GRAPHS)
    (shop / "langgraph.json").write_text(json.dumps(SETTINGS))
    for name in ("temp", "state"):
        (tmp_path / name).mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("FSAGENT_")},
        **{"PYTHONPATH": f"{ROOT}:{ROOT}/adapters", "TMPDIR": f"{tmp_path}/temp"},
        **{"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGSMITH_TRACING": "false"},
    }
    words = [python, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", f"--port={port}"]
    with (
        (tmp_path / "said").open("wb") as said,
        subprocess.Popen(words, cwd=shop, env=environment, stdout=said, stderr=said) as served,
    ):
        try:
            await use(f"http://127.0.0.1:{port}", served, tmp_path / "temp")
        finally:
            served.terminate()
    told = (tmp_path / "said").read_text()
    assert not re.findall(r"Exception ignored.*|.*BlockingError.*|Traceback.*", told), told


async def use(url, served, temp):
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:

        async def run(graph):
            sent = {"messages": [{"role": "user", "content": "go"}]}
            given = await http.post("/runs/wait", json={"assistant_id": graph, "input": sent})
            messages = given.json()["messages"]
            assert [m["content"] for m in messages if m["type"] == "tool"][1] == "from 42"
            assert messages[-1]["content"] == "Done."

        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    await http.get("/ok")
                    break
                except httpx.TransportError:
                    assert served.poll() is None
                    await asyncio.sleep(0.1)
        counts = []
        for _ in range(2):
            await asyncio.gather(*map(run, ["agent", "factory"] * 2))
            await run("factory")
            assert eventually(lambda: alive(STAYS) <= 2)  # the last, and one that just ends
            assert eventually(lambda: len([*temp.iterdir()]) <= 3), [*temp.iterdir()]
            counts.append(len([*Path(f"/proc/{served.pid}/fd").iterdir()]))
    assert counts[-1] <= counts[0] + 6, counts
