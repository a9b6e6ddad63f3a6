"""Trajectories of SWE-agent, OpenHands, ATIF and pi as steps.

Unknown events are passed over. A record of a known kind that is not as its format says is `Bad`:
told, counted and left out, while those around it are read.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmark.calls.form import Call
from benchmark.calls.records import (
    Action,
    ActionEvent,
    AtifCall,
    AtifResult,
    Bad,
    Called,
    Json,
    Observation,
    ObservationEvent,
    PiCall,
    PiResult,
    Turn,
    entries,
    fit,
    loaded,
)
from benchmark.calls.steps import Answer, Asked, Event, Files, Step, matched

Events = Iterator[Event]


def texts(content: Any) -> str:
    """The text of a message: a string, or blocks of which some are text."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))


def parsed(arguments: str | Json, place: str) -> Json:
    """Arguments as an object; models sometimes send no JSON at all."""
    found = loaded(arguments.encode(), place) if isinstance(arguments, str) else arguments
    if not isinstance(found, dict):
        raise Bad(place, "arguments are no JSON object")
    return found


def swe_agent(data: bytes) -> Events:
    """`.traj`: function calls of its history, or else the commands of its trajectory."""
    whole = loaded(data)
    history = [each for each in entries(whole, "history") if isinstance(each, dict)]
    called = any(message.get("tool_calls") for message in history)
    for number, message in enumerate(history if called else []):
        if message.get("is_demo"):
            continue
        for at, call in enumerate(message.get("tool_calls") or []):
            place = f"history[{number}].tool_calls[{at}]"
            yield from one(function, call, place)
        for name in message.get("tool_call_ids") or []:
            yield Answer(str(name), texts(message.get("content")))
    for number, turn in enumerate([] if called else entries(whole, "trajectory")):
        place = f"trajectory[{number}]"
        yield from one(command, turn, place, str(number))


def one(make: Callable[..., Iterable[Event]], *given: Any) -> Events:
    """The events of one record, or what is wrong with it."""
    try:
        yield from make(*given)
    except Bad as bad:
        yield bad


def function(call: Any, place: str) -> list[Event]:
    found = fit(Called, call, place)
    return [Asked(found.id, place, parsed(found.function.arguments, place))]


def command(record: Any, place: str, name: str) -> list[Event]:
    """`str_replace_editor str_replace PATH --old_str ... --new_str ...`"""
    turn = fit(Turn, record, place)
    if not turn.action.startswith("str_replace_editor "):
        return []
    try:
        words = shlex.split(turn.action)
    except ValueError as error:
        raise Bad(place, f"no command, {error}") from None
    if len(words) < 3:
        raise Bad(place, "no command, the path is missing")
    given: Json = {"command": words[1], "path": words[2]}
    rest = iter(words[3:])
    for word in rest:
        if word.startswith("--"):
            given[word[2:]] = next(rest, None)
    answer = [] if turn.observation is None else [Answer(name, turn.observation)]
    return [Asked(name, place, given), *answer]


def open_hands(data: bytes) -> Events:
    """A list of events, of the first form (`action`, `observation`) or the second (`kind`)."""
    whole = loaded(data)
    for number, event in enumerate(whole if isinstance(whole, list) else entries(whole, "history")):
        place = f"event {number}"
        if isinstance(event, dict):
            yield from one(happened, event, place)


def happened(event: Json, place: str) -> list[Event]:
    kind = event.get("kind")
    if kind == "ActionEvent":
        action = fit(ActionEvent, event, place)
        return [Asked(action.tool_call_id, place, action.action)]
    if kind == "ObservationEvent":
        second = fit(ObservationEvent, event, place)
        told = second.observation
        failed = told.get("is_error") is True or None
        return [Answer(second.tool_call_id, texts(told.get("content")), failed, *kept(told))]
    if kind == "AgentErrorEvent":
        return [Answer(str(event.get("tool_call_id")), str(event.get("error")), failed=True)]
    if event.get("action") in {"edit", "read", "write"}:
        first = fit(Action, event, place)
        return [Asked(str(first.id), place, first.args)]
    if kind is None and "observation" in event:
        seen = fit(Observation, event, place)
        failed = seen.observation == "error" or None
        return [Answer(str(seen.cause), texts(seen.content), failed, *kept(seen.extras))]
    return []


def kept(told: Json) -> tuple[str | None, str | None]:
    """The file before and after, where the harness kept it."""
    old, new = told.get("old_content"), told.get("new_content")
    return old if isinstance(old, str) else None, new if isinstance(new, str) else None


def atif(data: bytes) -> Events:
    """The Agent Trajectory Interchange Format: tool calls of a step, and what was observed."""
    for number, step in enumerate(entries(loaded(data), "steps")):
        place = f"steps[{number}]"
        try:
            calls = entries(step, "tool_calls", place)
            results = entries(step.get("observation") or {}, "results", f"{place}.observation")
        except Bad as bad:
            yield bad
            continue
        if step.get("is_copied_context"):
            continue  # told again for the model, not done again
        for at, call in enumerate(calls):
            where = f"{place}.tool_calls[{at}]"
            yield from one(interchanged, call, where, number)
        for at, result in enumerate(results):
            where = f"{place}.observation.results[{at}]"
            yield from one(observed, result, where, number)


def interchanged(record: Any, place: str, step: int) -> list[Event]:
    """A call; its ID is its own in this step alone."""
    call = fit(AtifCall, record, place)
    return [Asked(f"{step}.{call.tool_call_id}", place, call.arguments)]


def observed(record: Any, place: str, step: int) -> list[Event]:
    result = fit(AtifResult, record, place)
    return [Answer(f"{step}.{result.source_call_id}", texts(result.content))]


def pi(data: bytes) -> Events:
    """A session: one JSON object a line, tool calls in messages, their results in later ones."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            place = f"line {number}"
            yield from one(said, line, place)


def said(line: bytes, place: str) -> Events:
    entry = loaded(line, place)
    if not isinstance(entry, dict):
        raise Bad(place, f"{type(entry).__name__} in place of an object")
    if entry.get("type") != "message":
        return
    message = entry.get("message")
    if not isinstance(message, dict):
        raise Bad(place, "a message without its content")
    if message.get("role") == "toolResult":
        result = fit(PiResult, message, place)
        yield Answer(result.toolCallId, texts(result.content), result.isError)
    blocks = message.get("content")
    for block in blocks if isinstance(blocks, list) else []:
        if isinstance(block, dict) and block.get("type") == "toolCall":
            yield from one(called, block, place)


def called(record: Any, place: str) -> list[Event]:
    call = fit(PiCall, record, place)
    return [Asked(call.id, place, call.arguments)]


IMPORTERS: dict[str, Callable[[bytes], Events]] = {
    "swe-agent": swe_agent, "openhands": open_hands, "atif": atif, "pi": pi,
}  # fmt: skip


def imported(kind: str, path: Path) -> Iterator[Call | Bad]:
    """The edits of a trajectory whose file was known when they were made, and bad records.

    A call's name begins with the file's hash: two trajectories count their steps alike.
    """
    data = path.read_bytes()
    yield from Files(sha256(data).hexdigest()[:8]).calls(kind, steps(kind, data))


def steps(kind: str, data: bytes) -> Iterator[Step | Bad]:
    try:
        yield from matched(IMPORTERS[kind](data))
    except Bad as bad:  # the file as a whole
        yield bad
