"""Decisions of a person, each about exactly what was shown."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, TypeVar

from langgraph.config import get_config
from langgraph.errors import GraphInterrupt

from fsagent_tools.errors import ConfigInvalid

FORM = '{"decisions": [{"type": "approve"}, {"type": "reject", "message": ...}, ...]}'
T = TypeVar("T")


class Questions:
    """The questions of one run of a task, in their order.

    A task is run from its start for each answer, and gets all answers again in their order. They
    do not say what they are about: the `ledger` of a workspace keeps what each question showed.
    """

    def __init__(self, ledger: Any) -> None:
        self._ledger = ledger
        self._turns = count()

    def ask(self, shown: Sequence[str], decide: Callable[[], T]) -> T:
        """What `decide`, which interrupts, makes of the first decisions about exactly this.

        Raises `ConfigInvalid` for decisions of another form; the question then still waits.
        """
        malformed: Exception | None = None
        for turn in self._turns:
            key = f"asked:{get_config()['configurable']['checkpoint_ns']}:{turn}"
            current = self._ledger.noted(key) == [*shown]
            try:
                decided = decide()
            except GraphInterrupt:
                self._ledger.note(key, shown)
                if malformed:
                    hint = f"Resume with {FORM}, a decision for each request."
                    raise ConfigInvalid("These are not decisions.", hint=hint) from malformed
                raise
            except (TypeError, KeyError, ValueError) as error:
                malformed = error if current else None
                continue
            malformed = None
            if current:
                return decided
        raise AssertionError  # `count` does not end
