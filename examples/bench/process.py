"""What a shell command costs here and elsewhere, and which hard cases each tool gets right.

Run `python examples/bench/process.py`; deepagents and langchain are compared when installed. Every
case runs in a process of its own, so that a tool that hangs or crashes harms no other. What the
confinement of a child costs is in `children.py`.
"""

import os
import random
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROUNDS = 200
DEADLINE = 30  # seconds that a case may take before it counts as failed
PORT_PLACE = "$PORT"
Call = Callable[[str], str]


def ours(ws: Path, timeout: int) -> Call:
    from fsagent_tools import Workspace, toolset

    tool = toolset("workspace").bind(Workspace(ws))["bash"]
    return lambda command: tool.call({"command": command, "timeout": timeout}).text


def plain(ws: Path, timeout: int) -> Call:
    def call(command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", command], cwd=ws, capture_output=True, timeout=timeout, check=False
        )
        return f"{done.stdout.decode()}{done.stderr.decode()}\nexit code {done.returncode}"

    return call


def deepagents(ws: Path, timeout: int) -> Call:
    from deepagents.backends import LocalShellBackend

    backend = LocalShellBackend(ws, virtual_mode=False, timeout=timeout)
    return lambda command: backend.execute(command).output


def langchain(ws: Path, timeout: int) -> Call:
    from langchain.agents.middleware import HostExecutionPolicy, ShellToolMiddleware

    middleware = ShellToolMiddleware(
        ws, execution_policy=HostExecutionPolicy(command_timeout=timeout)
    )
    resources = middleware._get_or_create_resources({})

    def call(command: str) -> str:
        answer = middleware._run_shell_tool(resources, {"command": command}, tool_call_id=None)
        return answer if isinstance(answer, str) else str(answer.content)

    return call


TOOLS = {
    "fsagent_tools": ours,
    "subprocess.run": plain,
    "deepagents LocalShellBackend": deepagents,
    "langchain ShellToolMiddleware": langchain,
}


@dataclass(frozen=True)
class Case:
    """A command and what must be true of its text, its seconds, and the world afterwards."""

    name: str
    command: str
    holds: Callable[[str], bool]
    timeout: int = 10
    seconds: float = 10
    memory: float = 1000  # MB of growth
    ends: str = ""  # argument of a `sleep` that must not be left
    outside: bool = False


CASES = (
    Case("exit code told", "exit 3", lambda t: "3" in t),
    Case("stdin closed", "cat; echo end", lambda t: "end" in t, seconds=2),
    Case("no final newline", "printf abc", lambda t: "abc" in t),
    Case("binary output", "printf 'a\\377\\0b'", lambda t: t.startswith("a") and "b" in t),
    Case("200 kB command", "echo x;" * 28_000 + "echo done", lambda t: "done" in t),
    Case("NUL refused in words", "echo a\0b", lambda t: "NUL" in t or "null byte" in t),
    Case("`yes` for 1 s: < 1.5 s, < 20 MB", "yes", bool, timeout=1, seconds=1.5, memory=20),
    Case(
        "200 MB of output: < 20 MB",
        "head -c 200000000 /dev/zero | tr '\\0' x",
        bool,
        timeout=25,
        seconds=25,
        memory=20,
    ),
    Case("end of long output kept", "seq 100000; echo last", lambda t: "last" in t),
    Case("output kept on time-out", "echo sofar; sleep 20", lambda t: "sofar" in t, timeout=1),
    Case("time-out ends TERM-proof child", "trap '' TERM; sleep 9101", bool, 1, 5, ends="9101"),
    Case("time-out ends setsid child", "setsid sleep 9102 & sleep 60", bool, 1, 5, ends="9102"),
    Case("background child: no wait", "sleep 6 & echo hi", lambda t: "hi" in t, seconds=2),
    Case("background child ended", "(setsid sleep 9103 >&- 2>&- &); echo", bool, ends="9103"),
    Case("secrets not in environment", "env", lambda t: "s3cret" not in t),
    Case("write outside refused", "echo x > ../outside/a", bool, outside=True),
    Case(
        "link out of the workspace refused", "ln -s .. l; echo x > l/outside/a", bool, outside=True
    ),
    Case(
        "network closed",
        f"python3 -c \"import socket; socket.create_connection(('127.0.0.1', {PORT_PLACE}))\""
        " && echo reached",
        lambda t: "reached" not in t,
    ),
)


