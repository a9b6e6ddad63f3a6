"""Workspaces on Ray: what is its own beside `test_remote.py`, which it shares with HTTP."""

import json
import os
import pickle
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fsagent_tools import Policy, Workspace, emitting, identified, select_tools
from fsagent_tools.call import approving
from fsagent_tools.errors import ConfigInvalid
from tests.conftest import DEADLINES, PATIENCE, eventually, state

ray = pytest.importorskip("ray", reason="needs ray")
from fsagent_tools_ray import RayWorkspaces, link  # noqa: E402

PRICES = {"file_path": "shop/prices.py"}


def by_name(where):
    return {tool.name: tool for tool in select_tools(where)}


def actors(path):
    named = ray.util.list_named_actors(all_namespaces=True)
    return [one["name"] for one in named if one["name"].endswith(f" {path}")]


def kill(path):
    """End its actor, and return when the process has ended."""
    for name in actors(path):
        actor = ray.get_actor(name, namespace=link.NAMESPACE)
        pid = ray.get(actor.__ray_call__.options(**link.CONTROL).remote(lambda _: os.getpid()))
        ray.kill(actor)
        assert eventually(lambda pid=pid: state(pid) in "ZX")


def test_line_ids_and_history_outlive_their_actor(nodes, shop):
    tools = by_name(RayWorkspaces().at(str(shop), nodes[1]))
    shown = tools["read"].call(PRICES).text
    kill(shop)
    line = re.search(r"(\w+\t    return int\S+)", shown)[1]
    assert tools["read"].call({"file_path": "README.md"}).ok  # what only reads is sent again
    changes = [{"line_id": line, "new_content": "    return 0"}]
    with identified(session="anna"):
        assert tools["edit_lines"].call({**PRICES, "changes": changes}).ok
    kill(shop)
    with identified(session="anna"):
        (step,) = Workspace(shop).history
    assert "+    return 0" in step.diff()


def test_a_change_whose_actor_dies_is_not_done_twice(nodes, shop):
    bash = by_name(RayWorkspaces().at(str(shop), nodes[1]))["bash"]
    begun = shop / "begun"

    def kill_it():
        assert eventually(lambda: begun.exists() and begun.read_text())
        kill(shop)

    killer = threading.Thread(target=kill_it)
    killer.start()
    lost = bash.call({"command": "echo x >> begun; sleep 600"})
    killer.join()
    assert lost.code == "OUTCOME_UNKNOWN"
    assert begun.read_text() == "x\n"
    assert bash.call({"command": "echo"}).ok


