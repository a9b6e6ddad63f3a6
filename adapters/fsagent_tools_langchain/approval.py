"""Approval by LangGraph's own interrupt: the graph pauses until it is resumed with an answer."""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from fsagent_tools import Request, Verdict
from fsagent_tools.errors import ConfigInvalid

FORM = '{"approved": true or false, "fingerprint": ..., "reason": ...}'
REMEMBERED = 1000  # tasks whose answers are at hand


class Answers:
    """What a task was answered so far, by fingerprint.

    Calls of one task share its answers, and LangGraph gives each answer to one of them: the next
    that asks, whichever that is.
    """

    def __init__(self) -> None:
        self.given: dict[str, Verdict] = {}
        self.malformed: object = None

    def next(self, request: Request) -> None:
        """Take the next answer. Pauses the graph if there is none, raises `ConfigInvalid`."""
        try:
            answer = interrupt(request.to_dict())
        except GraphInterrupt:
            if self.malformed is not None:
                raise ConfigInvalid(
                    f"{self.malformed!r} is not an answer to a request for approval.",
                    hint=f"Resume with {FORM}, quoting the request's fingerprint.",
                ) from None
            raise
        except (KeyError, RuntimeError) as error:
            raise ConfigInvalid("Approval by interrupt needs a graph.", hint="Run one.") from error
        self.malformed = None if _well_formed(answer) else answer
        if self.malformed is None:
            approved = answer["approved"]
            self.given[answer["fingerprint"]] = approved or str(answer.get("reason") or "")


_answers: OrderedDict[str, Answers] = OrderedDict()
_lock = Lock()


def ask(request: Request) -> Verdict:
    """For `Workspace(approve=ask)`; needs a checkpointer.

    The interrupt's value is `Request.to_dict()`. Resume with `{"approved": True, "fingerprint":
    ...}` that quotes the request's, or `{"approved": False, "fingerprint": ..., "reason": ...}`.
    What has changed since is asked about again. Raises `ConfigInvalid` for an answer of another
    form; the request then still waits for one.
    """
    with _lock:
        answers = _of_this_task()
        while request.fingerprint not in answers.given:
            answers.next(request)
        return answers.given[request.fingerprint]


def _of_this_task() -> Answers:
    try:
        task = get_config()["configurable"].get("checkpoint_ns", "")
    except (KeyError, RuntimeError):
        task = ""
    if not task:
        return Answers()
    answers = _answers.setdefault(task, Answers())
    _answers.move_to_end(task)
    while len(_answers) > REMEMBERED:
        _answers.popitem(last=False)
    return answers


def _well_formed(answer: Any) -> bool:
    return (
        isinstance(answer, Mapping)
        and isinstance(answer.get("approved"), bool)
        and isinstance(answer.get("fingerprint"), str)
    )
