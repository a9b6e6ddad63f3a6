"""Methods of a workspace as operations that pass the gate."""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from types import UnionType
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args, get_origin

from fsagent_tools.call import current
from fsagent_tools.effects import RISK, Effect
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.gate import Gated, Operation, passed

_S = TypeVar("_S", bound=Gated)
_P = ParamSpec("_P")
_T = TypeVar("_T")
_AS_WELL: dict[type, tuple[type, ...]] = {float: (int,), bytes: (bytearray,)}
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
        kinds = {n: _kinds(given) for n, given in method.__annotations__.items()}

        @wraps(method)
        def passing(self: _S, /, *args: _P.args, **more: _P.kwargs) -> _T:
            if current.get().inside is self.session:
                return method(self, *args, **more)
            given = {**dict(zip(names, args, strict=False)), **more}
            shown = Given({n: _readable(value) for n, value in given.items()})
            run = lambda _: method(self, *args, **more)  # noqa: E731
            read = partial(_fitting, shown, given, kinds)
            asked = Operation(action, name, effect, shown, read, run, risk=RISK[effect], mark=mark)
            done: _T = passed(self, asked)
            return done

        return passing

    return declare


def _kinds(annotation: Any) -> tuple[type, ...]:
    """Whose instances fit; none where only a checker of types knows."""
    parts = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    found = [get_origin(part) or part for part in parts]
    if not all(isinstance(kind, type) for kind in found):
        return ()
    return (*found, *_AS_WELL.get(found[0], ()))


def _fitting(
    shown: Given, given: Mapping[str, Any], kinds: Mapping[str, tuple[type, ...]]
) -> Given:
    """`told`, if each value has its type. Raises `InvalidArguments`."""
    for name, value in given.items():
        if (fit := kinds.get(name)) and not isinstance(value, fit):
            raise InvalidArguments(
                f"{name} is {fit[0].__name__}, not {type(value).__name__}.",
                hint=f"Call it with {fit[0].__name__} as {name}.",
            )
    return shown


def _readable(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
