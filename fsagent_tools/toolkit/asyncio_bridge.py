"""Between threads and event loops: calls that are awaited, and awaitables that a call waits for.

Short work shares a few threads. What waits for a command, a network, a server or a person has a
thread of its own, so that it keeps nobody from working.
"""

import _thread
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import cache, partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from fsagent_tools.call import CallContext, current
from fsagent_tools.errors import Cancelled

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

_P = ParamSpec("_P")
_T = TypeVar("_T")
WORKERS = min(32, (os.cpu_count() or 1) + 4)  # as asyncio's own pool has
_LOOK = 0.1  # seconds between two looks whether the caller gave up while an answer is awaited


async def in_thread(work: Callable[[], _T], *, waits: bool) -> _T:
    """The result of `work`, run outside the event loop. waits: it mostly waits for others."""
    import asyncio

    loop = asyncio.get_running_loop()
    future: Future[_T] = loop.create_future()
    if waits:
        threading.Thread(target=_deliver, args=(work, future, loop), daemon=True).start()
    else:
        _workers(os.getpid()).submit(_deliver, work, future, loop)
    return await future


async def awaited(work: Callable[_P, _T], /, *args: _P.args, **more: _P.kwargs) -> _T:
    """The result of `work`, called in a thread; cancelling the awaiting task stops it.

    For methods of a `Workspace`, which stop at their next check, and commands at once.

    Examples:
        >>> import asyncio
        >>> asyncio.run(awaited(Workspace(".").run, "echo one")).output
        'one\\n'
    """
    return await called(partial(work, *args, **more), waits=True)


async def called(work: Callable[[], _T], *, waits: bool) -> _T:
    """`in_thread`, in the context of the caller."""
    context, outer = copy_context(), current.get()
    call = CallContext(
        emit=on_this_loop(outer.emit),
        wait=waiting_on_this_loop(),
        ids=outer.ids,
        approve=outer.approve,
        turn=outer.turn,
    )
    context.run(current.set, call)
    try:
        return await in_thread(partial(context.run, work), waits=waits)
    finally:
        call.cancelled.set()


def beside_a_loop(work: Callable[[], _T]) -> _T:
    """The result of `work`, which looks at files: in a thread where this one runs an event loop.

    The loop waits for it; `in_thread` is for those that can await.
    """
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:
        return work()
    # Development servers refuse a loop that waits for a lock, as pools and futures do.
    done = SimpleQueue[tuple[list[_T], BaseException | None]]()

    def run() -> None:
        try:
            done.put(([work()], None))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            done.put(([], error))

    _thread.start_new_thread(copy_context().run, (run,))
    results, error = done.get()
    if error is not None:
        raise error
    return results[0]


def on_this_loop(sink: Callable[[str], None] | None) -> Callable[[str], None] | None:
    """`sink`, called from a thread, run on the event loop and in the context of its owner."""
    if sink is None:
        return None
    from asyncio import get_running_loop

    loop, context = get_running_loop(), copy_context()

    def emit(text: str) -> None:
        loop.call_soon_threadsafe(partial(sink, text), context=context)

    return emit


def waiting_on_this_loop() -> Callable[[Awaitable[_T]], _T]:
    """How a thread gets the result of an awaitable of this loop; it gives up with its caller."""
    from asyncio import get_running_loop, run_coroutine_threadsafe

    loop = get_running_loop()

    def wait(awaitable: Awaitable[_T]) -> _T:
        future = run_coroutine_threadsafe(_result(awaitable), loop)
        while True:
            try:
                return future.result(_LOOK)
            except TimeoutError:
                if future.done():  # by now, or with a `TimeoutError` of its own
                    return future.result()
                try:
                    current.get().check()
                except Cancelled:
                    future.cancel()
                    raise

    return wait


async def _result(awaitable: Awaitable[_T]) -> _T:
    return await awaitable


@cache
def _workers(process: int) -> "ThreadPoolExecutor":
    """One pool for each process: the threads of a forked one are gone."""
    return ThreadPoolExecutor(WORKERS, thread_name_prefix="fsagent")


def _deliver(work: Callable[[], Any], future: "Future[Any]", loop: "AbstractEventLoop") -> None:
    if future.done():  # given up while all workers were busy
        return
    try:
        settle = partial(future.set_result, work())
    except BaseException as error:  # noqa: BLE001 - raised where it is awaited
        settle = partial(future.set_exception, error)

    def deliver() -> None:
        if not future.done():  # nobody waits any more
            settle()

    with suppress(RuntimeError):  # the loop was closed meanwhile
        loop.call_soon_threadsafe(deliver)
