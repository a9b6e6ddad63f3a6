"""What happens when a process may open no more files."""

import os
import resource
from concurrent.futures import ThreadPoolExecutor

import pytest

from fsagent_tools.errors import CommandFailed
from fsagent_tools.process import launcher
from fsagent_tools.process.environment import environment
from fsagent_tools.process.jobs import Jobs
from fsagent_tools.process.script import Command
from tests.conftest import PATIENCE

ENOUGH = 16  # for one command


@pytest.fixture
def descriptors():
    """`descriptors(n)` leaves `n` of them until it is called again."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = [os.dup(0) for _ in range(128)]  # no gap stays below

    def leave(number):
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        while len(taken) < 128:
            taken.append(os.dup(0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(taken) + 1, hard))
        for fd in [taken.pop() for _ in range(number)]:
            os.close(fd)

    yield leave
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for fd in taken:
        os.close(fd)


def test_a_command_without_descriptors_is_refused_and_takes_none(sh, descriptors):
    sh("true")
    before, refused = None, 0
    for number in range(ENOUGH):
        descriptors(number)
        try:
            assert sh("echo hi").output == "hi\n"
        except CommandFailed as error:
            assert "Too many open files" in str(error)  # noqa: PT017
            refused += 1
        descriptors(ENOUGH)
        now = len(os.listdir("/proc/self/fd"))
        assert now <= (before or now)
        before = now
    assert 0 < refused < ENOUGH
    assert sh("echo hi").output == "hi\n"


def test_a_job_without_descriptors_is_refused(sh, descriptors):
    launcher, jobs = sh.launcher, Jobs()
    command = Command("cat", "/", environment((), "/"))
    jobs.start(command, launcher).kill()
    refused = 0
    for number in range(ENOUGH):
        descriptors(number)
        try:
            job = jobs.start(command, launcher)
        except CommandFailed as error:
            assert "Too many open files" in str(error)  # noqa: PT017
            refused += 1
        else:
            job.kill()
        descriptors(ENOUGH)
    assert 0 < refused < ENOUGH


def test_few_commands_start_at_the_same_time(sh, monkeypatch):
    starting, most = [], 0
    start = launcher.Launcher.start

    def counted(*arguments):
        nonlocal most
        starting.append(1)
        most = max(most, len(starting))
        try:
            return start(*arguments)
        finally:
            starting.pop()

    monkeypatch.setattr(launcher.Launcher, "start", counted)
    with ThreadPoolExecutor(64) as pool:
        assert all(pool.map(lambda _: sh("true", PATIENCE).exit_code == 0, range(64)))
    assert most <= launcher._AT_ONCE
