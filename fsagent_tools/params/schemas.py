"""JSON schemas of the parameters that a model sees: lean, or for the strict modes of providers."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, create_model
from pydantic_core import CoreSchema

from fsagent_tools.params.knob import Knob
from fsagent_tools.params.validation import field_of

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


def visible_model(name: str, knobs: Mapping[str, Knob], *, strict: bool) -> type[BaseModel]:
    """A pydantic model of these parameters."""
    fields: Any = {n: field_of(knob) for n, knob in knobs.items()}
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
