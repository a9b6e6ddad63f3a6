"""A running program, whoever holds it: a room of a keeper, or this process itself."""

from fsagent_tools.sandbox.connections import NOWHERE


class Started:
    """What is known of it.

    exit_code: minus a signal's number, as `subprocess` has it; None while it runs. left: names of
    processes that it left behind. gone: nothing more is to be heard. is_alone: it ended and left
    nothing. tried: how far something tried to get beyond a private network.
    """

    def __init__(self) -> None:
        self.exit_code: int | None = None
        self.left: list[str] = []
        self.gone = self.is_alone = False
        self.tried = NOWHERE

    @property
    def exited(self) -> bool:
        return self.exit_code is not None or self.gone
