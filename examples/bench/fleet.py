"""Three hosts, each with a state directory of its own, one checkpointer, users, and kills.

`fleet.py [users] [turns] [kills] [same | any]`: each turn of a user runs a command and writes a
file, after an approval; every message and every answer goes to a host by chance, and hosts are
killed at work. A run that was under way on one goes on there when it is back (`same`, default), or
on any host (`any`), which does not know that a call had begun. Told is what became of the commands.
"""

import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HOSTS, AT_ONCE, KILLED_EVERY = 3, 6, 10.0  # seconds
UNKNOWN = "is not known"  # of a call that began and whose end nobody saw


def turns_of(turns: int) -> list[Any]:
    """What the model says: the same to all users, whose directories differ."""
    from fsagent_tools.testing import call

    said: list[Any] = []
    for n in range(turns):
        command = f"sleep 0.2; echo turn {n} >> log; sleep 0.2"
        written = call("write", file_path=f"{n}.txt", content=f"{n}\n")
        said += [[call("bash", command=command), written], f"Done {n}."]
    return said


def serve(root: Path, turns: int) -> None:
    """One host: jobs as JSON lines on stdin, what became of each on stdout."""
    from langchain.agents import create_agent
    from langgraph.checkpoint.sqlite import SqliteSaver

    from fsagent_tools.testing.langchain import ScriptedChatModel
    from fsagent_tools_langchain import FsAgentMiddleware

    def home(run: Any) -> Path:
        return root / str(run.config["configurable"]["thread_id"])

    connection = sqlite3.connect(root / "states.db", check_same_thread=False, timeout=120)
    graph = create_agent(
        ScriptedChatModel(turns_of(turns)),
        middleware=[FsAgentMiddleware(home, approval=True, checkpoints=True)],
        checkpointer=SqliteSaver(connection),
    )
    lock = threading.Lock()

    def answer(job: dict[str, Any]) -> None:
        try:
            told = {"id": job["id"], **step(graph, job)}
        except Exception as error:  # noqa: BLE001  # told, and counted
            told = {"id": job["id"], "status": "failed", "error": repr(error)}
        with lock:
            print(json.dumps(told), flush=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for line in sys.stdin:
            pool.submit(answer, json.loads(line))


def step(graph: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Say it, or answer what waits, or go on from where the thread is."""
    from langgraph.types import Command

    thread = {"configurable": {"thread_id": job["user"]}}
    state, text = graph.get_state(thread), f"turn {job['turn']}"
    heard = [m.text for m in state.values.get("messages", ()) if m.type == "human"]
    if text not in heard:
        found = graph.invoke({"messages": [("user", text)]}, thread)
    elif state.interrupts and job["approve"]:
        found = graph.invoke(Command(resume={i.id: approved(i) for i in state.interrupts}), thread)
    elif state.next and not state.interrupts:
        found = graph.invoke(None, thread)
    else:
        found = state.values
    waits = graph.get_state(thread).interrupts
    tools = [m.text for m in found["messages"] if m.type == "tool"]
    return {"status": "waiting" if waits else "done", "tools": tools}


def approved(interrupt: Any) -> dict[str, Any]:
    return {"decisions": [{"type": "approve"} for _ in interrupt.value["action_requests"]]}


class Host:
    """A process that is started again when it was killed."""

    def __init__(self, root: Path, number: int, turns: int) -> None:
        self._state, self._arguments = str(root / f"state {number}"), [str(root), str(turns)]
        self._waiting: dict[int, Future[Any]] = {}
        self._ids, self._lock = count(), threading.Lock()
        self.over = False
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, "serve", *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "XDG_STATE_HOME": self._state},
        )
        threading.Thread(target=self._listen, args=(self.process,), daemon=True).start()

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout
        for line in process.stdout:
            try:
                told = json.loads(line)
            except ValueError:  # killed while it wrote
                break
            self._waiting.pop(told["id"]).set_result(told)
        with self._lock:
            lost, self._waiting = self._waiting, {}
            if not self.over:
                self._start()
        for one in lost.values():
            one.set_result(None)

    def ask(self, job: dict[str, Any]) -> Any:
        """What became of it; None if the host died."""
        future: Future[Any] = Future()
        with self._lock:
            self._waiting[number := next(self._ids)] = future
            try:
                assert self.process.stdin
                self.process.stdin.write(json.dumps({**job, "id": number}) + "\n")
                self.process.stdin.flush()
            except OSError:  # it is about to be started again
                self._waiting.pop(number)
                return None
        return future.result()


def drive(user: str, turns: int, hosts: list[Host], again: str, seen: Counter[str]) -> list[str]:
    """All turns of one user; what the tools told at the end."""
    told: list[str] = []
    for turn in range(turns):
        host, approve, answers = random.choice(hosts), False, 0
        while True:
            found = host.ask({"user": user, "turn": turn, "approve": approve})
            if found is None:
                seen["runs cut by a kill"] += 1
                host, approve = host if again == "same" else random.choice(hosts), False
                time.sleep(0.2)
                continue
            if found["status"] == "failed":
                raise SystemExit(f"{user}, turn {turn}: {found['error']}")
            if found["status"] == "done":
                break
            approve, host = True, random.choice(hosts)
            answers += 1
        seen["approvals"] += answers
        told = found["tools"]
    return told


def main(users: int, turns: int, kills: int, again: str) -> None:
    seen: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        root = Path(folder)
        names = [f"user {n}" for n in range(users)]
        for name in names:
            (root / name).mkdir()
        hosts, begun = [Host(root, n, turns) for n in range(HOSTS)], time.monotonic()

        def kill() -> None:
            for _ in range(kills):
                time.sleep(KILLED_EVERY)
                random.choice(hosts).process.kill()
                seen["kills"] += 1

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        with ThreadPoolExecutor(HOSTS * AT_ONCE) as pool:
            found = pool.map(lambda name: drive(name, turns, hosts, again, seen), names)
            for name, told in zip(names, found, strict=True):
                judge(root / name, turns, told, seen)
        for host in hosts:
            host.over = True
            host.process.kill()
            host.process.wait()
        seconds = time.monotonic() - begun
    print(f"{users} users, {turns} turns each, {seconds:.0f} s, a cut run goes on: {again}")
    for fact in ("approvals", "kills", "runs cut by a kill", "ran once", "told as unknown"):
        print(f"  {fact}: {seen[fact]}")
    for fact in ("unknown that ran", "told as done and lost", "ran twice", "files missing"):
        print(f"  {fact}: {seen[fact]}")


def judge(home: Path, turns: int, told: list[str], seen: Counter[str]) -> None:
    """Count what became of the turns of one user: each has told of a command and of a file."""
    log = home / "log"
    ran = Counter(log.read_text().splitlines() if log.exists() else ())
    for n in range(turns):
        times, unknown = ran[f"turn {n}"], UNKNOWN in told[2 * n]
        seen["told as unknown"] += unknown
        seen["unknown that ran"] += unknown and times > 0
        seen["told as done and lost"] += not unknown and not times
        seen["ran once"] += times == 1
        seen["ran twice"] += times > 1
        seen["files missing"] += not (home / f"{n}.txt").exists() and UNKNOWN not in told[2 * n + 1]


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        given = [*sys.argv[1:], *["30", "2", "5", "same"][len(sys.argv) - 1 :]]
        main(*map(int, given[:3]), given[3])
