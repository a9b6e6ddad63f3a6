"""Parameters as a Python signature, for frameworks that list tools as functions."""

from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, Literal

_KINDS = {"string": str, "integer": int, "number": float, "boolean": bool, "object": dict}
_NULL = {"type": "null"}


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
