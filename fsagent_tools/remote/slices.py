"""Data without the strings that the text beside it has: these are sent as places in it."""

from collections.abc import Mapping
from typing import Any

SLICE = "io.github.fsagent-tools/slice"  # the only key of what stands for a part: from, to
SLICED_FROM = 200  # characters; shorter strings are sent as they are


def sliced(data: Mapping[str, Any], text: str) -> dict[str, Any]:
    """data: JSON-able."""
    return {key: _sliced(value, text) for key, value in data.items()}


def _sliced(value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return sliced(value, text)
    if isinstance(value, str) and len(value) >= SLICED_FROM and (start := text.find(value)) >= 0:
        return {SLICE: [start, start + len(value)]}
    return value


def unsliced(data: Mapping[str, Any], text: str) -> dict[str, Any]:
    """What `sliced` was given."""
    return {key: _unsliced(value, text) for key, value in data.items()}


def _unsliced(value: Any, text: str) -> Any:
    if not isinstance(value, dict):
        return value
    if value.keys() == {SLICE}:
        start, end = value[SLICE]
        return text[start:end]
    return unsliced(value, text)
