"""One agent, one task, one set of tools: a function of plain values, so that it runs anywhere."""

import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.errors import GraphRecursionError
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.workflow import WorkflowRuntimeError

from benchmark.agent import contenders
from benchmark.agent.contenders import Made
from benchmark.agent.fetched import AnyTask, Fetched
from benchmark.agent.models import (
    STDIO,
    NoWay,
    WrongKey,
    model,
    refused,
    script,
    unreachable,
)
from benchmark.agent.source import Files
from benchmark.agent.stdio import AtStdio

Record = dict[str, Any]
SYSTEM = "You work on code with the tools you have. All paths are relative to the repository."


@dataclass(frozen=True)
class Job:
    """rate: requests a minute of this worker. turns: most answers of the model.

    kept: the directory for what a model at standard input calls.
    """

    task: AnyTask
    contender: str
    model: str
    framework: str = "langchain"
    run: int = 0
    turns: int = 40
    rate: float | None = None
    kept: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What a record of it is known by."""
        return self.task.id, self.contender, self.model, self.framework, self.run


def attempt(job: Job, files: Files) -> Record:
    """What became of it. Raises what the model's provider raises: then the job is still open.

    `WrongKey` stands for any error by which a provider refuses the key, `NoWay` for one by which it
    cannot be reached; Ray can send them.
    """
    record = {
        "task": job.task.id, "kind": job.task.kind, "contender": job.contender, "model": job.model,
        "framework": job.framework, "run": job.run,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        job.task.lay(root, files)
        commands = isinstance(job.task, Fetched)
        made = contenders.made(job.contender, job.framework, root, job.model, commands=commands)
        begun = time.monotonic()
        try:
            play = llamaindex if job.framework == "llamaindex" else langchain
            told = play(job, made, files)
        except Exception as error:
            if refused(error):
                raise WrongKey(" ".join(str(error).split())) from None
            if reason := unreachable(error):
                raise NoWay(reason) from None
            raise
        finally:
            made[2]()
        told["seconds"] = round(time.monotonic() - begun, 2)
        return record | told | {"solved": job.task.solved(root, files)}


def spoken(job: Job, files: Files) -> Any:
    if job.model == STDIO:
        kept = Path(job.kept, f"{job.task.id.replace('/', '-')}-{job.contender}-{job.run}.json")
        turns: list[Any] = [asked := AtStdio(kept)] * job.turns
        made = model(job.model, job.framework, job.rate, turns)
        asked.tools = lambda: made.bound
        return made
    known = job.model.startswith("scripted")
    turns = script(job.model, job.task, files, job.contender, job.run) if known else []
    return model(job.model, job.framework, job.rate, turns)


def langchain(job: Job, made: Made, files: Files) -> Record:
    tools, middleware, _ = made
    agent: Any = create_agent(
        spoken(job, files), tools, system_prompt=SYSTEM, middleware=middleware
    )
    messages: list[Any] = []
    ended = ""
    config = {"recursion_limit": 2 * job.turns + 1}
    try:
        asked = {"messages": [("user", job.task.prompt)]}
        for state in agent.stream(asked, config, stream_mode="values"):
            messages = state["messages"]
    except GraphRecursionError:
        ended = "too many turns"
    said = [m for m in messages if isinstance(m, AIMessage)]
    results = [m for m in messages if isinstance(m, ToolMessage)]
    usage = [m.usage_metadata for m in said if m.usage_metadata]
    return {
        "calls": sum(len(m.tool_calls) for m in said),
        "refused": sum(m.status == "error" or str(m.content)[:5] == "Error" for m in results),
        "input": sum(one["input_tokens"] for one in usage),
        "output": sum(one["output_tokens"] for one in usage),
        "ended": ended,
    }


def llamaindex(job: Job, made: Made, files: Files) -> Record:
    """Its models tell no common form of usage: tokens are 0."""

    async def run() -> Record:
        agent = FunctionAgent(tools=made[0], llm=spoken(job, files), system_prompt=SYSTEM)
        handler = agent.run(job.task.prompt, max_iterations=job.turns)
        results = [e async for e in handler.stream_events() if isinstance(e, ToolCallResult)]
        ended = ""
        try:
            await handler
        except WorkflowRuntimeError:
            ended = "too many turns"
        refused = sum(str(e.tool_output.content)[:5] == "Error" for e in results)
        return {"calls": len(results), "refused": refused, "input": 0, "output": 0, "ended": ended}

    return asyncio.run(run())