def passes(case: Case, make: Callable[[Path, int], Call]) -> str:
    """Empty, or why not."""
    base = Path(tempfile.mkdtemp())
    for name in ("ws", "outside"):
        (base / name).mkdir()
    call = make(base / "ws", case.timeout)
    server = socket.create_server(("127.0.0.1", 0))
    command = case.command.replace(PORT_PLACE, str(server.getsockname()[1]))
    call("true")
    before, begin = peak(), time.perf_counter()
    try:
        text = call(command)
    except Exception as error:  # noqa: BLE001  an exception that leaves the tool is the finding
        return f"raises {type(error).__name__}"
    seconds, grown = time.perf_counter() - begin, peak() - before
    time.sleep(0.3)
    wrong = {
        f"took {seconds:.1f} s": seconds > case.seconds,
        f"grew {grown:.0f} MB": grown > case.memory,
        f"says {text[:40]!r}": not case.holds(text),
        "process left": bool(case.ends) and ended(case.ends) > 0,
        "written outside": case.outside and any((base / "outside").iterdir()),
    }
    shutil.rmtree(base)
    return ", ".join(words for words, is_wrong in wrong.items() if is_wrong)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ended(word: str) -> int:
    """Ends the `sleep word` processes that are left; their number."""
    found = subprocess.run(["pgrep", "-fx", f"sleep {word}"], capture_output=True, text=True)
    for pid in found.stdout.split():
        os.kill(int(pid), 9)
    return len(found.stdout.split())


def parallel(make: Callable[[Path, int], Call]) -> str:
    call = make(Path(tempfile.mkdtemp()), 10)
    with ThreadPoolExecutor(8) as pool:
        try:
            texts = list(pool.map(lambda n: call(f"echo n{n}n; echo n{n}n"), range(50)))
        except Exception as error:  # noqa: BLE001
            return f"raises {type(error).__name__}"
    mixed = sum(text.count(f"n{n}n") != 2 for n, text in enumerate(texts))
    return f"{mixed} of 50 wrong" if mixed else ""


def installed() -> dict[str, Callable[[Path, int], Call]]:
    found = {}
    for name, make in TOOLS.items():
        try:
            make(Path(tempfile.mkdtemp()), 10)("true")
            found[name] = make
        except ImportError:
            print(f"{name}: not installed")
    return found


def cost() -> None:
    """`bash -c :`, one call of each in turn, in random order: a call after an idle one starts cold.

    On a busy machine a session of its own costs a scheduling delay that the fastest does not show.
    """
    calls = {name: make(Path(tempfile.mkdtemp()), 10) for name, make in installed().items()}
    took: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in random.sample(list(calls.items()), len(calls)):
            begin = time.perf_counter()
            call(":")
            took[name].append(time.perf_counter() - begin)
    for label, measure in (("median", statistics.median), ("fastest", min)):
        base = measure(took["subprocess.run"])
        for name, times in took.items():
            spent = measure(times)
            print(f"{name:32} {label:8} {spent * 1000:6.2f} ms  {spent / base:4.2f} x")


def table() -> None:
    names = list(installed())
    print(f"{'':36} " + " | ".join(names))
    for number in range(len(CASES) + 1):
        row = [verdict(name, number) or "ok" for name in names]
        title = CASES[number].name if number < len(CASES) else "50 in parallel, none mixed up"
        print(f"{title:36} " + " | ".join(row), flush=True)


def verdict(tool: str, number: int) -> str:
    command = [sys.executable, __file__, tool, str(number)]
    env = {**os.environ, "MY_TOKEN": "s3cret"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env
    ) as child:
        try:
            return child.communicate(timeout=DEADLINE)[0].strip().removeprefix("verdict:")
        except subprocess.TimeoutExpired:
            child.kill()
            return f"hangs for {DEADLINE} s"


def main() -> None:
    if len(sys.argv) == 3:
        make, number = TOOLS[sys.argv[1]], int(sys.argv[2])
        print("verdict:" + (passes(CASES[number], make) if number < len(CASES) else parallel(make)))
        sys.stdout.flush()
        os._exit(0)  # a tool's own threads must not keep the verdict waiting
    cost()
    table()


if __name__ == "__main__":
    main()
