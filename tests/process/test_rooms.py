"""One first process starts program after program while nothing is left over."""

import errno
import os
import time
from pathlib import Path

import pytest

import fsagent_tools
from fsagent_tools.errors import CommandFailed
from fsagent_tools.policy import Limits
from fsagent_tools.process import kept, room, running
from fsagent_tools.process.environment import environment
from fsagent_tools.process.launcher import Launcher, View
from fsagent_tools.process.running import Running, run
from fsagent_tools.process.script import Command
from fsagent_tools.sandbox.profile import UNCONFINED, Profile
from tests.conftest import DEADLINES, PATIENCE, alive, eventually

REPO = Path(fsagent_tools.__file__).parents[1]
OTHER = Limits(processes=8000)  # in another room
BEGUN = "cut -d' ' -f22 /proc/$PPID/stat"  # when the first process was started, in clock ticks
MARK = f"sleep 0.02; {BEGUN}"  # so that two of them differ


def test_a_clean_program_makes_room_for_the_next(sh):
    assert sh(MARK).output == sh(MARK).output


@pytest.mark.parametrize(
    ("script", "deadlines"),
    [
        ("echo ready; sleep 600 & exit", [PATIENCE]),
        ("trap '' TERM; echo ready; sleep 600; :", DEADLINES),
    ],
)
def test_what_had_to_be_ended_is_followed_by_a_new_one(sh, script, deadlines):
    before = sh(MARK).output
    assert any("ready" in sh(script, seconds).output for seconds in deadlines)
    assert sh(MARK).output != before


def test_a_first_process_is_not_used_for_ever(sh):
    assert len({sh(BEGUN).output for _ in range(101)}) == 2


def test_nothing_of_one_program_reaches_the_next(sh, tmp_path):
    sh("cd /; umask 0; export A=1; trap '' TERM; exec 3>&1; ulimit -n 50; kill -INT $PPID; exit 4")
    said = sh("pwd; umask; echo ${A-unset}; ls /proc/self/fd; ulimit -n; trap").output.split()
    fresh = sh("pwd; umask; echo ${A-unset}; ls /proc/self/fd; ulimit -n; trap", limits=OTHER)
    assert said == fresh.output.split()


def test_a_rule_about_a_file_holds_from_the_command_on_after_it_came(tmp_path):
    here, config = str(tmp_path), tmp_path / "config"
    profile = Profile((here,), read_only=(str(config),))
    command = Command("echo x >> config", here, environment((), here), profile)
    launcher = Launcher(View((here,)))
    assert run(command, PATIENCE, launcher).exit_code == 0
    new = tmp_path / "new"
    for _ in range(2):  # it came, it is replaced
        new.write_text("theirs")
        new.rename(config)
        done = run(command, PATIENCE, launcher)
        if not done.sandbox.startswith("namespaces"):
            pytest.skip("this system allows no namespaces here")
        assert done.exit_code == 1
        assert config.read_text() == "theirs"
    launcher.close()


NEVER_TELLS = f"""
import _socket, os, signal, sys
sys.path.insert(0, {str(REPO)!r})
spawn = os.posix_spawn
def never_told(*words, **how):
    pid = spawn(*words, **how)
    signal.pause()
    return pid
os.posix_spawn = never_told
from fsagent_tools.process.keeper import Tending
Tending(_socket.socket(fileno=int(sys.argv[1]))).run()
"""


@pytest.fixture
def kept_by(tmp_path, monkeypatch):
    """A function: text -> a launcher whose keepers run that program."""
    launchers = []

    def make(text):
        (tmp_path / "keeper.py").write_text(text)
        monkeypatch.setattr(kept.keeper, "__file__", str(tmp_path / "keeper.py"))
        launchers.append(Launcher(View((str(tmp_path),))))
        return launchers[-1]

    yield make
    for launcher in launchers:
        launcher.close()


