"""What the hosts of `fleet.py` share: a checkpointer, and nodes of a Ray cluster."""

import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

MOST = 6  # connections of one host


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a server of its own, at a Unix socket in a directory that goes with it."""
    found = [*Path("/usr/lib/postgresql").glob("*/bin"), *os.get_exec_path()]
    programs = next((p for p in map(Path, found) if (p / "initdb").exists()), None)
    if programs is None or not find_spec("langgraph.checkpoint.postgres"):
        sys.exit(
            "--postgres needs `apt install postgresql` and "
            '`pip install langgraph-checkpoint-postgres "psycopg[binary,pool]"`.'
        )
    with TemporaryDirectory() as folder:
        owner: dict[str, Any] = {}
        if os.getuid() == 0:  # as whom it does not run
            shutil.chown(folder, "postgres")
            owner = {"user": pwd.getpwnam("postgres").pw_uid}
        made = [programs / "initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "fleet"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL, cwd=folder, **owner)
        words = ["-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses="]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([programs / "postgres", *words], cwd=folder, **quiet, **owner) as up:
            try:
                while subprocess.run([programs / "pg_isready", "-q", "-h", folder]).returncode:
                    time.sleep(0.1)
                yield f"postgresql://fleet@/postgres?host={folder}"
            finally:
                up.send_signal(signal.SIGINT)  # ends, whoever is connected


def saver_at(where: str) -> Any:
    """A checkpointer at an address, or in a file."""
    if where.startswith("postgresql:"):
        from langgraph.checkpoint.postgres import PostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool

        each = {"autocommit": True, "row_factory": dict_row, "prepare_threshold": 0}
        return PostgresSaver(ConnectionPool(where, max_size=MOST, kwargs=each, open=True))
    from langgraph.checkpoint.sqlite import SqliteSaver

    return SqliteSaver(sqlite3.connect(where, check_same_thread=False, timeout=120))


@contextmanager
def cluster(nodes: int) -> Iterator[str]:
    """The address of a Ray cluster on this machine."""
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 2, "object_store_memory": 80_000_000}
    with TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.environ.update(RAY_TMPDIR=folder, RAY_memory_monitor_refresh_ms="0")
        made = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        try:
            for _ in range(nodes - 1):
                made.add_node(**node)
            yield made.address
        finally:
            made.shutdown()


def on_nodes() -> Callable[[str], Any]:
    """Of a directory: the channel to it, at one of the nodes, always the same."""
    import ray

    from fsagent_tools_ray import RayWorkspaces

    ray.init(log_to_driver=False, logging_level="ERROR")
    nodes = sorted(node["NodeID"] for node in ray.nodes())
    places = RayWorkspaces()
    return lambda path: places.at(path, nodes[sum(map(ord, path)) % len(nodes)])
