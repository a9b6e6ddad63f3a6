"""Awaited calls: who waits keeps nobody from working."""

import asyncio
import os
import warnings

from fsagent_tools import Workspace, toolset
from fsagent_tools.loops import WORKERS


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
