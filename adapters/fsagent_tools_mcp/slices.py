"""Data without the strings that the text beside it has: these are sent as places in it."""

from collections.abc import Mapping
from typing import Any

from fsagent_tools_mcp.meta import SLICE

SHORT = 200  # characters; what is not longer is sent as it is


def sliced(data: Mapping[str, Any], text: str) -> dict[str, Any]:
    """data: JSON-able."""
    return {key: _sliced(value, text) for key, value in data.items()}


def _sliced(value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return sliced(value, text)
    if isinstance(value, str) and len(value) > SHORT and (start := text.find(value)) >= 0:
        return {SLICE: [start, start + len(value)]}
    return value


def whole(data: Mapping[str, Any], text: str) -> dict[str, Any]:
    """What `sliced` was given."""
    return {key: _whole(value, text) for key, value in data.items()}


def _whole(value: Any, text: str) -> Any:
    if not isinstance(value, dict):
        return value
    if value.keys() == {SLICE}:
        start, end = value[SLICE]
        return text[start:end]
    return whole(value, text)
