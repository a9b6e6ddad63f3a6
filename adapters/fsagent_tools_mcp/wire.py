"""What a server may answer, as the client reads it. Other keys are passed over."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

INTERNAL_ERROR = -32603
Meta = Annotated[Mapping[str, Any], Field(alias="_meta")]
Parameter = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]\w*$")]


class _Wire(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class Hints(_Wire):
    read_only_hint: bool = False


class _Parameters(BaseModel):
    properties: Mapping[Parameter, Mapping[str, Any]] = {}
    required: list[str] = []


def _checked(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    _Parameters.model_validate(schema)
    return schema


class ToolTold(_Wire):
    name: Annotated[str, StringConstraints(pattern=r"^[\w-]{1,64}$")]
    description: str = ""
    input_schema: Annotated[Mapping[str, Any], AfterValidator(_checked)]
    annotations: Hints = Hints()
    meta: Meta = {}


class Tools(_Wire):
    tools: Annotated[list[ToolTold], Field(max_length=1000)]


class Resource(_Wire):
    mime_type: str = ""
    blob: str = ""


class Part(_Wire):
    """Of an answer: text, an image, or a document beside it."""

    type: str
    text: str = ""
    data: str = ""
    mime_type: str = ""
    resource: Resource = Resource()


class Result(_Wire):
    content: list[Part] = []
    structured_content: Mapping[str, Any] | None = None
    is_error: bool = False
    meta: Meta = {}


class ShapeTold(BaseModel):
    """How the document of the server's toolset shapes a returned dict."""

    envelope: Literal["flat", "data", "metadata", "bare"] = "flat"
    fields: Mapping[str, str] = {}
    codes: Mapping[str, str] = {}
    rows: Mapping[str, str] = {}
    otherwise: str = ""


class Asked(BaseModel):
    """`Request.to_dict()`, as far as the client needs it."""

    paths: tuple[str, ...] = ()
    diff: str = ""


class InputRequired(_Wire):
    request_state: str = ""
    meta: Meta = {}


class Error(_Wire):
    code: int
    message: str


class Message(_Wire):
    """A notification, or the answer to the request: its result, or an error."""

    jsonrpc: Literal["2.0"]
    method: str | None = None
    params: Mapping[str, Any] = {}
    result: Mapping[str, Any] | None = None
    error: Error | None = None
