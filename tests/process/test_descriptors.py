"""What happens when a process may open no more files."""

import os
import resource
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from fsagent_tools import Workspace, toolset
from fsagent_tools.errors import CommandFailed
from fsagent_tools.process import launcher
from fsagent_tools.process.environment import environment
from fsagent_tools.process.jobs import Jobs
from fsagent_tools.policy.programs import Programs
from fsagent_tools.process.reach import Reach
from fsagent_tools.process.script import Command
from fsagent_tools.search import ripgrep
from tests.conftest import PATIENCE

ENOUGH = 16  # for one command
MANY = 1100  # more than select(2) takes


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


@pytest.fixture
def _many_open():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < 2 * MANY:
        pytest.skip(f"no {2 * MANY} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * MANY, hard))
    taken = [os.dup(0) for _ in range(MANY)]
    yield
    for fd in taken:
        os.close(fd)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("_many_open")
def test_a_host_with_many_open_files_gives_a_job_its_input(sh):
    jobs = Jobs()
    job = jobs.start(Command("sleep 0.1; wc -c", "/", environment((), "/")), sh.launcher)
    job.write("x" * 1_000_000, PATIENCE, last=True)
    job.wait(PATIENCE)
    assert job.read().output.strip() == "1000000"
    jobs.close()


@pytest.mark.usefixtures("_many_open")
def test_a_host_with_many_open_files_knows_what_git_had(tmp_path):
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", tmp_path)
    (tmp_path / "a.txt").write_text("a\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "1")):
        subprocess.run([*git, *words], check=True)
    reach = Reach(str(tmp_path), Programs())
    reach.note([f"{tmp_path}/.git"])
    assert reach.has(f"{tmp_path}/a.txt", 0o100644, b"a\n")
    assert not reach.has(f"{tmp_path}/a.txt", 0o100644, b"b\n")


@pytest.mark.usefixtures("_many_open")
def test_a_host_with_many_open_files_searches_without_ripgrep(root, monkeypatch):
    monkeypatch.setattr(ripgrep, "find_ripgrep", lambda programs: None)
    (root / "a.txt").write_text("needle\n")
    found = toolset("workspace").bind(Workspace(root))["grep"].call({"pattern": "needle"})
    assert (found.ok, found.data["count"]) == (True, 1)
