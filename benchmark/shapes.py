"""Calls whose arguments are not of the form that was asked for, though what is meant is plain."""

import json
import re
from collections.abc import Callable
from typing import Any

from benchmark.dialects.base import Arguments

PATHS = frozenset({"path", "file_path"})
TEXTS = frozenset({"new_content", "new_string", "new_str", "newText"})


def each(arguments: Any, change: Callable[[str, Any], tuple[str, Any]]) -> Any:
    """All pairs of all objects changed, the inner ones first."""
    if isinstance(arguments, list):
        return [each(one, change) for one in arguments]
    if not isinstance(arguments, dict):
        return arguments
    return dict(change(key, each(value, change)) for key, value in arguments.items())


def json_text(sent: Arguments) -> Arguments:
    """A list or an object as JSON text."""
    return {k: json.dumps(v) if isinstance(v, list | dict) else v for k, v in sent.items()}


def camel(sent: Arguments) -> Arguments:
    def change(key: str, value: Any) -> tuple[str, Any]:
        return re.sub("_([a-z])", lambda m: m[1].upper(), key), value

    return dict(each(sent, change))


def lines(sent: Arguments) -> Arguments:
    """The new text as a list of its lines."""

    def change(key: str, value: Any) -> tuple[str, Any]:
        return key, value.split("\n") if key in TEXTS and "\n" in value else value

    return dict(each(sent, change))


def dotted(sent: Arguments) -> Arguments:
    return {key: f"./{value}" if key in PATHS else value for key, value in sent.items()}


def bare(sent: Arguments) -> Arguments:
    """The only element of a list in place of the list, its keys beside the path."""
    inner = [value for value in sent.values() if isinstance(value, list) and len(value) == 1]
    outer = {key: value for key, value in sent.items() if not isinstance(value, list)}
    return {**outer, **inner[0][0]} if len(inner) == 1 else sent


SHAPES: dict[str, Callable[[Arguments], Arguments]] = {
    "a list as JSON text": json_text,
    "a list's only element bare": bare,
    "keys in camel case": camel,
    "the new text as a list": lines,
    "a path with ./": dotted,
    "a key too much": lambda sent: {**sent, "explanation": "as asked"},
    "all in one object": lambda sent: {"input": sent},
}
