"""What importers agree on: an agent called a tool and was told something; files follow from it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.calls.form import Call
from benchmark.calls.records import Bad

PATHS = ("path", "file_path", "filePath", "filename")
OLDS = ("old_str", "old_string", "oldText", "oldString", "old_text")
NEWS = ("new_str", "new_string", "newText", "newString", "new_text")
WHOLES = ("file_text", "content", "contents")
PARTIAL = ("view_range", "offset", "limit", "start_line", "end_line", "start")
ROW = re.compile(r"^\s*(\d+)(?:\t|→|\|)(.*)$")
FAILED = re.compile(r"^\s*(?:\w*error\b|no replacement|invalid|failed|could not|no match)", re.I)
CUT = re.compile(r"truncated|clipped|more lines|NOTE</", re.I)


@dataclass
class Asked:
    """A call of a tool. place: which record it is in the file."""

    id: str
    place: str
    arguments: Mapping[str, Any]


@dataclass
class Answer:
    """failed: None where only words tell. before, after: the file, where the harness says it."""

    id: str
    result: str
    failed: bool | None = None
    before: str | None = None
    after: str | None = None


@dataclass
class Step:
    """answer: None where none is recorded."""

    asked: Asked
    answer: Answer | None

    @property
    def ok(self) -> bool:
        if self.answer is None:
            return False
        failed = self.answer.failed
        return not FAILED.match(self.answer.result) if failed is None else not failed


Event = Asked | Answer | Bad


def matched(events: Iterable[Event]) -> Iterator[Step | Bad]:
    """Calls with the next answer that has their ID; IDs may come again."""
    waiting: dict[str, Asked] = {}
    for event in events:
        if isinstance(event, Bad):
            yield event
        elif isinstance(event, Asked):
            if event.id in waiting:
                yield Step(waiting.pop(event.id), None)
            waiting[event.id] = event
        elif asked := waiting.pop(event.id, None):
            yield Step(asked, event)
    for asked in waiting.values():
        yield Step(asked, None)


@dataclass
class Files:
    """Files as an agent's own steps tell: what it wrote, read whole, or changed in a known way.

    name: what the names of its calls begin with.
    """

    name: str = ""
    texts: dict[str, str] = field(default_factory=dict)

    def calls(self, source: str, steps: Iterable[Step | Bad]) -> Iterator[Call | Bad]:
        """The edits among the steps that met a known text, and the records that are bad."""
        for step in steps:
            if isinstance(step, Bad):
                yield step
                continue
            try:
                yield from self.step(source, step)
            except Bad as bad:
                yield bad

    def step(self, source: str, step: Step) -> Iterator[Call]:
        given, place = step.asked.arguments, step.asked.place
        path = first(given, PATHS)
        pairs = list(edits(given, place))
        whole = first(given, WHOLES)
        if pairs and not isinstance(path, str):
            raise Bad(place, "an edit without a path")
        if not isinstance(path, str):
            return
        if pairs:
            yield from self.edited(source, step, path, pairs)
        elif isinstance(whole, str) and step.ok:
            self.texts[path] = whole
        elif given.get("command", "view") == "view" and step.answer and step.ok:
            self.seen(given, step.answer.result, path)

    def edited(
        self, source: str, step: Step, path: str, pairs: list[tuple[str, str]]
    ) -> Iterator[Call]:
        known = self.texts.pop(path, None)
        if step.answer is None:
            raise Bad(step.asked.place, "an edit of which no result is recorded")
        before = step.answer.before if step.answer.before is not None else known
        if before is None:
            return
        for number, (old, new) in enumerate(pairs):
            last = number == len(pairs) - 1
            exact = before.replace(old, new) if old and before.count(old) == 1 else None
            after = step.answer.after if last and step.answer.after is not None else exact
            after = after if step.ok else before
            name = f"{self.name} {Path(path).name}-{step.asked.id}" + (
                f"-{number}" if number else ""
            )
            every = step.asked.arguments.get("replace_all") is True
            yield Call(name.lstrip(), source, path, before, old, new, every, step.ok, after)
            if after is None:
                return
            before = after
        self.texts[path] = before

    def seen(self, given: Mapping[str, Any], shown: str, path: str) -> None:
        """A whole file, with line numbers or without; a part of one tells nothing that is new.

        Where lines are numbered nothing tells of a newline at the end, and one is assumed.
        """
        if any(given.get(key) is not None for key in PARTIAL) or not path:
            return
        if CUT.search(shown[:200] + shown[-200:]):
            return
        rows = [ROW.match(line) for line in shown.split("\n")]
        numbered = [row for row in rows if row]
        if numbered and numbered[0][1] == "1":
            self.texts.setdefault(path, "\n".join(row[2] for row in numbered) + "\n")
        elif not numbered and given.get("command") is None:
            self.texts.setdefault(path, shown)


def first(arguments: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((arguments[key] for key in keys if arguments.get(key) is not None), None)


def edits(arguments: Mapping[str, Any], place: str) -> Iterator[tuple[str, str]]:
    """The pairs of old and new text of a call; some tools take several.

    A pair without new text deletes. Raises `Bad` where one is no text.
    """
    inner = arguments.get("edits")
    if inner is not None and not isinstance(inner, list):
        raise Bad(place, f"edits: {type(inner).__name__} in place of a list")
    for each in [arguments] if inner is None else inner:
        if not isinstance(each, Mapping):
            raise Bad(place, f"edits: {type(each).__name__} in place of an object")
        old, new = first(each, OLDS), first(each, NEWS)
        if old is None and inner is None:
            return
        if not isinstance(old, str) or not isinstance(new, str | None):
            raise Bad(place, "old or new is no text")
        yield old, new or ""
