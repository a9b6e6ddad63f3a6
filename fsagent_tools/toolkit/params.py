"""What an action takes: a pydantic model, and what is made of the arguments that a model sent."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from types import NoneType, UnionType
from typing import Any, Self, TypeVar, Union, get_args, get_origin

from annotated_types import Ge
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticUndefined

from fsagent_tools.errors import InvalidArguments
from fsagent_tools.text import clip
from fsagent_tools.toolkit.coercion import QUOTES, under_shown_names, unquoted

__all__ = [
    "Field",
    "Params",
    "accepted",
    "bare_type",
    "closed_model",
    "converter",
    "instance",
    "normalize_arguments",
    "number_as_text",
    "parse_arguments",
    "under_own_names",
    "with_default",
]
LARGEST = 2**63  # of an integer; a longer one may not even be printable
SHOWN = 60  # characters of a wrong value that come back in an error
M = TypeVar("M", bound=BaseModel)
_SUBJECT = re.compile("^(?:Value error, |(?:Input|String|List|Dictionary) (?=should ))")
_CLASS = re.compile(r"a valid dictionary(?: or (?:object|instance of \w+).*)?$")
_PLAIN = (  # pydantic's words -> fewer
    (", unable to .*", ""),
    ("a valid integer", "an integer"),
    ("a valid boolean", "true or false"),
    ("a valid ", "a "),
    ("greater than or equal to", "at least"),
    ("less than or equal to", "at most"),
)
_ALTERNATIVES = ("str", "list[str]")  # what pydantic adds to the place of a value of two types


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
    return instance(kind, kind.completed(values), spelling)


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


def json_type(value: object) -> str:
    """What a value is, in the words of JSON."""
    kinds = {list: "a list", dict: "an object", str: "a string", type(None): "null", bytes: "bytes"}
    return kinds.get(type(value), type(value).__name__)


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


def closed_model(name: str, fields: Mapping[str, FieldInfo]) -> type[BaseModel]:
    """A model of these fields and of no others."""
    given: Any = {each: (field.annotation, field) for each, field in fields.items()}
    return create_model(name, __config__=ConfigDict(extra="forbid"), **given)


def instance(model: type[M], values: Mapping[str, Any], spelling: Callable[[str], str] = str) -> M:
    """Raises `InvalidArguments`, which names fields by `spelling`."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InvalidArguments(_explained(error, spelling)) from None


def _explained(error: ValidationError, spelling: Callable[[str], str]) -> str:
    """One sentence per wrong argument, naming it; at most five, values clipped."""
    problems = error.errors(include_url=False)
    problems = [*filter(_tells, problems)] or problems
    sentences = [_sentence(problem, spelling) for problem in problems[:5]]
    if len(problems) > len(sentences):
        sentences.append(f"{len(problems) - len(sentences)} more problems like these.")
    return " ".join(sentences)


def _tells(problem: ErrorDetails) -> bool:
    """Of a value that may be a text or a list, what is wrong with it as the one that it is."""
    kind = problem["loc"][-1:]
    return kind != ("list[str]",) and not (kind == ("str",) and isinstance(problem["input"], list))


def _sentence(problem: ErrorDetails, spelling: Callable[[str], str]) -> str:
    first, *rest = problem["loc"] or ("arguments",)
    inner = (clip(str(part), SHOWN) for part in rest if part not in _ALTERNATIVES)
    name = ".".join([spelling(str(first)), *inner])
    if problem["type"] == "missing":
        return f"{name}: this argument is required."
    if problem["type"] == "extra_forbidden":
        return f"{name}: there is no such key here; leave it out."
    message = re.sub(_SUBJECT, "", problem["msg"]).replace("valid tuple", "valid list")
    message = re.sub(_CLASS, "an object", message)  # names of our classes say nothing to a model
    for pattern, plain in _PLAIN:
        message = re.sub(pattern, plain, message)
    got = problem.get("input")
    if problem["type"] == "less_than_equal" and name == "timeout":
        seconds = f"{name}: seconds, at most {problem['ctx']['le']:g} (got {got})"
        return f"{seconds}; if these are milliseconds, send {float(got) / 1000:g}."
    if problem["type"] == "value_error" and isinstance(got, dict):
        return f"{name}: {message[:300].rstrip('.')}."  # which says what it had
    value = repr(got) if isinstance(got, str) else repr(got) if _plain(got) else ""
    sent = f" (got {clip(value, SHOWN)})" if value else f" (got {json_type(got)})"
    return f"{name}: {message[:300].rstrip('.')}{sent}."


def _plain(value: object) -> bool:
    return (
        value is None
        or isinstance(value, float)
        or (isinstance(value, int) and abs(value) < LARGEST)
    )
