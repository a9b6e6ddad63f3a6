"""What is made when it is first asked for, and the same for all threads that ask."""

import os
from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

__all__ = ["once"]
_making = RLock()


class _Once:
    """`cached_property`, which since Python 3.12 makes one for each thread that asks meanwhile.

    The last of them would stay, and the end of another one would end what it had begun.
    """

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.func, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Not called for what is made: that stands in the instance itself."""
        if instance is None:
            return self
        made = vars(instance)
        with _making:
            if self._name not in made:
                made[self._name] = self.func(instance)
            return made[self._name]


def _forget() -> None:
    """A forked child has no thread that would give the lock back."""
    global _making
    _making = RLock()


os.register_at_fork(after_in_child=_forget)

if TYPE_CHECKING:
    once = cached_property
else:
    once = _Once
