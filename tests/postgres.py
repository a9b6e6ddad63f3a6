"""A PostgreSQL server of the tests' own."""

import os
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVICES = Path(__file__).parents[1] / "examples/bench/fleet_services.py"


@contextmanager
def server() -> Iterator[str]:
    """Its address. Skips the test where no server is installed, or no client of LangGraph's."""
    pytest.importorskip("langgraph.store.postgres", reason="a development requirement")
    try:
        with runpy.run_path(str(SERVICES))["postgres"]() as address:
            yield address
    except SystemExit as missing:
        pytest.skip(str(missing))


def database(address: str) -> str:
    """The address of a new one on that server, ready for a store of LangGraph."""
    import psycopg
    from langgraph.store.postgres import PostgresStore

    name = f"test_{os.urandom(4).hex()}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    made = address.replace("/postgres?", f"/{name}?")
    with PostgresStore.from_conn_string(made) as store:
        store.setup()  # of two at once one fails
    return made
