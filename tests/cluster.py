"""A local Ray cluster, as small as one can be. As a program: runs what is on stdin beside one,
which it has as `cluster`.
"""

import logging
import os
import sys
import tempfile
from contextlib import contextmanager

import ray
from ray.cluster_utils import Cluster

NODE = {"num_cpus": 2, "object_store_memory": 80_000_000, "dashboard_agent_listen_port": 0}
PATIENT = {  # with whatever else the machine does, and however full it is
    "RAY_health_check_timeout_ms": "60000",
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_local_fs_capacity_threshold": "1",
}


@contextmanager
def clustered(nodes):
    """The cluster, in a directory of its own: Ray's usual one may belong to another user, and
    names the cluster that was started last.
    """
    # the path of a socket has room for little more than the usual place of temporary files
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.environ.update(PATIENT, RAY_TMPDIR=folder)
        cluster = Cluster()
        try:
            add_node(cluster, include_dashboard=False)
            for _ in range(nodes - 1):
                add_node(cluster)
            yield cluster
        finally:
            cluster.shutdown()


def add_node(cluster, **more):
    """Ray gives a node 30 seconds to start, which is short on a machine with much to do."""
    for left in (2, 1, 0):
        try:
            cluster.add_node(**NODE, **more)
            return
        except Exception as error:
            if not left or "timed out during startup" not in str(error):
                raise


@contextmanager
def connected(nodes):
    """This process is connected to the head of a cluster; the IDs of the nodes, the head first."""
    with clustered(nodes) as cluster:
        ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        head = ray.get_runtime_context().get_node_id()
        try:
            yield sorted((node["NodeID"] for node in ray.nodes()), key=lambda node: node != head)
        finally:
            ray.shutdown()


if __name__ == "__main__":
    with clustered(1) as cluster:
        os.environ["RAY_ADDRESS"] = cluster.address
        exec(sys.stdin.read(), {"cluster": cluster, "NODE": NODE})
        ray.shutdown()
