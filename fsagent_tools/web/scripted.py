"""The article of a page whose scripts make it of data in the page itself, such as Next.js."""

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any

_LEAST = 200  # characters of a passage
_WORD = 12  # characters of a word at most, on an average: longer ones are of code or addresses
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def article_in(scripts: Iterable[str]) -> str:
    """HTML of the passages in JSON, each once, in their order; "" where there are none."""
    found: dict[str, None] = {}
    for script in scripts:
        try:
            found |= dict.fromkeys(_passages(json.loads(script)))
        except (ValueError, RecursionError):
            continue
    parts = (text if _TAG.search(text) else f"<p>{escape(text)}</p>" for text in found)
    return "\n".join(parts)


def _passages(data: Any) -> Iterable[str]:
    ahead = [data]
    while ahead:
        value = ahead.pop()
        if isinstance(value, dict):
            ahead += reversed([*value.values()])
        elif isinstance(value, list):
            ahead += reversed(value)
        elif isinstance(value, str) and len(value) >= _LEAST:
            words = _TAG.sub("", value)
            if words.count(" ") * _WORD >= len(words) >= _LEAST:
                yield value
