"""The parameters that a model sees: as JSON schemas, lean or strict, and as Python signatures."""

from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, create_model
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

_KINDS = {"string": str, "integer": int, "number": float, "boolean": bool, "object": dict}
_NULL = {"type": "null"}
STRICT_KEYWORDS = ("type", "description", "enum", "items", "properties", "required")


class Visible(BaseModel):
    """The parameters a model sees; its JSON schema is lean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema: dict[str, Any] = lean(handler(core_schema))
        return schema


class StrictlyVisible(Visible):
    """The parameters a model sees, for the strict modes of providers."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema: dict[str, Any] = strict_schema(lean(handler(core_schema)))
        return schema


def visible_model(
    name: str, parameters: Mapping[str, FieldInfo], *, strict: bool
) -> type[BaseModel]:
    """A pydantic model of these parameters."""
    fields: Any = {name: (one.annotation, one) for name, one in parameters.items()}
    return create_model(name, __base__=StrictlyVisible if strict else Visible, **fields)


def lean(schema: Any) -> Any:
    """A JSON schema without titles, null unions and defaults, which cost tokens and say nothing."""
    if isinstance(schema, list):
        return [lean(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    variants = [v for v in schema.get("anyOf", ()) if v != {"type": "null"}]
    if len(variants) == 1:
        schema = {**variants[0], **{k: v for k, v in schema.items() if k != "anyOf"}}
    drop = ("title", "default", "additionalProperties", "maxItems")
    return {
        key: {name: lean(field) for name, field in value.items()}
        if key == "properties"
        else lean(value)
        for key, value in schema.items()
        if key not in drop
    }


def strict_schema(schema: Any) -> Any:
    """A lean schema as strict modes of providers take it: all required, the optional nullable.

    It keeps only the keywords that all of them know; the rest is checked when a call comes.
    """
    if isinstance(schema, list):
        return [strict_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: strict_schema(v) for key, v in schema.items() if key in STRICT_KEYWORDS}
    if "properties" in schema:
        needed = schema.get("required", ())
        fields = {name: strict_schema(field) for name, field in schema["properties"].items()}
        nullable = {name: v if name in needed else _nullable(v) for name, v in fields.items()}
        required = {"required": [*nullable], "additionalProperties": False}
        return {**kept, "properties": nullable, **required}
    return kept


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    described = {key: schema[key] for key in ("description",) if key in schema}
    kept = {key: value for key, value in schema.items() if key not in described}
    return {
        **described,
        "anyOf": [kept, {"type": "null"}],
    }  # a list of types becomes text for Gemini


def signature_of(schema: Mapping[str, Any]) -> Signature:
    """Of a function with the parameters of `schema`, the required ones first."""
    required, fields = schema.get("required", ()), schema["properties"]
    optional = {n: n not in required or _NULL in f.get("anyOf", ()) for n, f in fields.items()}
    shown = [_parameter(name, fields[name], optional[name]) for name in fields]
    return Signature(sorted(shown, key=lambda p: optional[p.name]), return_annotation=str)


def named_arguments(
    signature: Signature, given: Sequence[Any], more: Mapping[str, Any]
) -> dict[str, Any]:
    """Positional arguments under their names, beside those by name; unknown names stay.

    Raises `TypeError` for too many, and for one that is given twice.
    """
    known = {name: value for name, value in more.items() if name in signature.parameters}
    return {**more, **signature.bind_partial(*given, **known).arguments}


def _parameter(name: str, schema: Mapping[str, Any], optional: bool) -> Parameter:
    kind = _type(schema)
    either: Any = {"annotation": kind | None, "default": None} if optional else {"annotation": kind}
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, **either)


def _type(schema: Mapping[str, Any]) -> Any:
    if "anyOf" in schema:
        return _type(schema["anyOf"][0])
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if schema.get("type") == "array":
        return list[_type(schema["items"])]  # type: ignore[misc] # made while running
    return _KINDS.get(schema.get("type", ""), Any)
