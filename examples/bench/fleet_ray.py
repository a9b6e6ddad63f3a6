"""The hosts of `fleet.py` on Ray: each is an actor at a node of its own, which is lost as a whole.

The directories of the users are at these nodes, too, and are found by the name of their node.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ray
from ray.cluster_utils import Cluster
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

from fsagent_tools_ray import RayWorkspaces

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}
AT_ONCE = 100  # more than are asked
STARTING = threading.Lock()  # two nodes at once fail
Serve = Callable[[Any], dict[str, Any]]  # what became of a job


class NodeHost:
    """A node, and the actor there that has a job done. A lost one comes back with its disk."""

    def __init__(self, cluster: Any, name: str, state: Path, made: Any, old: "NodeHost | None"):
        self._cluster, self._name, self._state, self._made = cluster, name, state, made
        self._old, self._asked = old, 0
        self._up, self.gone = threading.Event(), threading.Event()
        self._turn = threading.Condition()
        threading.Thread(target=self._start, daemon=True).start()

    def _start(self) -> None:
        if self._old:  # it has the name
            self._old.gone.wait()
        with self._turn:
            self._begin()

    def _begin(self) -> None:
        own = {"XDG_STATE_HOME": str(self._state)}
        with STARTING:
            self._node = self._cluster.add_node(node_name=self._name, env_vars=own, **NODE)
        there = On(self._node.node_id, soft=False)
        kind, *made = self._made
        actor = ray.remote(num_cpus=0, max_concurrency=AT_ONCE)(kind)
        self._actor = actor.options(scheduling_strategy=there).remote(*made)
        self._up.set()

    def ask(self, job: dict[str, Any]) -> Any:
        """What became of it; None if the host died."""
        self._up.wait()
        with self._turn:
            self._asked += 1
        try:
            return ray.get(self._actor.answer.remote(job))
        except RayError:
            return None
        finally:
            with self._turn:
                self._asked -= 1
                self._turn.notify_all()

    def kill(self) -> None:
        self._up.wait()
        with self._turn:
            if not self.gone.is_set():
                self._up.clear()
                self._cluster.remove_node(self._node, allow_graceful=False)
                self._begin()

    def retire(self) -> None:
        """End it when what it has begun is done."""
        with self._turn:
            self._turn.wait_for(lambda: not self._asked)
            self.end()

    def end(self) -> None:
        self._up.wait()
        with self._turn:
            self._cluster.remove_node(self._node)
            self.gone.set()


@contextmanager
def hosts_on_ray(hosts: int, root: Path, *made: Any) -> Iterator[Iterator[NodeHost]]:
    """Hosts of a cluster on this machine, as many as are asked for; each replaces the one before
    of its place. made: the class of the actor, and what it is made with.
    """
    with TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.environ.update(RAY_TMPDIR=folder, RAY_memory_monitor_refresh_ms="0")
        head = {**NODE, "include_dashboard": False}
        # else a node could be added in the main thread only
        cluster = Cluster(initialize_head=True, head_node_args=head, shutdown_at_exit=False)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        try:
            yield _hosts(cluster, hosts, root, made)
        finally:
            ray.shutdown()
            cluster.shutdown()


def _hosts(cluster: Any, hosts: int, root: Path, made: Any) -> Iterator[NodeHost]:
    last: dict[str, NodeHost] = {}
    for n in count():
        name = f"host {n % hosts}"
        last[name] = NodeHost(cluster, name, root / f"state {n}", made, last.get(name))
        yield last[name]


def on_nodes(hosts: int) -> Callable[[str], Any]:
    """Of a directory: the channel to it, at one of the nodes, always the same."""
    places = RayWorkspaces()
    return lambda path: places.at(path, f"host {sum(map(ord, path)) % hosts}")