@pytest.mark.parametrize("number", ["KILL", "STOP"])
def test_a_program_that_reaches_who_started_it_before_that_tells_runs_once_and_is_ended(
    tmp_path, kept_by, monkeypatch, number
):
    here, launcher = str(tmp_path), kept_by(NEVER_TELLS)
    monkeypatch.setattr(room, "ANSWER", 5)  # awaited in vain
    monkeypatch.setattr(running, "_PATIENCE", 1)
    script = f"echo x >> ran; (setsid sleep 97.2 &); kill -{number} $PPID; sleep 97.2"
    run(Command(script, here, environment((), here), UNCONFINED), 1, launcher)
    assert eventually((tmp_path / "ran").exists)
    assert eventually(lambda: not alive("sleep 97.2"))
    assert (tmp_path / "ran").read_text() == "x\n"


STOPPED = NEVER_TELLS.replace("signal.pause()", "os.kill(os.getpid(), signal.SIGSTOP)")


def test_who_was_stopped_before_it_tells_that_a_program_runs_is_told_to_go_on(
    tmp_path, kept_by, monkeypatch
):
    here, launcher = str(tmp_path), kept_by(STOPPED)
    monkeypatch.setattr(room, "ANSWER", 10 * PATIENCE)
    begun = time.monotonic()
    done = run(Command("echo x", here, environment((), here), UNCONFINED), PATIENCE, launcher)
    assert (done.output, done.exit_code) == ("x\n", 0)
    assert time.monotonic() - begun < room.ANSWER


@pytest.mark.parametrize("confined", [False, True])
def test_a_program_that_stops_who_started_it_is_ended_as_any_other(tmp_path, lacking, confined):
    lacking("namespaces")
    here, launcher = str(tmp_path), Launcher(View((str(tmp_path),)))
    profile = Profile((here,)) if confined else UNCONFINED
    script = "kill -STOP $PPID; trap 'exit 3' TERM; touch ready; while :; do sleep 0.1; done"
    for seconds in DEADLINES:
        done = run(Command(script, here, environment((), here), profile), seconds, launcher)
        if (tmp_path / "ready").exists():
            break
    assert (done.exit_code, done.survivors, done.timed_out) == (3, (), True)
    launcher.close()


FEW_PROCESSES = f"""
import _socket, errno, sys
sys.path.insert(0, {str(REPO)!r})
from fsagent_tools.process.keeper import Tending
from fsagent_tools.sandbox import kernel
fork, left = kernel.fork_into, [1]
def fork_once(flags):
    if not left:
        raise OSError(errno.EAGAIN, "no process is left")
    left.pop()
    return fork(flags)
kernel.fork_into = fork_once
Tending(_socket.socket(fileno=int(sys.argv[1]))).run()
"""


@pytest.mark.parametrize("confined", [True, False])
def test_what_runs_goes_on_where_nothing_more_can_be_started(tmp_path, kept_by, confined):
    here, launcher = str(tmp_path), kept_by(FEW_PROCESSES)
    profile = Profile((here,)) if confined else UNCONFINED
    waits = Command("cat; echo on", here, environment((), here), profile)
    going = Running(waits, launcher, has_input=True)
    for _ in range(2):
        with pytest.raises(CommandFailed, match="no process is left"):
            run(Command("true", here, environment((), here), profile), PATIENCE, launcher)
    os.close(going.stdin)
    while not going.exited:
        going.turn(1)
    going.finish()
    assert going.so_far().output == "on\n"


def test_nothing_is_awaited_when_the_time_for_it_is_over(tmp_path):
    here, launcher = str(tmp_path), Launcher(View((str(tmp_path),)))
    sleeps = Running(Command("sleep 60", here, environment((), here)), launcher)
    assert not sleeps._child.wait_gone(-1)
    sleeps.finish()
    launcher.close()


@pytest.mark.parametrize("busy", [BlockingIOError(errno.EAGAIN, "busy"), TimeoutError("busy")])
def test_a_busy_machine_confines_no_command_less(tmp_path, monkeypatch, busy):
    here = str(tmp_path)
    launcher = Launcher(View((here,)))
    command = Command("true", here, environment((), here), Profile((here,)))

    def popen(*words, **how):
        raise busy

    with monkeypatch.context() as machine:
        machine.setattr(kept.subprocess, "Popen", popen)
        with pytest.raises(CommandFailed, match="busy") as refused:
            run(command, PATIENCE, launcher)
        assert "Try again" in refused.value.hint
    other = Launcher(View((here,)))
    assert run(command, PATIENCE, launcher).sandbox == run(command, PATIENCE, other).sandbox
    launcher.close()
    other.close()
