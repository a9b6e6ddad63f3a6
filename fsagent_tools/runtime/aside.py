"""Work in a thread of its own that its caller need not wait for to the end."""

import _thread
import time
from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import TypeVar

_T = TypeVar("_T")


def aside(work: Callable[[], _T], until: float | None = None) -> _T:
    """The result of `work`, which runs in a thread, in this context. Raises what it raises.

    Raises `TimeoutError` when the monotonic time `until` has passed first: then `work` goes on by
    itself, and what comes of it is lost. The thread is a bare one, as `threading.Thread` costs two
    more switches between threads.
    """
    done = SimpleQueue[tuple[list[_T], BaseException | None]]()
    context = copy_context()

    def run() -> None:
        try:
            done.put(([context.run(work)], None))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            done.put(([], error))

    _thread.start_new_thread(run, ())
    try:
        results, error = done.get(
            timeout=None if until is None else max(until - time.monotonic(), 0)
        )
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return results[0]
