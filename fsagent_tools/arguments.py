"""From what a model sent to what an action takes, and the words for what does not fit."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fsagent_tools.errors import InvalidArguments
from fsagent_tools.text import clip

# Spellings models are known to slip into; never shown, accepted in place of the shown name.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "path": ("file_path", "filename", "file", "directory", "dir"),
    "file_path": ("path", "filename", "file", "filepath"),
    "content": ("contents", "text", "file_text"),
    "old_string": ("old_str", "old_text", "search_string"),
    "new_string": ("new_str", "new_text", "replace_string"),
    "search_string": ("old_string", "old_str"),
    "replace_string": ("new_string", "new_str"),
    "pattern": ("regex", "glob_pattern"),
    "changes": ("edits",),
    "include": ("glob",),
    "command": ("cmd",),
    "line": ("insert_line", "line_number"),
    "source": ("src", "source_path"),
    "destination": ("dst", "destination_path", "dest"),
}
LARGEST = 2**63  # of an integer; a longer one may not even be printable
STRICT_KEYWORDS = ("type", "description", "enum", "items", "properties", "required")
_SHOWN = 60  # characters of a wrong value that come back in an error


def parse_arguments(arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    """The arguments as a dict; JSON text is read with duplicate keys refused."""
    if not isinstance(arguments, str):
        if not isinstance(arguments, Mapping):
            raise InvalidArguments(f"Arguments are a JSON object, not {_kind(arguments)}.")
        return dict(arguments)
    try:
        value = json.loads(arguments, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise InvalidArguments(
            f"The arguments are not valid JSON: {str(error)[:_SHOWN]}.", hint="Send a JSON object."
        ) from None
    return parse_arguments(value if isinstance(value, Mapping) else [value])  # type: ignore[arg-type]


def normalize_arguments(
    given: dict[str, Any], allowed: Iterable[str], optional: Callable[[str], bool]
) -> dict[str, Any]:
    """Aliases put in place, null and "" dropped where there is a default, the unknown refused."""
    allowed = list(allowed)
    for name in allowed:
        for alias in ALIASES.get(name, ()):
            if alias in allowed or alias not in given:
                continue
            value = given.pop(alias)
            if given.setdefault(name, value) != value:
                raise InvalidArguments(f"{name!r} and its alias {alias!r} contradict each other.")
    if unknown := [name for name in given if name not in allowed]:
        shown = ", ".join(repr(clip(str(name), _SHOWN)) for name in unknown[:5])
        raise InvalidArguments(
            f"Unknown argument {shown}.", hint=f"Allowed: {', '.join(allowed) or 'none'}."
        )
    if huge := [k for k, v in given.items() if isinstance(v, int) and abs(v) >= LARGEST]:
        raise InvalidArguments(f"{huge[0]}: this number is too large.", hint="Send a smaller one.")
    return {name: v for name, v in given.items() if v not in (None, "") or not optional(name)}


def explain(error: ValidationError, spelling: Callable[[str], str] = str) -> str:
    """One sentence per wrong argument, naming it; at most five, values clipped."""
    problems = error.errors(include_url=False)
    told = [_sentence(problem, spelling) for problem in problems[:5]]
    if len(problems) > len(told):
        told.append(f"{len(problems) - len(told)} more problems like these.")
    return " ".join(told)


def lean(schema: Any) -> Any:
    """A JSON schema without titles, null unions and defaults, which cost tokens and say nothing."""
    if isinstance(schema, list):
        return [lean(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    variants = [v for v in schema.get("anyOf", ()) if v != {"type": "null"}]
    if len(variants) == 1:
        schema = {**variants[0], **{k: v for k, v in schema.items() if k != "anyOf"}}
    drop = ("title", "default", "additionalProperties")
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
    told = {key: schema[key] for key in ("description",) if key in schema}
    kept = {key: value for key, value in schema.items() if key not in told}
    return {**told, "anyOf": [kept, {"type": "null"}]}  # a list of types becomes text for Gemini


def _sentence(problem: ErrorDetails, spelling: Callable[[str], str]) -> str:
    first, *rest = problem["loc"] or ("arguments",)
    name = ".".join([spelling(str(first)), *(clip(str(part), _SHOWN) for part in rest)])
    if problem["type"] == "missing":
        return f"{name}: this argument is required."
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Input ")
    got = problem.get("input")
    value = repr(got) if isinstance(got, str) else repr(got) if _plain(got) else ""
    sent = f" (got {clip(value, _SHOWN)})" if value else f" (got {_kind(got)})"
    return f"{name}: {message[:300].rstrip('.')}{sent}."


def _plain(value: object) -> bool:
    return (
        value is None
        or isinstance(value, float)
        or (isinstance(value, int) and abs(value) < LARGEST)
    )


def _kind(value: object) -> str:
    kinds = {list: "a list", dict: "an object", str: "a string", type(None): "null", bytes: "bytes"}
    return kinds.get(type(value), type(value).__name__)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"duplicate key {clip(key, _SHOWN)!r}")
        found[key] = value
    return found
