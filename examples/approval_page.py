"""A web page that shows what an agent is about to change, with two buttons. No key, no network.

    python -m pip install fsagent-tools[langchain] langgraph-checkpoint-sqlite \\
        starlette uvicorn
    python examples/approval_page.py [FOLDER]

Each conversation has a project of its own in FOLDER, and an address that nobody can guess: who has
it may approve. Stop the server while a call waits and start it again with the same FOLDER: it still
waits. With FSAGENT_MODEL set (`openai:gpt-5`), that model does the job.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path
from secrets import token_urlsafe
from tempfile import mkdtemp
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.chat_models import init_chat_model
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command, Interrupt
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from fsagent_tools.testing.langchain import ScriptedChatModel
from fsagent_tools_langchain import get_tools, interrupt_on
from shop_task import GOAL, TURNS, copy_project

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp(prefix="approvals-"))
COLOURS = {"+": "green", "-": "crimson", "@": "steelblue"}
STYLE = "<style>body {font: 1rem sans-serif; margin: 2rem} pre {background: #f4f4f4}</style>"


def project_of(run: Any) -> Path:
    """The directory of a run: each thread works in one of its own."""
    return FOLDER / (run.config["configurable"]["thread_id"] if run else "") / "project"


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    live = os.environ.get("FSAGENT_MODEL")
    model = init_chat_model(live) if live else ScriptedChatModel(TURNS)
    async with AsyncSqliteSaver.from_conn_string(str(FOLDER / "threads.sqlite")) as saver:
        tools = get_tools(project_of, without=["websearch", "webfetch"])
        asking = HumanInTheLoopMiddleware(interrupt_on(tools))
        app.state.agent = create_agent(model, tools, middleware=[asking], checkpointer=saver)
        app.state.decided = {}  # interrupt -> decisions so far
        yield


async def start(request: Request) -> Response:
    """A button that begins a conversation."""
    if request.method == "GET":
        return page(
            f"<p>{escape(GOAL)}</p><form method=post><button id=start>Start</button></form>"
        )
    thread = token_urlsafe()
    await asyncio.to_thread(copy_project, str(FOLDER / thread))
    sent = {"messages": [{"role": "user", "content": GOAL}]}
    await request.app.state.agent.ainvoke(sent, {"configurable": {"thread_id": thread}})
    return RedirectResponse(f"/{thread}", 303)


async def conversation(request: Request) -> Response:
    """What waits for an answer, or what the agent said."""
    agent, decided = request.app.state.agent, request.app.state.decided
    config = {"configurable": {"thread_id": request.path_params["thread"]}}
    state = await agent.aget_state(config)
    if not state.values:
        return page("<p>There is no such conversation.</p>", 404)
    if not state.interrupts:
        return page(f"<p id=said>{escape(state.values['messages'][-1].text)}</p>")
    waiting: Interrupt = state.interrupts[0]
    requests, decisions = waiting.value["action_requests"], decided.setdefault(waiting.id, [])
    if len(decisions) == len(requests):
        return page("<meta http-equiv=refresh content=1><p>The agent is at work.</p>")
    if request.method == "GET":
        return page(question(waiting.id, len(decisions), requests))
    form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
    if form.get("about") == f"{waiting.id}:{len(decisions)}":  # else the button of an old page
        approved, reason = "approve" in form, form.get("reason", "")
        decisions.append({"type": "approve"} if approved else {"type": "reject", "message": reason})
        if len(decisions) == len(requests):
            answer = {waiting.id: {"decisions": decisions}}
            await agent.ainvoke(Command(resume=answer), config)
    return RedirectResponse(request.url.path, 303)


def question(about: str, number: int, requests: list[dict[str, Any]]) -> str:
    name, shown = requests[number]["name"], requests[number]["description"]
    lines = (
        f"<span style='color: {COLOURS.get(line[:1], 'black')}'>{escape(line)}</span>"
        for line in shown.splitlines()
    )
    return (
        f"<p>{number + 1} of {len(requests)}: the agent wants to call <b>{escape(name)}</b>.</p>"
        f"<pre id=diff>{'<br>'.join(lines)}</pre>"
        f"<form method=post><input type=hidden name=about value='{about}:{number}'>"
        "<button id=approve name=approve value=1>Approve</button> <button id=reject>Reject</button>"
        " <input id=reason name=reason placeholder='Why not?'></form>"
    )


def page(body: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(f"<!doctype html><title>Approval</title>{STYLE}{body}", status)


METHODS = ["GET", "POST"]
routes = [Route("/", start, methods=METHODS), Route("/{thread}", conversation, methods=METHODS)]
app = Starlette(routes=routes, lifespan=lifespan)

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "8000")))
