"""Answers to a paused graph, from whoever sits at the terminal."""

import json
import readline
from collections.abc import Iterable
from functools import partial
from typing import Any

from langgraph.types import Command, Interrupt

from fsagent_tools import ask_at_terminal


def answer_at_terminal(waiting: Iterable[Interrupt]) -> Command[Any]:
    """What to resume with: `agent.invoke(answer_at_terminal(state["__interrupt__"]), config)`.

    Shows the diff of each request and asks; the answer "e" edits the arguments, where that is
    allowed. For requests in LangChain's form, of any tool, and for those of `approval.ask`.
    """
    return Command(resume={each.id: _answer(each.value) for each in waiting})


def _answer(asked: Any) -> dict[str, Any]:
    if "action_requests" in asked:
        requests = zip(asked["action_requests"], asked["review_configs"], strict=True)
        return {"decisions": [_decision(*request) for request in requests]}
    shown = asked["diff"] or json.dumps(asked["arguments"], ensure_ascii=False)
    verdict = ask_at_terminal(shown, f"Allow {asked['tool']}")
    said = {"approved": verdict is True, "reason": verdict or ""}
    return {**said, "fingerprint": asked["fingerprint"]}


def _decision(action: Any, review: Any) -> dict[str, Any]:
    may_edit = "edit" in review["allowed_decisions"]
    shown = action.get("description") or json.dumps(action["args"], ensure_ascii=False)
    verdict = ask_at_terminal(shown, f"Allow {action['name']}", "/e to edit" * may_edit)
    if verdict is True:
        return {"type": "approve"}
    if verdict in ("e", "E") and may_edit:
        arguments = _edited(action["args"])
        return {"type": "edit", "edited_action": {"name": action["name"], "args": arguments}}
    return {"type": "reject", **({"message": verdict} if verdict else {})}


def _edited(arguments: Any) -> Any:
    """The arguments, as JSON on one line that is there to be changed."""
    text = json.dumps(arguments, ensure_ascii=False)
    while True:
        readline.set_startup_hook(partial(readline.insert_text, text))
        try:
            text = input("Arguments: ")
        finally:
            readline.set_startup_hook()
        try:
            return json.loads(text)
        except ValueError as error:
            print(f"This is not JSON: {error}.")
