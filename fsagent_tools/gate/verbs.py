"""Methods of a workspace as operations that pass the gate."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from fsagent_tools.call import current
from fsagent_tools.effects import RISK, Effect
from fsagent_tools.gate import Gated, Operation, passed

_S = TypeVar("_S", bound=Gated)
_P = ParamSpec("_P")
_T = TypeVar("_T")
_Method = Callable[Concatenate[_S, _P], _T]


class Given(dict[str, Any]):
    """Arguments of a method, as records and requests tell them."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    def as_json(self, *, given: bool) -> dict[str, Any]:
        return {**self}


def verb(
    action: str, effect: Effect, *, mark: bool = False
) -> Callable[[_Method[_S, _P, _T]], _Method[_S, _P, _T]]:
    """The method is to a policy what the action called `action` is; one with an effect of `effect`.

    Where it is a part of an operation that has passed, it is not asked about again.
    """

    def declare(method: _Method[_S, _P, _T]) -> _Method[_S, _P, _T]:
        code: Any = getattr(method, "__wrapped__", method).__code__
        names = code.co_varnames[1 : code.co_argcount]
        name = method.__name__

        @wraps(method)
        def passing(self: _S, /, *args: _P.args, **more: _P.kwargs) -> _T:
            if current.get().inside is self.session:
                return method(self, *args, **more)
            given = {**dict(zip(names, args, strict=False)), **more}
            told = Given({n: _told(value) for n, value in given.items()})
            run = lambda _: method(self, *args, **more)  # noqa: E731
            asked = Operation(
                action, name, effect, told, lambda: told, run, risk=RISK[effect], mark=mark
            )
            done: _T = passed(self, asked)
            return done

        return passing

    return declare


def _told(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
