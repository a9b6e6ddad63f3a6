"""Values from outside as pydantic takes them, and the words for what it refuses."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from fsagent_tools.errors import ConfigInvalid, InvalidArguments
from fsagent_tools.text import clip

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


def check_types(given: Mapping[str, object], **types: Any) -> None:
    """Raise `ConfigInvalid` for a value of another type, or for no word of a `Literal`."""
    for name, kind in types.items():
        value, words = given[name], get_args(kind)
        if get_origin(kind) is Literal and value not in words:
            raise ConfigInvalid(f"{name} is one of {', '.join(words)}, not {value!r}.")
        if get_origin(kind) is not Literal and not isinstance(value, kind):
            spelt = getattr(kind, "__name__", None) or re.sub(r"\w+\.", "", str(kind))
            raise ConfigInvalid(f"{name} is of type {spelt}, not {value!r}.")


def json_type(value: object) -> str:
    """What a value is, in the words of JSON."""
    kinds = {list: "a list", dict: "an object", str: "a string", type(None): "null", bytes: "bytes"}
    return kinds.get(type(value), type(value).__name__)


def closed_model(name: str, fields: Mapping[str, FieldInfo]) -> type[BaseModel]:
    """A model of these fields and of no others."""
    given: Any = {each: (field.annotation, field) for each, field in fields.items()}
    return create_model(name, __config__=ConfigDict(extra="forbid"), **given)


def instance(model: type[M], values: Mapping[str, Any], spelling: Callable[[str], str] = str) -> M:
    """Raises `InvalidArguments`, which names fields by `spelling`."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise refusal_of(error, spelling) from None


def refusal_of(error: ValidationError, spelling: Callable[[str], str] = str) -> InvalidArguments:
    """What pydantic refused, with names by `spelling`."""
    return InvalidArguments(_explained(error, spelling))


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
