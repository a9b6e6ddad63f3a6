"""What an action takes: a pydantic model, and what is made of the arguments that a model sent."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from types import NoneType, UnionType
from typing import Any, Self, TypeVar, Union, get_args, get_origin

from annotated_types import Ge
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from fsagent_tools.errors import InvalidArguments
from fsagent_tools.text import clip
from fsagent_tools.toolkit.coercion import QUOTES, under_shown_names, unquoted
from fsagent_tools.validation import LARGEST, SHOWN, closed_model, instance, json_type, refusal_of

__all__ = [
    "Field",
    "Params",
    "accepted",
    "bare_type",
    "converter",
    "normalize_arguments",
    "number_as_text",
    "parse_arguments",
    "under_own_names",
    "with_default",
]


class Params(BaseModel):
    """Every parameter of an action, frozen; a row of a toolset says which ones a model sees."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """`values` with what follows from them."""
        return values

    @property
    def given(self) -> frozenset[str]:
        """The names of what the caller set."""
        return frozenset(self.model_fields_set)

    def changed(self, **values: Any) -> Self:
        """A copy in which these values, known to fit, replace its own."""
        return self.model_copy(update=values)

    def as_json(self, *, given: bool = False) -> dict[str, Any]:
        """The values as JSON has them. given: only those that the caller set."""
        return self.model_dump(mode="json", exclude_unset=given)


_P = TypeVar("_P", bound=Params)


def accepted(kind: type[_P], values: Mapping[str, Any], spelling: Callable[[str], str] = str) -> _P:
    """`values` as the action takes them. Raises `InvalidArguments`, with names by `spelling`."""
    try:
        return kind.model_validate(kind.completed(values))
    except ValidationError as error:
        raise refusal_of(error, spelling) from None


def absent_values(field: FieldInfo) -> tuple[Any, ...]:
    """What is sent for no value of its own: of a limit, which is at least 1, also 0."""
    if field.is_required():
        return ()
    lowest = next((one.ge for one in field.metadata if isinstance(one, Ge)), 0)
    return (None, "", 0) if isinstance(field.default, int) and lowest >= 1 else (None, "")


def bare_type(field: FieldInfo) -> Any:
    """The type without None."""
    kinds = [one for one in alternatives(field.annotation) if one is not NoneType]
    return kinds[0] if len(kinds) == 1 else field.annotation


def alternatives(kind: Any) -> tuple[Any, ...]:
    """The types of a union; a type that is none stands alone."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def with_default(field: FieldInfo, default: Any, description: str | None = None) -> FieldInfo:
    """The same parameter with another default; `PydanticUndefined` makes it required."""
    made = copy(field)
    made.default, made.default_factory = default, None
    made.description = description or field.description
    return made


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


def converter(
    name: str, field: FieldInfo, spelling: Callable[[str], str] = str
) -> Callable[[Any], Any]:
    """What makes a value of `field` from one of `name`. It raises `InvalidArguments`."""
    model = closed_model(name, {name: with_default(field, PydanticUndefined)})
    return lambda value: getattr(instance(model, {name: value}, spelling), name)
