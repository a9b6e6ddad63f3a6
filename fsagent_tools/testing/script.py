"""What a scripted model says: turns in order, some of them worked out from what was said before."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Message:
    """One message of the conversation, as the script sees it in every framework.

    `role` is "system", "user", "assistant" or "tool".
    """

    role: str
    text: str


@dataclass(frozen=True)
class Call:
    """One tool call of a turn."""

    name: str
    arguments: Mapping[str, Any]

    def json(self) -> str:
        return json.dumps(self.arguments)


Said = str | Call | Sequence[Call]
Turn = Said | Callable[[Sequence[Message]], Said]


def call(name: str, /, **arguments: Any) -> Call:
    """A call of the tool `name`."""
    return Call(name, arguments)


@dataclass(frozen=True)
class Answer:
    """One turn worked out: text, or calls with their IDs."""

    text: str
    calls: tuple[tuple[str, Call], ...]


class Script:
    """Turns of a model. Stateless: the turn is the number of assistant messages so far.

    One script therefore serves any number of runs, also resumed and concurrent ones.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = tuple(turns)

    def answer(self, messages: Sequence[Message]) -> Answer:
        """The next turn. Raises `IndexError` when the agent asks for more turns than there are."""
        number = sum(message.role == "assistant" for message in messages)
        if number >= len(self.turns):
            raise IndexError(
                f"The script has {len(self.turns)} turns, and the agent asked for one more. "
                f"The last message was: {messages[-1].text[:500]}"
            )
        turn = self.turns[number]
        said = turn(messages) if callable(turn) else turn
        if isinstance(said, str):
            return Answer(said, ())
        calls = [said] if isinstance(said, Call) else said
        return Answer("", tuple((f"call_{number}_{n}", one) for n, one in enumerate(calls)))


_MARK = re.compile(
    r"(?:.*?:|[ +])?(?:\[LID:([0-9a-f]{6})\]|([0-9a-f]{6})\||([a-z]{3}(?:\.[a-z]{3})*)\t)(.*)"
)


def line_id(messages: Sequence[Message], fragment: str) -> str:
    """The ID that a tool last showed for a line containing `fragment`, in any style of IDs.

    Raises `LookupError` when no tool showed such a line.
    """
    for message in reversed(messages):
        if message.role != "tool":
            continue
        for line in message.text.splitlines():
            found = _MARK.match(line)
            if found and fragment in found[4]:
                return found[1] or found[2] or found[3]
    raise LookupError(f"No tool has shown a line with {fragment!r} and its ID.")
