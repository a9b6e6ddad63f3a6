"""What a search service says beside its hits: answers of its own, and engines that failed."""

from collections.abc import Mapping, Sequence
from typing import Any

_SHOWN = 5  # answers, and engines
_PLACES = {  # of a text, of rows or of one row, each with the fields that are shown of it
    "answer": (),  # Tavily
    "answers": ("answer", "url"),  # SearXNG
    "answerBox": ("title", "answer", "snippet", "link"),  # Serper
    "knowledgeGraph": ("title", "type", "description"),
    "infoboxes": ("infobox", "content", "id"),  # SearXNG
    "infobox": ("title", "description", "long_desc", "url"),  # Brave, under `results`
}


def answers(reply: Any) -> list[str]:
    """Answers, infoboxes and the like, each in a line."""
    if not isinstance(reply, Mapping):
        return []
    found: list[str] = []
    for place, names in _PLACES.items():
        rows = reply.get(place)
        if isinstance(rows, Mapping):
            rows = rows.get("results", [rows])
        for row in rows if isinstance(rows, list) else [rows]:
            found.append(row if isinstance(row, str) else _line(row, names))
    return [text for text in dict.fromkeys(found) if text][:_SHOWN]


def failed(reply: Any) -> list[str]:
    """SearXNG's engines that did not answer, each with its reason."""
    rows = reply.get("unresponsive_engines") if isinstance(reply, Mapping) else None
    lines = [": ".join(map(str, row)) if isinstance(row, list) else str(row) for row in rows or ()]
    return lines[:_SHOWN]


def _line(row: Any, names: Sequence[str]) -> str:
    parts = [row.get(name) for name in names] if isinstance(row, Mapping) else []
    return " - ".join(part for part in parts if isinstance(part, str) and part)
