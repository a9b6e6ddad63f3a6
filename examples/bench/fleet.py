"""Three hosts, each with a state directory of its own, one checkpointer, users, and kills.

`fleet.py [users] [turns] [kills] [same | any] [--redeploy N] [--postgres]`: each turn of a user
runs a command and writes a file, after an approval; messages and answers go to a host by chance,
and hosts are killed at work. A run that was under way on one goes on there when it is back (`same`,
default), or on any host (`any`), which does not know that a call had begun. It tells what became of
the commands. --redeploy: so many times a host is replaced by one with an empty state directory, and
ends when what it has begun is done. --postgres: the checkpointer is a PostgreSQL that is started
for it (Debian's `postgresql`; `pip install langgraph-checkpoint-postgres "psycopg[binary,pool]"`).
--shared: the hosts share one directory of state, too.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fleet_judge import FACTS, judge
from fleet_services import postgres, saver_at

HOSTS, AT_ONCE, KILLED_EVERY, REDEPLOYED_EVERY = 3, 6, 10.0, 7.0  # seconds


def turns_of(turns: int) -> list[Any]:
    """What the model says: the same to all users, whose directories differ."""
    from fsagent_tools.testing import call

    said: list[Any] = []
    for n in range(turns):
        command = f"sleep 0.2; echo turn {n} >> log; sleep 0.2"
        written = call("write", file_path=f"{n}.txt", content=f"{n}\n")
        said += [[call("bash", command=command), written], f"Done {n}."]
    return said


class Agent:
    """What answers at a host. at: where the directory of a user is."""

    def __init__(
        self, root: Path, turns: int, states: str, at: Callable[[str], Any], **options: Any
    ) -> None:
        from langchain.agents import create_agent

        from fsagent_tools.testing.langchain import ScriptedChatModel
        from fsagent_tools_langchain import FsAgentMiddleware

        def home(run: Any) -> Any:
            return at(f"{root}/{run.config['configurable']['thread_id']}")

        self._graph = create_agent(
            ScriptedChatModel(turns_of(turns)),
            middleware=[FsAgentMiddleware(home, approval=True, **options)],
            checkpointer=saver_at(states),
        )

    def answer(self, job: dict[str, Any]) -> dict[str, Any]:
        try:
            return step(self._graph, job)
        except Exception as error:  # noqa: BLE001  # told, and counted
            return {"status": "failed", "error": repr(error)}


def serve(root: Path, turns: int, states: str, *shared: str) -> None:
    """One host: jobs as JSON lines on stdin, what became of each on stdout."""
    state = {"state": root / "shared"} if shared else {}
    agent, lock = Agent(root, turns, states, Path, checkpoints=True, **state), threading.Lock()

    def answer(job: dict[str, Any]) -> None:
        told = {"id": job["id"], **agent.answer(job)}
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
    said = state.values.get("messages", [])
    if text not in [m.text for m in said if m.type == "human"]:
        found = graph.invoke({"messages": [("user", text)]}, thread)
    elif state.interrupts and job["approve"]:
        found = graph.invoke(Command(resume={i.id: approved(i) for i in state.interrupts}), thread)
    elif not state.interrupts and (state.next or said[-1].type != "ai" or said[-1].tool_calls):
        # `next` is empty, too, where a run was killed between what a step wrote and its checkpoint
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

    def __init__(self, root: Path, number: int, arguments: list[str]) -> None:
        self._state = str(root / f"state {number}")
        self._arguments = [str(root), *arguments]
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
            except (OSError, ValueError):  # it is about to be started again, or has retired
                self._waiting.pop(number, None)
                return None
        return future.result()

    def kill(self) -> None:
        self.process.kill()

    def retire(self) -> None:
        """End it when what it has begun is done."""
        with self._lock:
            self.over = True
            assert self.process.stdin
            self.process.stdin.close()
        self.process.wait()

    def end(self) -> None:
        self.over = True
        self.process.kill()
        self.process.wait()


def drive(user: str, turns: int, hosts: list[Host], again: str, seen: Counter[str]) -> list[str]:
    """All turns of one user; what the tools told at the end."""
    told: list[str] = []
    for turn in range(turns):
        slot, approve, answers = random.randrange(HOSTS), False, 0
        while True:
            found = hosts[slot].ask({"user": user, "turn": turn, "approve": approve})
            if found is None:
                seen["runs cut"] += 1
                slot, approve = slot if again == "same" else random.randrange(HOSTS), False
                time.sleep(0.2)
                continue
            if found["status"] == "failed":
                raise SystemExit(f"{user}, turn {turn}: {found['error']}")
            if found["status"] == "done":
                break
            approve, slot = True, random.randrange(HOSTS)
            answers += 1
        seen["approvals"] += answers
        told = found["tools"]
    return told


def kill(hosts: list[Host], fleet: Iterator[Host], times: int, seen: Counter[str]) -> None:
    for _ in range(times):
        time.sleep(KILLED_EVERY)
        random.choice(hosts).kill()
        seen["kills"] += 1


def redeploy(hosts: list[Host], fleet: Iterator[Host], times: int, seen: Counter[str]) -> None:
    for n in range(times):
        time.sleep(REDEPLOYED_EVERY)
        old, hosts[n % HOSTS] = hosts[n % HOSTS], next(fleet)
        old.retire()
        seen["redeploys"] += 1


def main(given: argparse.Namespace) -> None:
    users, turns = given.users, given.turns
    seen: Counter[str] = Counter()
    with TemporaryDirectory() as folder, ExitStack() as stack:
        root = Path(folder)
        states = stack.enter_context(postgres()) if given.postgres else str(root / "states.db")
        saver_at(states).setup()
        (root / "shared").mkdir()
        names = [f"user {n}" for n in range(users)]
        for name in names:
            (root / name).mkdir()
        begun = time.monotonic()
        arguments = [str(turns), states, *(["shared"] if given.shared else [])]
        fleet = (Host(root, n, arguments) for n in count())
        hosts = list(islice(fleet, HOSTS))
        for disturb, times in ((kill, given.kills), (redeploy, given.redeploy)):
            rest = hosts, fleet, times, seen
            threading.Thread(target=disturb, args=rest, daemon=True).start()
        with ThreadPoolExecutor(HOSTS * AT_ONCE) as pool:
            found = pool.map(lambda name: drive(name, turns, hosts, given.again, seen), names)
            for name, told in zip(names, found, strict=True):
                judge(root / name, turns, told, seen)
        for host in hosts:
            host.end()
        seconds = time.monotonic() - begun
    print(f"{users} users, {turns} turns each, {seconds:.0f} s, a cut run goes on: {given.again}")
    for fact in FACTS:
        print(f"  {fact}: {seen[fact]}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(Path(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
    else:
        parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
        for name, default in (("users", 30), ("turns", 2), ("kills", 5)):
            parser.add_argument(name, nargs="?", type=int, default=default)
        parser.add_argument("again", nargs="?", choices=["same", "any"], default="same")
        parser.add_argument("--redeploy", type=int, default=0, metavar="N")
        parser.add_argument("--postgres", action="store_true")
        parser.add_argument("--shared", action="store_true")
        main(parser.parse_args())
