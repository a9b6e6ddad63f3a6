"""What a search service says beside its hits: answers of its own, and engines that failed."""

from collections.abc import Iterator, Mapping
from typing import Any

_SHOWN = 5  # answers, and engines


def answers(said: Any) -> list[str]:
    """Tavily's and SearXNG's answers, infoboxes, Serper's answer box and knowledge graph."""
    if not isinstance(said, Mapping):
        return []
    found = [*_answers(said), *_boxes(said)]
    return [text for text in dict.fromkeys(found) if text][:_SHOWN]


def failed(said: Any) -> list[str]:
    """SearXNG's engines that did not answer, each with its reason."""
    rows = said.get("unresponsive_engines") if isinstance(said, Mapping) else None
    lines = [": ".join(map(str, row)) if isinstance(row, list) else str(row) for row in rows or ()]
    return lines[:_SHOWN]


def _answers(said: Mapping[str, Any]) -> Iterator[str]:
    yield _line(said, "answer")
    rows = said.get("answers")
    for row in rows if isinstance(rows, list) else ():
        yield row if isinstance(row, str) else _line(row, "answer", "url")


def _boxes(said: Mapping[str, Any]) -> Iterator[str]:
    yield _line(said.get("answerBox"), "title", "answer", "snippet", "link")
    yield _line(said.get("knowledgeGraph"), "title", "type", "description")
    rows = said.get("infoboxes")
    for row in rows if isinstance(rows, list) else ():
        yield _line(row, "infobox", "content", "id")
    box = said.get("infobox")  # Brave's
    rows = box.get("results") if isinstance(box, Mapping) else None
    for row in rows if isinstance(rows, list) else ():
        yield _line(row, "title", "description", "long_desc", "url")


def _line(row: Any, *names: str) -> str:
    parts = [row.get(name) for name in names] if isinstance(row, Mapping) else []
    return " - ".join(part for part in parts if isinstance(part, str) and part)
