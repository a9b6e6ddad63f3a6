"""Run a shell command: deadline, bounded output, no process left behind."""

import time
from collections.abc import Callable

from fsagent_tools.call import current
from fsagent_tools.errors import Cancelled
from fsagent_tools.process.launcher import Launcher
from fsagent_tools.process.running import Running
from fsagent_tools.process.script import Command
from fsagent_tools.replies import Completed


def run(
    command: Command,
    timeout: float,
    launcher: Launcher,
    *,
    keep: Callable[[Running], None] | None = None,
) -> Completed:
    """Run to the end or for `timeout` seconds, emitting output to the call in progress.

    keep: gets what still runs by then, in place of its end. Raises `CommandFailed` when it cannot
    be started and `Cancelled` when the caller gave up; no process is left in either case.
    """
    call = current.get()
    running = Running(command, launcher, call.say if call.emit else None)
    try:
        deadline = time.monotonic() + timeout
        with call.cancelled.waking(running.wake):
            while not running.exited and not call.cancelled.is_set():
                left = deadline - time.monotonic()
                running.timed_out = left <= 0
                if running.timed_out:
                    break
                running.turn(left)
    finally:
        kept = keep is not None and running.timed_out
        if not kept:
            running.finish()
    if kept and keep:
        done, running.streams.emit, running.timed_out = running.so_far(consume=True), None, False
        keep(running)
        return done
    if not running.timed_out and call.cancelled.is_set():
        raise Cancelled(
            "The call was cancelled and the command was stopped.",
            hint="What it had changed by then stays changed.",
        )
    return running.so_far()