def test_what_nobody_is_asked_about_is_not_sent_again_when_its_actor_dies(nodes, shop):
    asked = []

    class Killing(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            kill(shop)

        def log_message(self, *words): ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Killing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        policy = Policy(allow_hosts=(f"127.0.0.1:{server.server_port}",))
        webfetch = by_name(RayWorkspaces(policy=policy).at(str(shop), nodes[1]))["webfetch"]
        with approving(lambda request: True):
            lost = webfetch.call({"url": f"http://127.0.0.1:{server.server_port}/page"})
        server.shutdown()
    assert lost.code == "OUTCOME_UNKNOWN"
    assert len(asked) == 1


def test_all_who_use_a_workspace_share_one_actor(nodes, shop):
    readers = RayWorkspaces("readonly", policy=Policy(readonly=True))
    for places in (RayWorkspaces(), RayWorkspaces(), readers, pickle.loads(pickle.dumps(readers))):
        assert by_name(places.at(str(shop), nodes[1]))["read"].call(PRICES).ok
    assert len(actors(shop)) == 1
    assert "write" not in by_name(readers.at(str(shop), nodes[1]))


def test_all_spellings_of_a_path_lead_to_one_actor(nodes, shop):
    (shop.parent / "link").symlink_to(shop)
    beside = f"{shop.parent}/"
    for path in (f"{beside}link", f"{shop}/", f"{shop}", f"{beside}link/../shop", f"/{shop}//"):
        tools = by_name(RayWorkspaces().at(path, nodes[1]))
        assert tools["read"].call(PRICES).ok

    def left():
        named = ray.util.list_named_actors(all_namespaces=True)
        return [one["name"] for one in named if beside in one["name"]]

    assert eventually(lambda: left() == [f"{nodes[1]} {shop}"])


def test_idle_actors_end_and_the_next_call_starts_one(nodes, shop):
    def ends_and_comes_back(idle):
        write = by_name(RayWorkspaces(idle=idle).at(str(shop), nodes[1]))["write"]
        first = write.call({"file_path": "a.txt", "content": "1"})
        assert eventually(lambda: not actors(shop))
        return first.ok and write.call({"file_path": "a.txt", "content": "2"}).ok

    assert any(map(ends_and_comes_back, DEADLINES))  # a slow call finds no actor any more


def test_an_actor_does_not_end_while_a_call_runs(nodes, shop):
    def outlasts(idle):
        bash = by_name(RayWorkspaces(idle=idle).at(str(shop), nodes[1]))["bash"]
        return bash.call({"command": f"sleep {2 * idle}; echo done"}).text.startswith("done")

    assert any(map(outlasts, DEADLINES))


def test_more_calls_than_there_is_room_for_wait_with_their_callers(nodes, shop):
    channel = RayWorkspaces(calls=2).at(str(shop), nodes[1])
    bash = by_name(channel)["bash"]
    command = "echo > $NAME; while [ ! -e go ]; do sleep 0.01; done"
    threads = [
        threading.Thread(target=bash.call, args=({"command": command.replace("$NAME", f"{n}.at")},))
        for n in range(5)
    ]
    for thread in threads:
        thread.start()
    assert eventually(lambda: len([*shop.glob("*.at")]) == 2)
    assert not channel._room.acquire(blocking=False)
    (shop / "go").touch()
    for thread in threads:
        thread.join(PATIENCE)
    assert len([*shop.glob("*.at")]) == 5


def test_a_task_elsewhere_uses_the_same_workspace(nodes, shop):
    where = RayWorkspaces().at(str(shop), nodes[0])
    other = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(nodes[1], soft=False)
    far = ray.remote(num_cpus=0)(
        lambda: (os.getpid(), select_tools(where, only=["read"])[0].call(PRICES).text)
    )
    process, text = ray.get(far.options(scheduling_strategy=other).remote())
    assert process != os.getpid()
    assert "\tdef parse" in text


def test_where_the_files_are_has_to_be_clear(nodes, shop):
    places = RayWorkspaces()
    with pytest.raises(ConfigInvalid, match=r"3 nodes of the cluster have .*node="):
        select_tools(places.at(str(shop)))
    with pytest.raises(ConfigInvalid, match="No node of the cluster has the directory /no/such"):
        select_tools(places.at("/no/such"))
    with pytest.raises(ConfigInvalid, match="no directory /no/such on its node"):
        select_tools(places.at("/no/such", nodes[1]))
    with pytest.raises(ConfigInvalid, match=r"No node of the cluster .* mars"):
        select_tools(places.at(str(shop), "mars"))
    with pytest.raises(ConfigInvalid, match="path has to be absolute"):
        places.at("shop")


LOST_NODE = """
import sys
import time
import ray
from fsagent_tools import select_tools
from fsagent_tools_ray import RayWorkspaces

path, places = sys.argv[1], RayWorkspaces()
node = cluster.add_node(node_name="worker", **NODE)
ray.init(log_to_driver=False, logging_level="ERROR")
(tool,) = select_tools(places.at(path, "worker"), only=["read"])
cluster.remove_node(node, allow_graceful=False)
while any(one["Alive"] and one["NodeName"] == "worker" for one in ray.nodes()):
    time.sleep(0.05)
print("lost:", tool.call({"file_path": "README.md"}).text)
cluster.add_node(node_name="worker", **NODE)
print("back:", tool.call({"file_path": "README.md"}).ok)
"""


def test_a_node_that_is_lost_is_told_as_away_until_one_of_its_name_is_there(shop):
    command = [sys.executable, Path(__file__).parents[1] / "cluster.py", shop]
    done = subprocess.run(command, input=LOST_NODE, capture_output=True, text=True)
    assert "lost: Error: The workspace" in done.stdout, done.stderr
    assert "does not answer (its node is away). Nothing was done." in done.stdout, done.stdout
    assert "back: True" in done.stdout


def test_much_live_output_arrives_whole(nodes, shop):
    bash = by_name(RayWorkspaces().at(str(shop), nodes[1]))["bash"]
    told = []
    with emitting(told.append):
        assert bash.call({"command": "seq 200000"}).ok
    assert "".join(told) == "".join(f"{n}\n" for n in range(1, 200_001))


def test_without_a_cluster():
    code = "from fsagent_tools_ray import RayWorkspaces; RayWorkspaces().at('/')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Call ray.init() first" in done.stderr


def crowd(nodes, root, *, jobs, agents, workspaces, lines, kills):
    """Runs the jobs, kills actors meanwhile; what the jobs said."""
    paths = [root / f"{number}" for number in range(workspaces)]
    for path in paths:
        path.mkdir()
        (path / "shared.txt").write_text("begin\n")
    address = ray.get_runtime_context().gcs_address
    script = Path(__file__).with_name("crowd.py")
    command = [sys.executable, script, address, ",".join(nodes), ",".join(map(str, paths))]
    outs = [root / f"{job}.json" for job in range(jobs)]
    running = [
        subprocess.Popen([*command, out, str(job * agents), str(agents), str(lines)])
        for job, out in enumerate(outs)
    ]
    try:
        for number in range(kills):
            path = paths[number % workspaces]
            assert eventually(lambda path=path: (path / "shared.txt").read_text().count("\n") > 3)
            kill(path)
        assert [job.wait(timeout=30 * PATIENCE) for job in running] == [0] * jobs
    finally:
        for job in running:
            job.kill()
    return paths, [json.loads(out.read_text()) for out in outs]


@pytest.mark.parametrize(
    ("jobs", "agents", "workspaces", "lines", "kills"),
    [(2, 5, 4, 4, 2), pytest.param(4, 50, 50, 6, 20, marks=pytest.mark.slow)],
)
def test_no_acknowledged_edit_is_lost(nodes, tmp_path, jobs, agents, workspaces, lines, kills):
    sizes = {"jobs": jobs, "agents": agents, "workspaces": workspaces}
    paths, told = crowd(nodes, tmp_path, **sizes, lines=lines, kills=kills)
    there = [line for path in paths for line in (path / "shared.txt").read_text().splitlines()]
    acknowledged = [line for one in told for line in one["acknowledged"]]
    unknown = [line for one in told for line in one["unknown"]]
    assert sorted(there) == sorted([*acknowledged, *unknown, *["begin"] * workspaces])
    assert len(acknowledged) + len(unknown) == jobs * agents * lines
