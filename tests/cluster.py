"""A local Ray cluster, as small as one can be. As a program: runs what is on stdin beside one."""

import logging
import os
import sys
from contextlib import contextmanager

import ray
from ray.cluster_utils import Cluster

NODE = {"num_cpus": 2, "object_store_memory": 80_000_000}


@contextmanager
def clustered(nodes):
    """Its address."""
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        for _ in range(nodes - 1):
            cluster.add_node(**NODE)
        yield cluster.address
    finally:
        cluster.shutdown()


@contextmanager
def connected(nodes):
    """This process is connected to the head of a cluster; the IDs of the nodes, the head first."""
    with clustered(nodes) as address:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        head = ray.get_runtime_context().get_node_id()
        try:
            yield sorted((node["NodeID"] for node in ray.nodes()), key=lambda node: node != head)
        finally:
            ray.shutdown()


if __name__ == "__main__":
    with clustered(1) as os.environ["RAY_ADDRESS"]:
        exec(sys.stdin.read(), {})
        ray.shutdown()
