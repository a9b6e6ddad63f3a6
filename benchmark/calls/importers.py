"""Trajectories of SWE-agent, OpenHands, ATIF and pi as steps. Unknown events are passed over."""

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmark.calls.form import Call
from benchmark.calls.steps import Files, Step

Json = dict[str, Any]


def texts(content: Any) -> str:
    """The text of a message: a string, or blocks of which some are text."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))


def parsed(arguments: Any) -> Json:
    """Arguments as an object; models sometimes send no JSON at all."""
    with suppress(ValueError):
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    return arguments if isinstance(arguments, dict) else {}


def swe_agent(text: str) -> Iterator[Step]:
    """`.traj`: function calls of its history, or else the commands of its trajectory."""
    whole: Json = json.loads(text)
    history = [message for message in whole.get("history", []) if isinstance(message, dict)]
    told = {
        name: texts(message.get("content"))
        for message in history
        for name in message.get("tool_call_ids") or []
    }
    called = [call for message in history for call in message.get("tool_calls") or []]
    for call in called:
        yield Step(call["id"], parsed(call["function"]["arguments"]), told.get(call["id"], ""))
    for number, turn in enumerate([] if called else whole.get("trajectory", [])):
        with suppress(ValueError):
            words = shlex.split(turn.get("action", ""))
            if words[:1] == ["str_replace_editor"] and len(words) > 2:
                yield Step(str(number), commanded(words), str(turn.get("observation", "")))


def commanded(words: list[str]) -> Json:
    """`str_replace_editor str_replace PATH --old_str ... --new_str ...`"""
    given: Json = {"command": words[1], "path": words[2]}
    rest = iter(words[3:])
    for word in rest:
        if word.startswith("--"):
            given[word[2:]] = next(rest, "")
    return given


def open_hands(text: str) -> Iterator[Step]:
    """A list of events, of the first form (`action`, `observation`) or the second (`kind`)."""
    events = json.loads(text)
    events = events.get("history", []) if isinstance(events, dict) else events
    answers: dict[Any, Json] = {}
    for event in events:
        if "observation" in event:
            answers[event.get("cause", event.get("tool_call_id"))] = event
    for event in events:
        second = event.get("kind") == "ActionEvent"
        if not second and event.get("action") not in {"edit", "read", "write"}:
            continue
        key = event.get("tool_call_id") if second else event.get("id")
        if answer := answers.get(key):
            given = event["action"] if second else event.get("args", {})
            told = answer["observation"] if second else answer.get("extras", {})
            failed = told.get("is_error") if second else answer.get("observation") == "error"
            content = texts(told.get("content") if second else answer.get("content"))
            kept = {name: told.get(f"{key}_content") for name, key in NAMES.items()}
            yield Step(str(key), given, content, failed or None, **kept)


NAMES = {"before": "old", "after": "new"}


def atif(text: str) -> Iterator[Step]:
    """The Agent Trajectory Interchange Format: tool calls of a step, and what was observed."""
    for step in json.loads(text).get("steps", []):
        results = (step.get("observation") or {}).get("results") or []
        told = {one.get("source_call_id"): texts(one.get("content")) for one in results}
        for call in step.get("tool_calls") or []:
            name = call["tool_call_id"]
            yield Step(name, parsed(call.get("arguments")), told.get(name, ""))


def pi(text: str) -> Iterator[Step]:
    """A session: one JSON object a line, tool calls in messages, their results in later ones."""
    entries = [json.loads(line) for line in text.splitlines() if line.strip()]
    messages = [entry["message"] for entry in entries if entry.get("type") == "message"]
    told = {m["toolCallId"]: m for m in messages if m.get("role") == "toolResult"}
    for message in messages:
        for block in message["content"] if isinstance(message.get("content"), list) else []:
            if block.get("type") == "toolCall" and (answer := told.get(block["id"])):
                failed = bool(answer.get("isError"))
                yield Step(block["id"], block["arguments"], texts(answer.get("content")), failed)


IMPORTERS: dict[str, Callable[[str], Iterator[Step]]] = {
    "swe-agent": swe_agent, "openhands": open_hands, "atif": atif, "pi": pi,
}  # fmt: skip


def imported(kind: str, path: Path) -> Iterator[Call]:
    """The edits of a trajectory whose file was known when they were made."""
    yield from Files().calls(kind, IMPORTERS[kind](path.read_text(encoding="utf-8")))
