"""A model at the other end of standard input: a person, or any program that reads and writes JSON.

On a turn it gets one line, an object with the `messages` since the last one (`role`, `text`), the
first time with the `tools`, too, in OpenAI's form. It answers by one line,
`{"calls": [{"name": "read", "arguments": {"file_path": "a.py"}}]}` or `{"text": "Done."}`, which
ends the task. A line that is neither gets an object with `error`, and another try. After the last
task comes an object with `ended`, the table.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from fsagent_tools.testing import Call, Message

ENDED = "Standard input has ended: run this again, and it goes on with the first open attempt."


class _Called(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    arguments: dict[str, Any] = {}


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid")

    calls: list[_Called] = []
    text: str = ""


class AtStdio:
    """One attempt, turn by turn. kept: where its calls go, in the interchange format of Harbor."""

    def __init__(self, kept: Path) -> None:
        self.kept, self.heard = kept, 0
        self.tools: Callable[[], Sequence[Any]] = list
        self.steps: list[dict[str, Any]] = []

    def __call__(self, messages: Sequence[Message]) -> str | list[Call]:
        """The next turn. Raises `SystemExit` where nobody answers any more."""
        new = [one for one in messages[self.heard :] if one.role != "assistant"]
        told: dict[str, Any] = {"messages": [{"role": one.role, "text": one.text} for one in new]}
        if not self.heard:
            told = {"tools": [*self.tools()], **told}
        self.heard = len(messages)
        self._keep([one.text for one in new if one.role == "tool"])
        _say(told)
        said = _answer()
        if said.calls:
            self.steps.append({"tool_calls": [
                {"tool_call_id": str(n), "function_name": one.name, "arguments": one.arguments}
                for n, one in enumerate(said.calls)
            ]})  # fmt: skip
            return [Call(one.name, one.arguments) for one in said.calls]
        return said.text or "Done."

    def _keep(self, answers: Sequence[str]) -> None:
        if self.steps:
            results = [{"source_call_id": str(n), "content": x} for n, x in enumerate(answers)]
            self.steps[-1]["observation"] = {"results": results}
            self.kept.parent.mkdir(parents=True, exist_ok=True)
            self.kept.write_text(json.dumps({"steps": self.steps}), encoding="utf-8")


def _say(told: dict[str, Any]) -> None:
    print(json.dumps(told, ensure_ascii=False), flush=True)


def _answer() -> _Said:
    while line := sys.stdin.readline():
        try:
            said = _Said.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the line"
            _say({"error": f'{place}: {first["msg"]}. Send {{"calls": [...]}} or {{"text": ...}}.'})
        else:
            return said
    raise SystemExit(ENDED)
