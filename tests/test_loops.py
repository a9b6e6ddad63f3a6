"""Awaited calls: who waits keeps nobody from working."""

import asyncio
import os
import threading
import warnings

from fsagent_tools import Workspace, toolset
from fsagent_tools.toolkit.asyncio_bridge import WORKERS, in_thread, waiting_on_this_loop
from tests.conftest import PATIENCE


async def test_commands_that_wait_leave_the_short_work_alone(tmp_path):
    tools = toolset("workspace").bind(Workspace(tmp_path))
    os.mkfifo(tmp_path / "gate")
    command = {"command": "read line < gate", "timeout": 60}
    waiting = [asyncio.create_task(tools["bash"].acall(command)) for _ in range(WORKERS + 4)]
    (tmp_path / "a.txt").write_text("one\n")
    for _ in range(3):
        assert (await tools["read"].acall({"file_path": "a.txt"})).ok
    assert not any(task.done() for task in waiting)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_what_is_given_up_before_a_worker_has_time_for_it_is_not_begun():
    go, begun = threading.Event(), []
    busy = [
        asyncio.create_task(in_thread(lambda: go.wait(PATIENCE), waits=False))
        for _ in range(WORKERS)
    ]
    late = asyncio.create_task(in_thread(lambda: begun.append(True), waits=False))
    await asyncio.sleep(0)
    late.cancel()
    await asyncio.wait([late])
    go.set()
    assert all(await asyncio.gather(*busy))
    await in_thread(lambda: None, waits=False)
    assert not begun


async def test_a_call_works_in_a_forked_process(tmp_path):
    tools = toolset("workspace").bind(Workspace(tmp_path))
    assert (await tools["ls"].acall({})).ok
    with warnings.catch_warnings(action="ignore"):  # Python 3.12 warns of threads
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            asyncio.events._set_running_loop(None)
            status = 0 if asyncio.run(tools["ls"].acall({})).ok else 2
        finally:
            os._exit(status)
    _, status = await asyncio.to_thread(os.waitpid, pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


async def test_an_answer_that_comes_while_a_look_ends_is_taken(monkeypatch):
    class Answered:
        """It was not there for as long as was waited, and is there now."""

        def result(self, timeout=None):
            if timeout is not None:
                raise TimeoutError
            return "answer"

        def done(self):
            return True

    def run_coroutine_threadsafe(awaitable, loop):
        awaitable.close()
        return Answered()

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", run_coroutine_threadsafe)
    assert waiting_on_this_loop()(asyncio.get_running_loop().create_future()) == "answer"
