"""Workspaces on Ray: the tools of a directory of another node."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fsagent_tools import MemoryFiles, Policy, Workspace, approving, select_tools
from fsagent_tools.errors import ConfigInvalid
from tests.conftest import eventually, state

pytestmark = pytest.mark.full

ray = pytest.importorskip("ray", reason="needs ray")
from fsagent_tools_langchain import get_tools  # noqa: E402
from fsagent_tools_ray import RayWorkspaces  # noqa: E402

PRICES = {"file_path": "shop/prices.py"}


def tools_at(where):
    return {tool.name: tool for tool in select_tools(Workspace(files=MemoryFiles({})), where)}


def test_tools_say_there_what_they_say_here(nodes, shop):
    there, here = tools_at(RayWorkspaces().at(str(shop), nodes[1])), select_tools(shop)
    assert [*there] == [tool.name for tool in here]
    for tool in here:
        assert there[tool.name].schema == tool.schema
        assert there[tool.name].description == tool.description
    sent = ({"file_path": "README.md"}, {"file_path": "no.md"}, {"wrong": 1})
    read = next(tool for tool in here if tool.name == "read")
    for given in sent:
        assert there["read"].call(given).text == read.call(given).text
        assert there["read"].call(given).code == read.call(given).code
    shown = there["read"].call(PRICES).text.splitlines()
    line = next(one for one in shown if "return int(" in one).split("\t")[0]
    change = [{"line_id": f"{line} return int(whole)", "new_content": "    return 0"}]
    assert there["edit_lines"].call({**PRICES, "changes": change}).ok
    assert "    return 0\n" in (shop / "shop/prices.py").read_text()
    (langchain,) = get_tools(Workspace(files=MemoryFiles({})), RayWorkspaces().at(
        str(shop), nodes[1]
    ).only("ls"))  # fmt: skip
    assert "shop" in langchain.invoke({})


def test_the_policy_holds_there_and_the_host_is_asked_here(nodes, shop):
    only_reads = RayWorkspaces(policy=Policy(readonly=True)).at(str(shop), nodes[1])
    assert "write" not in tools_at(only_reads)
    write, asked = tools_at(RayWorkspaces().at(str(shop), nodes[1]))["write"], []
    for verdict in ("no", True):
        with approving(lambda request, v=verdict: asked.append(request) or v):
            done = write.call({"file_path": "new.txt", "content": "x\n"})
        assert done.ok is (verdict is True)
        assert (shop / "new.txt").exists() is (verdict is True)
    assert [request.arguments["content"] for request in asked] == ["x\n", "x\n"]


def test_an_actor_that_dies_is_started_again_and_a_change_is_not_sent_twice(nodes, shop):
    places = RayWorkspaces()
    tools = tools_at(places.at(str(shop), nodes[1]))
    (actor,) = places._made.values()
    pid = ray.get(actor.__ray_call__.remote(lambda _: os.getpid()))
    lost = tools["bash"].call({"command": f"echo x >> begun; kill -9 {pid}; sleep 60"})
    if lost.ok:  # the sandbox shows the command no process but its own
        ray.kill(actor, no_restart=False)
    else:
        assert lost.code == "OUTCOME_UNKNOWN"
    assert eventually(lambda: state(pid) in "ZX")
    assert (shop / "begun").read_text() == "x\n"
    assert eventually(lambda: tools["read"].call(PRICES).ok)


def test_where_the_files_are_has_to_be_clear(nodes, shop):
    places = RayWorkspaces()
    with pytest.raises(ConfigInvalid, match=r"3 nodes of the cluster have .*node="):
        places.at(str(shop))
    with pytest.raises(ConfigInvalid, match="No node of the cluster has the directory /no/such"):
        places.at("/no/such")
    with pytest.raises(ConfigInvalid, match="no directory /no/such on its node"):
        places.at("/no/such", nodes[1])
    with pytest.raises(ConfigInvalid, match=r"No node of the cluster .* mars"):
        places.at(str(shop), "mars")
    with pytest.raises(ConfigInvalid, match="`path` has to be absolute"):
        places.at("shop")
    with pytest.raises(ConfigInvalid, match="a tool of several commands"):
        RayWorkspaces("anthropic").at(str(shop), nodes[1])


LOST_NODE = """
import sys
import time
import ray
from fsagent_tools import MemoryFiles, Workspace, select_tools
from fsagent_tools_ray import RayWorkspaces

node = cluster.add_node(node_name="worker", **NODE)
ray.init(log_to_driver=False, logging_level="ERROR")
there = RayWorkspaces().at(sys.argv[1], "worker").only("read")
(tool,) = select_tools(Workspace(files=MemoryFiles({})), there)
cluster.remove_node(node, allow_graceful=False)
while (told := tool.call({"file_path": "README.md"})).ok:  # the actor outlives its node shortly
    time.sleep(0.2)
print("lost:", told.text)
"""


def test_a_node_that_is_lost_is_named(shop):
    command = [sys.executable, Path(__file__).parents[1] / "cluster.py", shop]
    done = subprocess.run(command, input=LOST_NODE, capture_output=True, text=True, timeout=300)
    assert "lost: Error: The node " in done.stdout, done.stdout + done.stderr
    assert str(shop) in done.stdout


def test_without_a_cluster():
    code = "from fsagent_tools_ray import RayWorkspaces; RayWorkspaces().at('/')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Call ray.init() first" in done.stderr
