"""What importers agree on: an agent called a tool and was told something; files follow from it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.calls.form import Call

PATHS = ("path", "file_path", "filePath", "filename")
OLDS = ("old_str", "old_string", "oldText", "oldString", "old_text")
NEWS = ("new_str", "new_string", "newText", "newString", "new_text")
WHOLES = ("file_text", "content", "contents")
PARTIAL = ("view_range", "offset", "limit", "start_line", "end_line", "start")
ROW = re.compile(r"^\s*(\d+)(?:\t|→|\|)(.*)$")
FAILED = re.compile(r"^\s*(?:\w*error\b|no replacement|invalid|failed|could not|no match)", re.I)
CUT = re.compile(r"truncated|clipped|more lines|NOTE</", re.I)


@dataclass
class Step:
    """failed: None where only words tell. before, after: the file, where the harness says it."""

    id: str
    arguments: Mapping[str, Any]
    result: str
    failed: bool | None = None
    before: str | None = None
    after: str | None = None

    @property
    def ok(self) -> bool:
        return not FAILED.match(self.result) if self.failed is None else not self.failed


@dataclass
class Files:
    """Files as an agent's own steps tell: what it wrote, read whole, or changed in a known way."""

    texts: dict[str, str] = field(default_factory=dict)

    def calls(self, source: str, steps: Iterable[Step]) -> Iterator[Call]:
        """The edits among the steps that met a known text."""
        for step in steps:
            path = str(first(step.arguments, PATHS) or "")
            pairs = list(edits(step.arguments))
            whole = first(step.arguments, WHOLES)
            if pairs:
                yield from self.edited(source, step, path, pairs)
            elif isinstance(whole, str) and step.ok:
                self.texts[path] = whole
            elif step.arguments.get("command", "view") == "view" and step.ok:
                self.seen(step, path)

    def edited(
        self, source: str, step: Step, path: str, pairs: list[tuple[str, str]]
    ) -> Iterator[Call]:
        before = step.before if step.before is not None else self.texts.pop(path, None)
        if before is None:
            return
        for number, (old, new) in enumerate(pairs):
            last = number == len(pairs) - 1
            exact = before.replace(old, new) if old and before.count(old) == 1 else None
            after = step.after if last and step.after is not None else exact
            after = after if step.ok else before
            name = f"{Path(path).name}-{step.id}" + (f"-{number}" if number else "")
            every = bool(step.arguments.get("replace_all"))
            yield Call(name, source, path, before, old, new, every, step.ok, after)
            if after is None:
                return
            before = after
        self.texts[path] = before

    def seen(self, step: Step, path: str) -> None:
        """A whole file, with line numbers or without; a part of one tells nothing that is new."""
        if any(step.arguments.get(key) is not None for key in PARTIAL) or not path:
            return
        rows = [ROW.match(line) for line in step.result.split("\n")]
        numbered = [row for row in rows if row]
        if CUT.search(step.result[:200] + step.result[-200:]):
            return
        if numbered and numbered[0][1] == "1":
            self.texts.setdefault(path, "\n".join(row[2] for row in numbered) + "\n")
        elif not numbered and step.arguments.get("command") is None:
            self.texts.setdefault(path, step.result)


def first(arguments: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((arguments[key] for key in keys if arguments.get(key) is not None), None)


def edits(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The pairs of old and new text of a call; some tools take several."""
    inner = arguments.get("edits")
    for each in inner if isinstance(inner, list) else [arguments]:
        old, new = first(each, OLDS), first(each, NEWS)
        if isinstance(old, str):
            yield old, new if isinstance(new, str) else ""
