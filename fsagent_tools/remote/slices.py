"""Data without the strings that the text beside it has: these are sent as places in it."""

from collections.abc import Mapping
from typing import Any

from fsagent_tools.runtime.weight import LARGEST_MESSAGE

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
    """What `sliced` was given. Raises `ValueError` for what it cannot have made."""
    return _Unslicing(text).mapping(data)


class _Unslicing:
    """Of one reply: the parts of its text together are no longer than the largest answer."""

    def __init__(self, text: str) -> None:
        self._text, self._left = text, LARGEST_MESSAGE

    def mapping(self, data: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self._value(value) for key, value in data.items()}

    def _value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return self._part(value[SLICE]) if value.keys() == {SLICE} else self.mapping(value)

    def _part(self, place: Any) -> str:
        match place:
            case [int(start), int(end)] if 0 <= start <= end <= len(self._text):
                self._left -= end - start
                if self._left >= 0:
                    return self._text[start:end]
        raise ValueError("a part of the answer is not in its text")
