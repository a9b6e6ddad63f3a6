"""Live output of a call as progress, for a client that asked for it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.context import ServerRequestContext


@asynccontextmanager
async def reporting(
    context: ServerRequestContext[Any, Any],
) -> AsyncIterator[Callable[[str], None]]:
    """Inside the block, the function takes live output, on this loop; at its end all is told."""
    texts: asyncio.Queue[str | None] = asyncio.Queue()
    telling = asyncio.create_task(_report(context, texts))
    try:
        yield texts.put_nowait
    except BaseException:
        telling.cancel()
        raise
    texts.put_nowait(None)
    await telling


async def _report(
    context: ServerRequestContext[Any, Any], texts: "asyncio.Queue[str | None]"
) -> None:
    told = 0
    while (text := await texts.get()) is not None:
        told += len(text)
        await context.session.report_progress(told, message=text)
