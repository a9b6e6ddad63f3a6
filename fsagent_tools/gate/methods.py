"""Methods of a workspace as operations that pass the gate."""

from collections.abc import Callable, Mapping
from functools import wraps
from types import UnionType
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args, get_origin

from fsagent_tools.call import current
from fsagent_tools.effects import RISK, Effect
from fsagent_tools.errors import InvalidArguments
from fsagent_tools.gate.gate import Gated, Operation, run

_S = TypeVar("_S", bound=Gated)
_P = ParamSpec("_P")
_T = TypeVar("_T")
_AS_WELL: dict[type, tuple[type, ...]] = {float: (int,), bytes: (bytearray,)}
_Method = Callable[Concatenate[_S, _P], _T]


class MethodCall(Operation):
    """One call of a method: `execute` runs it."""

    def __init__(
        self,
        action: str,
        effect: Effect,
        method: Callable[[], Any],
        given: Mapping[str, Any],
        kinds: Mapping[str, tuple[type, ...]],
    ) -> None:
        self.action, self.effect, self.risk = action, effect, RISK[effect]
        self._method, self._given, self._kinds = method, given, kinds
        self.sent: Arguments = Arguments({n: _readable(v) for n, v in given.items()})

    def params(self) -> "Arguments":
        """The arguments, if each has its type. Raises `InvalidArguments`."""
        for name, value in self._given.items():
            if (expected := self._kinds.get(name)) and not isinstance(value, expected):
                raise InvalidArguments(
                    f"{name} is {expected[0].__name__}, not {type(value).__name__}.",
                    hint=f"Call it with {expected[0].__name__} as {name}.",
                )
        return self.sent

    def execute(self, params: object) -> Any:
        return self._method()

    def arguments(self, params: object) -> Mapping[str, Any]:
        return {**self.sent}


class Arguments(dict[str, Any]):
    """Arguments of a method, as records have them."""

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
        kinds = {n: _kinds(given) for n, given in method.__annotations__.items()}

        @wraps(method)
        def passing(self: _S, /, *args: _P.args, **more: _P.kwargs) -> _T:
            if current.get().inside is self.session:
                return method(self, *args, **more)
            given = {**dict(zip(names, args, strict=False)), **more}
            asked = MethodCall(action, effect, lambda: method(self, *args, **more), given, kinds)
            asked.name, asked.is_mark = method.__name__, mark
            done: _T = run(self, asked)
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


def _readable(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
