"""Decisions of a person, each about exactly what was shown."""

from asyncio import AbstractEventLoop, run_coroutine_threadsafe
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import count
from typing import Any, TypeVar

from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.runtime import get_runtime

from fsagent_tools.errors import ConfigInvalid

FORM = '{"decisions": [{"type": "approve"}, {"type": "reject", "message": ...}, ...]}'
QUESTION = "fsagent_question"  # in the value of an interrupt: its turn, and what it showed
_INTERRUPT, _SAVER = "__interrupt__", "__pregel_checkpointer"  # LangGraph's names
T = TypeVar("T")

loop_of_graph: ContextVar[AbstractEventLoop | None] = ContextVar("fsagent_loop", default=None)


class Questions:
    """The questions of one run of a task, in their order.

    A task is run from its start for each answer, and gets all answers again in their order. They
    do not say what they are about, but the last question does, which the checkpointer carries to
    whichever host goes on. An answer to an earlier one is about something that has changed since.
    """

    def __init__(self) -> None:
        self._turns = count()

    def ask(self, shown: Sequence[str], decide: Callable[[], T]) -> T:
        """What `decide`, which interrupts, makes of the decisions about exactly this.

        Raises `ConfigInvalid` for decisions of another form; the question then still waits.
        """
        malformed: Exception | None = None
        for turn in self._turns:
            try:
                decided = decide()
            except GraphInterrupt as interrupted:
                if malformed:
                    hint = f"Resume with {FORM}, a decision for each request."
                    raise ConfigInvalid("These are not decisions.", hint=hint) from malformed
                (one,) = interrupted.args[0]
                one.value = {**one.value, QUESTION: {"turn": turn, "fingerprints": [*shown]}}
                raise
            except (TypeError, KeyError, ValueError) as error:
                malformed = error if _is_about(turn, shown) else None
                continue
            malformed = None
            if _is_about(turn, shown):
                return decided
        raise AssertionError  # `count` does not end


def _is_about(turn: int, shown: Sequence[str]) -> bool:
    """Whether the answer in that turn is one to the last question, and that showed this."""
    question = _last_question()
    return bool(turn >= question["turn"] and question["fingerprints"] == [*shown])


def _last_question() -> Any:
    """What this task asked before it was run again."""
    configured, info = get_config()["configurable"], get_runtime().execution_info
    assert info  # in a task
    where = {
        "thread_id": configured["thread_id"],
        "checkpoint_ns": info.checkpoint_ns.rpartition("|")[0],
        "checkpoint_id": info.checkpoint_id,
    }
    found = _saved(configured[_SAVER], {"configurable": where})
    for task, channel, value in (found.pending_writes or ()) if found else ():
        asked = value[-1].value if (task, channel) == (info.task_id, _INTERRUPT) else None
        if isinstance(asked, dict) and QUESTION in asked:
            return asked[QUESTION]
    return {"turn": 0, "fingerprints": None}  # none of ours, or of a version that told nothing


def _saved(saver: Any, where: Any) -> Any:
    loop = loop_of_graph.get()
    try:
        return saver.get_tuple(where)  # those for event loops have it for threads beside them
    except NotImplementedError:
        if loop is None:
            raise
        return run_coroutine_threadsafe(saver.aget_tuple(where), loop).result()
