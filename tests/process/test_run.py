"""Real commands: what comes back, when, and what is left running."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fsagent_tools.call import CallContext, HostError, current
from fsagent_tools.errors import Cancelled, CommandFailed
from fsagent_tools.policy import Limits
from fsagent_tools.process import keeper, running
from fsagent_tools.process import script as scripts
from fsagent_tools.process.environment import environment
from fsagent_tools.process.launcher import Launch, Launcher
from fsagent_tools.process.room import InRoom
from fsagent_tools.process.running import run
from fsagent_tools.process.script import Command
from tests.conftest import DEADLINES, PATIENCE, alive, no_new_descriptor, soon


@pytest.mark.parametrize(
    ("script", "output", "code"),
    [
        ("echo out; echo err >&2", "out\nerr\n", 0),
        ("printf 'no newline'", "no newline", 0),
        ("exit 3", "", 3),
        ("kill -9 $$", "", 137),
        ("printf 'a\\377\\0b'", "a\ufffd\\x00b", 0),
        ("yes | head -1", "y\n", 0),
        ("cat; echo end of input", "end of input\n", 0),
        ("[[ a == a ]] && echo bash", "bash\n", 0),
        ("echo $0 $#", f"{scripts._shell()} 0\n", 0),
    ],
)
def test_a_command_gives_its_output_and_its_exit_code(sh, script, output, code):
    done = sh(script)
    assert (done.output, done.stderr, done.exit_code) == (output, "", code)
    assert not any((done.truncated, done.timed_out, done.stopped, done.survivors))


def test_there_is_no_terminal_to_ask_on(sh):
    done = sh("read x </dev/tty; echo rc=$?")
    assert "rc=1" in done.output


def test_a_time_out_keeps_the_output_so_far(sh):
    for seconds in DEADLINES:
        done = sh("echo before; sleep 600", seconds)
        assert done.timed_out
        if done.output:
            break
    assert done.output == "before\n"
    assert done.duration < PATIENCE


@pytest.mark.parametrize(
    "script",
    [
        "sleep 7001",
        "sleep 7001 & sleep 7001",
        "setsid -w sleep 7001",
        "(env -i setsid sleep 7001 &) ; sleep 600",
        "setsid setsid nohup sleep 7001 >/dev/null 2>&1 & sleep 600",
        "env -i setsid sleep 7001 & sleep 600",
        "(setsid bash -c 'sleep 7001; :' &) ; sleep 600",
        "trap '' TERM INT HUP; sleep 7001; sleep 7001",
        'python3 -c "import os,time; os.fork() or os.setsid() or os.fork() or '
        "os.execlp('sleep','sleep','7001'); time.sleep(600)\"",
    ],
)
def test_a_time_out_ends_the_whole_tree(sh, script):
    done = sh(script, 0.7)
    assert done.timed_out
    assert not done.survivors
    assert done.duration < PATIENCE
    assert not alive("sleep 7001")


def test_a_fork_bomb_is_ended(sh):
    done = sh("ulimit -u 100000; f() { sleep 7002 & f; }; f", 0.5)
    assert not done.survivors
    assert not alive("sleep 7002")


@pytest.mark.parametrize(
    "script",
    ["sleep 7003 & echo hi", "(setsid nohup sleep 7003 >/dev/null 2>&1 &) ; echo hi"],
)
def test_a_child_left_in_the_background_delays_nothing_and_is_ended(sh, script):
    done = sh(script)
    assert (done.output, done.exit_code, done.timed_out) == ("hi\n", 0, False)
    assert len(done.stopped) == 1  # under whichever name it had by then
    assert not alive("sleep 7003")


def test_output_that_follows_the_exit_closely_is_kept(sh, monkeypatch):
    monkeypatch.setattr(running, "DRAIN", PATIENCE)  # closely, on a machine that is slow
    assert sh("echo early > >(cat; echo late)").output == "early\nlate\n"


def test_a_process_of_somebody_else_is_never_touched(sh, tmp_path):
    with subprocess.Popen(["sleep", "7004"], start_new_session=True) as other:
        sh("sleep 600 & setsid sleep 600 & sleep 600", 0.3)
        assert other.poll() is None
        other.kill()


def test_what_sigkill_cannot_end_is_reported_and_not_waited_for(monkeypatch, sh):
    for name in ("terminate", "kill", "end"):
        monkeypatch.setattr(InRoom, name, lambda _: None)
    monkeypatch.setattr(running, "_PATIENCE", 0.2)
    done = sh("sleep 600", 0.1)
    assert done.exit_code is None
    assert done.survivors


@pytest.mark.parametrize(
    ("script", "timeout"), [("sleep 7007 & echo hi", PATIENCE), ("sleep 7007 & sleep 7007", 0.5)]
)
@pytest.mark.parametrize("pidfd", [True, False])
def test_without_a_keeper_the_group_is_still_ended(monkeypatch, bare_sh, script, timeout, pidfd):
    if not pidfd:
        monkeypatch.delattr(os, "pidfd_open")
    done = bare_sh(script, timeout)
    assert done.timed_out == ("echo" not in script)
    assert not done.survivors
    assert not alive("sleep 7007")


def rss():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.parametrize(
    ("script", "timeouts"),
    [("yes", DEADLINES), ("head -c 200000000 /dev/zero | tr '\\0' x", [PATIENCE])],
)
def test_a_flood_takes_neither_memory_nor_time(sh, script, timeouts):
    sh("yes | head -c 1000000")
    before, peak, stop = rss(), [0.0], threading.Event()

    def watch():
        while not stop.wait(0.01):
            peak[0] = max(peak[0], rss())

    watcher = threading.Thread(target=watch)
    watcher.start()
    for timeout in timeouts:
        done = sh(script, timeout)
        if done.truncated:
            break
    stop.set()
    watcher.join()
    assert peak[0] - before < 20
    assert done.duration < 2 * PATIENCE
    assert done.truncated
    assert len(done.output.encode()) < 51_200 + 100
    assert "bytes left out" in done.output


def test_commands_in_parallel_are_not_mixed_up(sh):
    def one(number):
        script = f"for i in 1 2 3; do echo {number}; echo e{number} >&2; done; exit {number}"
        done = sh(script, separate=True)
        return (done.output, done.stderr, done.exit_code)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(50)))
    assert answers == [(f"{n}\n" * 3, f"e{n}\n" * 3, n) for n in range(50)]


def test_a_command_of_200_kb_runs(sh, tmp_path):
    script = "".join(f"echo {i:08}\n" for i in range(15_000))
    done = sh(script, max_output=1_000_000, keep_in=str(tmp_path))
    assert len(script) > 200_000
    assert done.output == "".join(f"{i:08}\n" for i in range(15_000))
    assert sh(script + "exit 7").exit_code == 7


def test_a_line_of_200_kb_runs(sh):
    assert sh("echo x;" * 30_000 + "exit 7").exit_code == 7


def test_no_file_descriptor_is_lost(sh):
    for script, timeout in (
        ("true", PATIENCE),
        ("sleep 9 & :", PATIENCE),
        ("exit 1", PATIENCE),
        ("sleep 9", 0.1),
    ):
        with no_new_descriptor():
            for _ in range(4):  # more than the rooms that are kept for the next program
                sh(script, timeout)
            sh.close()


def test_output_is_emitted_while_the_command_runs(sh, tmp_path):
    heard = []

    def hear(text):
        heard.append(text)
        (tmp_path / f"heard{len(heard)}").touch()

    token = current.set(CallContext(emit=hear))
    wait = "until [ -e heard1 ]; do sleep 0.02; done"
    try:
        done = sh(f"echo one; {wait}; printf '\\303'; sleep 0.1; printf '\\251'; echo two >&2")
    finally:
        current.reset(token)
    assert not done.timed_out  # it waits until its first word has been heard
    assert "".join(heard) in ("one\nétwo\n", "one\ntwo\né")


def test_cancelling_the_call_ends_the_command(sh):
    call = CallContext()
    token = current.set(call)
    threading.Timer(0.2, call.cancelled.set).start()
    try:
        with soon(), pytest.raises(Cancelled):
            sh("sleep 7005", 2 * PATIENCE)
    finally:
        current.reset(token)
    assert not alive("sleep 7005")


def test_a_sink_that_fails_leaves_no_process(sh):
    def broken(_text):
        raise RuntimeError("sink")

    token = current.set(CallContext(emit=broken))
    try:
        with pytest.raises(HostError, match="sink"):  # `Tool.call` hands the host its own error
            sh("echo hi; sleep 7006")
    finally:
        current.reset(token)
    assert not alive("sleep 7006")


def test_a_directory_that_is_gone_is_a_clear_error(tmp_path):
    with pytest.raises(CommandFailed, match="could not be started: No such file"):
        run(Command("true", str(tmp_path / "gone"), {}), 5, Launcher())


LIMITED = pytest.mark.parametrize(
    ("limits", "script"),
    [
        (Limits(memory="500MB"), "python3 -c 'bytearray(1 << 30)'"),
        (Limits(file_size="1MB"), "head -c 10M /dev/zero > fill.bin"),
        (Limits(cpu_seconds=1), "while :; do :; done"),
        (Limits(open_files=10), "exec 20</dev/null"),
        (Limits(processes=77), "[ $(ulimit -u) != 77 ]"),
    ],
)


@LIMITED
def test_a_limit_of_the_policy_holds_without_a_keeper(bare_sh, tmp_path, limits, script):
    test_a_limit_of_the_policy_holds(bare_sh, tmp_path, limits, script)


def test_a_plain_child_ignores_no_signal_and_need_not_be_found(bare_sh, tmp_path):
    assert bare_sh("yes | head -1").output == "y\n"
    assert "PIPE" not in bare_sh("trap -p; python3 -c 'print(1)' | true").both
    gone = Launch(["/nonexistent/program"], {}, str(tmp_path))
    with pytest.raises(CommandFailed, match="No such file"):
        Launcher().start(gone, (0, 1, 2))


@LIMITED
def test_a_limit_of_the_policy_holds(sh, tmp_path, limits, script):
    done = sh(script, 10 * PATIENCE, limits=limits)
    assert done.exit_code
    assert not done.timed_out
    assert not (tmp_path / "fill.bin").exists() or (tmp_path / "fill.bin").stat().st_size <= 2**20


def test_the_shell_is_sh_where_there_is_no_bash(sh, monkeypatch):
    monkeypatch.setattr(scripts, "_shell", lambda: "/bin/sh")
    assert sh("echo $0; ulimit -f", limits=Limits(file_size="1MB")).output == "/bin/sh\n2048\n"
    assert sh("echo hi\n" * 20_000).exit_code == 0


def test_the_environment_is_an_allow_list(sh, monkeypatch):
    for name in ("SECRET_TOKEN", "LD_PRELOAD", "BASH_ENV", "PYTHONSTARTUP", "GIT_DIR"):
        monkeypatch.setenv(name, "/nonexistent/abc123")
    monkeypatch.setenv("LC_TIME", "C")
    seen = sh("env").output
    assert "abc123" not in seen
    assert "LC_TIME=C" in seen
    assert environment(("SECRET_*",), "/tmp")["SECRET_TOKEN"] == "/nonexistent/abc123"


def test_importing_the_package_does_not_import_this(tmp_path):
    script = "import sys, fsagent_tools; print('fsagent_tools.process' in sys.modules)"
    seen = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert seen.stdout == b"False\n"


def test_a_keeper_imports_little_since_a_first_command_waits_for_it():
    words = [sys.executable, "-I", "-S", "-v", keeper.__file__, "no descriptor"]
    seen = subprocess.run(words, capture_output=True, text=True).stderr
    assert "import 'signal'" in seen
    for module in ("dataclasses", "inspect", "pathlib", "subprocess", "socket"):
        assert f"import '{module}'" not in seen


def test_a_host_that_ignores_its_children_hears_how_commands_end(tmp_path):
    script = (
        "import signal, sys; from fsagent_tools import Workspace\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "print(Workspace(sys.argv[1]).run('exit 3').exit_code)\n"
    )
    argv = [sys.executable, "-c", script, str(tmp_path)]
    assert subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE).stdout == "3\n"
