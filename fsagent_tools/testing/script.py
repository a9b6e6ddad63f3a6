"""What a scripted model says: turns in order, some of them worked out from what was said before."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import Any


@dataclass(frozen=True)
class Message:
    """One message of the conversation, as the script sees it in every framework.

    `role` is "system", "user", "assistant" or "tool". `mark` is that of the turn that said it.
    """

    role: str
    text: str
    mark: str = ""


@dataclass(frozen=True)
class Call:
    """One tool call of a turn."""

    name: str
    arguments: Mapping[str, Any]

    def json(self) -> str:
        return json.dumps(self.arguments)


Said = str | Call | Sequence[Call] | Mapping[str, Any]  # a mapping is a structured answer
Turn = Said | Callable[[Sequence[Message]], Said]


def call(name: str, /, **arguments: Any) -> Call:
    """A call of the tool `name`."""
    return Call(name, arguments)


@dataclass(frozen=True)
class Answer:
    """One turn worked out: text, or calls with their IDs."""

    text: str
    calls: tuple[tuple[str, Call], ...]
    mark: str = ""  # of the turn; a framework's message keeps it


class Script:
    """Turns of a model, one for each time that it is asked, whatever became of the history.

    Each thread has its own place. Where the history knows a later turn of this script than was said
    here, another process said it, and the script goes on behind it. A script that has come to its
    end begins again for a history that has none of its turns.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = tuple(turns)
        told = "".join(_told(turn) for turn in turns)
        self._name = sha256(told.encode()).hexdigest()[:8]
        self._next: dict[str, int] = {}
        self._lock = Lock()

    def answer(self, messages: Sequence[Message], thread: str = "", schema: str = "") -> Answer:
        """The next turn. Raises `IndexError` when the agent asks for more turns than there are.

        thread: of the conversation. schema: the tool that takes a structured answer, which is
        JSON text where there is none.
        """
        marks = [m.mark.partition(":") for m in messages]
        heard = [int(number) for name, _, number in marks if name == self._name]
        with self._lock:
            number = max(self._next.get(thread, 0), *(one + 1 for one in heard), 0)
            if number >= len(self.turns) and not heard:
                number = 0
            if number >= len(self.turns):
                raise IndexError(
                    f"The script has {len(self.turns)} turns, and the agent asked for one more. "
                    f"The last message was: {messages[-1].text[:500]}"
                )
            self._next[thread] = number + 1
        turn = self.turns[number]
        said = turn(messages) if callable(turn) else turn
        mark = f"{self._name}:{number}"
        if isinstance(said, Mapping):
            said = Call(schema, said) if schema else json.dumps(said)
        if isinstance(said, str):
            return Answer(said, (), mark)
        calls = [said] if isinstance(said, Call) else said
        return Answer("", tuple((f"call_{number}_{n}", one) for n, one in enumerate(calls)), mark)


def _told(turn: Turn) -> str:
    """The same in every process."""
    return str(getattr(turn, "__qualname__", type(turn))) if callable(turn) else repr(turn)


_MARK = re.compile(
    r"(?:.*?:|[ +]|\d+ )?(?:\[LID:([0-9a-f]{6})\]|([0-9a-f]{6})\||([a-z]{3}(?:\.[a-z]{3})*)\t)(.*)"
)


def line_id(messages: Sequence[Message], fragment: str) -> str:
    """The ID that a tool last showed for a line containing `fragment`, in any style of IDs.

    Behind a word stand the first two words of the line, as the style wants it. Raises
    `LookupError` when no tool showed such a line.
    """
    for message in reversed(messages):
        if message.role != "tool":
            continue
        for line in message.text.splitlines():
            found = _MARK.match(line)
            if found and fragment in found[4]:
                words = [found[3], *found[4].split()[:2]] if found[3] else []
                return found[1] or found[2] or " ".join(words)
    raise LookupError(f"No tool has shown a line with {fragment!r} and its ID.")
