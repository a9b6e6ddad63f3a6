"""The client of the MCP library: that of version 2, or what an earlier one has in its shape."""

import asyncio
import socket
import threading
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib.metadata import version

import uvicorn
from pydantic.alias_generators import to_camel

from tests.conftest import PATIENCE, eventually

MODERN = not version("mcp").startswith("1.")
ERAS = ["auto", "legacy"] if MODERN else ["legacy"]
if MODERN:
    from mcp import MCPError
    from mcp.client import Client
else:
    from mcp import ClientSession, McpError, types
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.memory import create_client_server_memory_streams

    MCPError = McpError

    class Snake:
        """Attributes by the names of version 2."""

        def __init__(self, shown):
            self._shown = shown

        def __getattr__(self, name):
            found = getattr(self._shown, to_camel(name))
            if isinstance(found, list):
                return [Snake(one) if hasattr(one, "model_dump") else one for one in found]
            return Snake(found) if hasattr(found, "model_dump") else found

    @asynccontextmanager
    async def served_here(server):
        async with create_client_server_memory_streams() as (ours, its):
            running = server.run(*its, server.create_initialization_options())
            task = asyncio.create_task(running)
            yield ours
            task.cancel()
            await asyncio.wait([task])

    class Client:
        """`there` is a server, its URL or a transport."""

        def __init__(self, there, mode="legacy", **callbacks):
            self._there, self._callbacks = there, callbacks

        async def __aenter__(self):
            self._stack = stack = AsyncExitStack()
            there = self._there
            if hasattr(there, "run"):
                transport = served_here(there)
            else:
                transport = streamable_http_client(there) if isinstance(there, str) else there
            read, write, *_ = await stack.enter_async_context(transport)
            made = ClientSession(read, write, **self._callbacks)
            self._session = await stack.enter_async_context(made)
            self.instructions = (await self._session.initialize()).instructions
            return self

        async def __aexit__(self, *error):
            await self._stack.__aexit__(*error)

        async def list_tools(self):
            return Snake(await self._session.list_tools())

        async def call_tool(self, *given, **more):
            number = self._session._request_id
            try:
                return Snake(await self._session.call_tool(*given, **more))
            except asyncio.CancelledError:  # which that library does not tell the server
                told = types.CancelledNotificationParams(requestId=number)
                gone = types.CancelledNotification(params=told)
                await self._session.send_notification(types.ClientNotification(gone))
                raise


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
