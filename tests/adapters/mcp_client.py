"""The client of the MCP library, and a server for it."""

import socket
import threading
from contextlib import contextmanager

import uvicorn
from mcp import MCPError as MCPError
from mcp.client import Client as Client

from tests.conftest import PATIENCE, eventually

ERAS = ["auto", "legacy"]  # of the protocol


@contextmanager
def running(app):
    """The URL of an ASGI application that is served here."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        # a connection is kept however long its client takes to ask again
        config = uvicorn.Config(app, log_level="warning", timeout_keep_alive=PATIENCE, ws="none")
        served = uvicorn.Server(config)
        thread = threading.Thread(target=served.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        assert eventually(lambda: served.started)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        served.should_exit = True
        thread.join(PATIENCE)
