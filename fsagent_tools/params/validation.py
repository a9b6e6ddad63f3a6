"""Values of the wrong type: what pydantic makes of them, and the words for what it refuses."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, to_jsonable_python

from fsagent_tools.errors import InvalidArguments
from fsagent_tools.params.knob import LARGEST, REQUIRED, SHOWN, Knob, json_type
from fsagent_tools.text import clip

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


def converter(name: str, knob: Knob, spelling: Callable[[str], str] = str) -> Callable[[Any], Any]:
    """What makes a value of `knob` from one of `name`. It raises `InvalidArguments`."""
    model = closed_model(name, {name: field_of(replace(knob, default=REQUIRED, factory=None))})
    return lambda value: getattr(instance(model, {name: value}, spelling), name)


def closed_model(name: str, fields: Mapping[str, Any]) -> type[BaseModel]:
    """A model of these fields, as `create_model` takes them, and of no others."""
    given: Any = fields
    return create_model(name, __config__=ConfigDict(extra="forbid"), **given)


def instance(model: type[M], values: Mapping[str, Any], spelling: Callable[[str], str] = str) -> M:
    """Raises `InvalidArguments`, which names fields by `spelling`."""
    try:
        return model.model_validate(values)
    except ValueError as error:
        raise refusal_of(error, spelling) from None


def field_of(knob: Knob) -> tuple[Any, FieldInfo]:
    """The parameter as `create_model` takes it: its type, and all else."""
    words: dict[str, Any] = {"description": knob.words} if knob.words else {}
    default = {"default_factory": knob.factory} if knob.factory else {"default": knob.default}
    given: Any = Field(**default, **words, **knob.limits)
    info = FieldInfo.from_annotated_attribute(knob.type, given)
    return info.annotation, info


def as_json(value: Any) -> Any:
    """The value as JSON has it."""
    return to_jsonable_python(value)


def refusal_of(error: ValueError, spelling: Callable[[str], str] = str) -> InvalidArguments:
    """What `error` of pydantic says, with names by `spelling`."""
    if not isinstance(error, ValidationError):
        raise error
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
