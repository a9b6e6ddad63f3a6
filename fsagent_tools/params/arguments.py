"""What an action takes: how it is declared, and how it is made of what a model sent.

Values that fit are taken as they are. For all else pydantic is asked, since importing it and making
a model takes longer than a whole `fsagent read`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from operator import ge, gt, le, lt
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin

from fsagent_tools.errors import InvalidArguments
from fsagent_tools.params.habits import QUOTES, under_shown_names, unquoted
from fsagent_tools.params.knob import LARGEST, REQUIRED, SHOWN, Knob, alternatives, json_type
from fsagent_tools.runtime.shadows import importing
from fsagent_tools.text import clip

if TYPE_CHECKING:
    from pydantic import BaseModel

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {"ge": ge, "gt": gt, "le": le, "lt": lt}


class Params:
    """Every knob of an action, frozen; a row of a toolset says which ones a model sees."""

    knobs: ClassVar[Mapping[str, Knob]] = {}
    _kinds: ClassVar[Mapping[str, tuple[Any, ...]]]  # types that a value may have
    _needed: ClassVar[set[str]]

    def __init_subclass__(cls) -> None:
        own = {name: vars(cls).get(name, REQUIRED) for name in cls.__annotations__}
        if any(hasattr(one, "is_required") for one in own.values()):
            raise TypeError(f"{cls.__name__}: Field is of fsagent_tools.params.knob here.")
        declared = {n: one if isinstance(one, Knob) else Knob(one) for n, one in own.items()}
        types = {name: replace(k, type=cls.__annotations__[name]) for name, k in declared.items()}
        cls.knobs = {**cls.knobs, **types}
        cls._kinds = {name: alternatives(one.type) for name, one in cls.knobs.items()}
        cls._needed = {name for name, one in cls.knobs.items() if one.required}

    def __init__(self, given: Mapping[str, Any]) -> None:
        """`given`: values that are known to fit."""
        own = vars(self)
        for name, knob in self.knobs.items():
            own[name] = knob.factory() if knob.factory else knob.default
        own.update(given)
        own["given"] = frozenset(given)

    given: ClassVar[frozenset[str]]  # the names of what the caller set

    @classmethod
    def fitting(cls, values: Mapping[str, Any]) -> Self | None:
        """With `values`, if they are of the right types as they are; None if pydantic must tell."""
        whole = cls._needed <= values.keys() <= cls.knobs.keys()
        return cls(values) if whole and all(map(cls.fits, values, values.values())) else None

    @classmethod
    def fits(cls, name: str, value: Any) -> bool:
        """Whether pydantic would take `value` as it is; False where only pydantic can tell."""
        return any(_is(value, kind) for kind in cls._kinds[name]) and (
            value is None
            or all(n in _ORDER and _ORDER[n](value, at) for n, at in cls.knobs[name].limits.items())
        )

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """`values` with what follows from them."""
        return values

    def changed(self, **values: Any) -> Self:
        """A copy in which these values, known to fit, replace its own."""
        return type(self)({**{name: vars(self)[name] for name in self.given}, **values})

    def as_json(self, *, given: bool = False) -> dict[str, Any]:
        """The values as JSON has them. given: only those that the caller set."""
        names = [name for name in self.knobs if not given or name in self.given]
        return {name: _validation().as_json(getattr(self, name)) for name in names}

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen.")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.knobs)
        return f"{type(self).__name__}({shown})"


@cache
def _validation() -> Any:
    with importing():
        return import_module("fsagent_tools.params.validation")


_P = TypeVar("_P", bound=Params)


def accepted(kind: type[_P], values: Mapping[str, Any], spelling: Callable[[str], str] = str) -> _P:
    """`values` as the action takes them. Raises `InvalidArguments`, with names by `spelling`."""
    values = kind.completed(values)
    if fitting := kind.fitting(values):
        return fitting
    try:
        made = _model(kind).model_validate(values)  # type: ignore[arg-type] # a class is hashable
    except ValueError as error:
        raise _validation().refusal_of(error, spelling) from None
    return kind({name: getattr(made, name) for name in made.model_fields_set})


@cache
def _model(kind: type[Params]) -> "type[BaseModel]":
    fields = {name: _validation().field_of(knob) for name, knob in kind.knobs.items()}
    model: type[BaseModel] = _validation().closed_model(kind.__name__, fields)
    return model


def parse_arguments(arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    """The arguments as a dict; JSON text is read with duplicate keys refused."""
    if not isinstance(arguments, str):
        if not isinstance(arguments, Mapping):
            raise InvalidArguments(f"Arguments are a JSON object, not {json_type(arguments)}.")
        return dict(arguments)
    try:
        value = json.loads(arguments, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise InvalidArguments(
            f"The arguments are not valid JSON: {str(error)[:SHOWN]}.", hint="Send a JSON object."
        ) from None
    return parse_arguments(value if isinstance(value, Mapping) else [value])  # type: ignore[arg-type]


def normalize_arguments(
    given: dict[str, Any], allowed: Iterable[str], absent: Callable[[str], Sequence[Any]]
) -> dict[str, Any]:
    """Aliases put in place, values dropped that are as good as none, the unknown refused."""
    allowed = list(allowed)
    if not given.keys() <= {*allowed}:
        given = under_shown_names(given, allowed)
    if unknown := [name for name in given if name not in allowed]:
        shown = ", ".join(repr(clip(str(name), SHOWN)) for name in unknown[:5])
        message = f"Unknown argument{'s' if len(unknown) > 1 else ''} {shown}."
        raise InvalidArguments(message, hint=f"Allowed: {', '.join(allowed) or 'none'}.")
    if any(isinstance(v, str) and v.startswith(QUOTES) for v in given.values()):
        given = unquoted(given)
    if huge := [k for k, v in given.items() if isinstance(v, int) and abs(v) >= LARGEST]:
        raise InvalidArguments(f"{huge[0]}: this number is too large.", hint="Send a smaller one.")
    return {name: v for name, v in given.items() if v or v not in absent(name)}


def number_as_text(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """`values` with the text `name` as text where it was sent as the number that it looks like."""
    value = values.get(name)
    return {**values, name: str(value)} if type(value) is int else values


def under_own_names(
    values: Mapping[str, Any],
    rename: Mapping[str, str],
    readers: Mapping[str, Callable[[Any], Any]],
) -> dict[str, Any]:
    """Values by model-facing name as the action's fields take them.

    Raises `InvalidArguments` for one that its reader does not take.
    """
    read = {name: readers[name](value) for name, value in values.items() if name in readers}
    return {rename.get(name, name): value for name, value in {**values, **read}.items()}


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"duplicate key {clip(key, SHOWN)!r}")
        found[key] = value
    return found


def _is(value: Any, kind: Any) -> bool:
    if kind in (str, bool, int, float):
        return type(value) is kind
    if get_origin(kind) is Literal:
        return any(type(value) is type(one) and value == one for one in get_args(kind))
    return kind is NoneType and value is None
