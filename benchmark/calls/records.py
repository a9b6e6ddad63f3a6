"""What a record must have to be read; whatever else it has is passed over."""

import json
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

Json = dict[str, Any]
Content = str | list[Any] | None


class Bad(Exception):
    """A record that cannot be read. place: which in its file, such as `line 3`; why: the reason."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(f"{place}: {why}")
        self.place, self.why = place, why


class Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class Function(Shape):
    name: str
    arguments: str | Json


class Called(Shape):
    """A function call of SWE-agent's history, in the form of OpenAI's chat completions."""

    id: str
    function: Function


class Turn(Shape):
    """A step of SWE-agent's trajectory."""

    action: str
    observation: str | None = None


class Action(Shape):
    """An action of OpenHands' first form."""

    id: int
    args: Json


class Observation(Shape):
    observation: str
    cause: int | None = None
    content: Content = None
    extras: Json = {}


class ActionEvent(Shape):
    """An action of OpenHands' second form, and what was observed."""

    tool_call_id: str
    action: Json


class ObservationEvent(Shape):
    tool_call_id: str
    observation: Json


class AtifCall(Shape):
    tool_call_id: str
    function_name: str
    arguments: Json


class AtifResult(Shape):
    source_call_id: str | None = None
    content: Content = None


class PiCall(Shape):
    id: str
    name: str
    arguments: Json


class PiResult(Shape):
    toolCallId: str  # noqa: N815  # as pi writes it
    content: str | list[Any]
    isError: bool  # noqa: N815


S = TypeVar("S", bound=Shape)


def fit(shape: type[S], record: Any, place: str) -> S:
    """The record in its shape. Raises `Bad` with the first thing that is wrong with it."""
    try:
        return shape.model_validate(record)
    except ValidationError as error:
        raise Bad(place, reason(error)) from None


def reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]


def loaded(data: bytes, place: str = "") -> Any:
    """JSON in UTF-8, with a byte order mark or without; no place: a whole file. Raises `Bad`."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Bad(place or "the file", f"byte {error.start} is no UTF-8") from None
    except json.JSONDecodeError as error:
        where = place or f"line {error.lineno}, column {error.colno}"
        raise Bad(where, f"no JSON, {error.msg}") from None
    except RecursionError:
        raise Bad(place or "the file", "nested too deeply") from None


def entries(record: Any, key: str, place: str = "") -> list[Any]:
    """The list at a key of an object, empty where there is none. Raises `Bad`."""
    if not isinstance(record, dict):
        raise Bad(place or "the file", f"{type(record).__name__} in place of an object")
    found = record.get(key)
    if found is not None and not isinstance(found, list):
        raise Bad(f"{place}.{key}".lstrip("."), f"{type(found).__name__} in place of a list")
    return found or []
