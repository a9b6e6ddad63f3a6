"""What the hosts of `fleet.py` share: a checkpointer."""

import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
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
