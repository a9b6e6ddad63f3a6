"""What a row shows when it is opened, packed so that the page keeps to a size."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from fsagent_tools.report.logged import LoggedCall

_Body = dict[str, Any]  # one letter for each part, as page.js reads them
_LONGEST, _SHORTEST = 32_768, 512  # characters of one text
_FACTS = ("session", "run", "call", "code", "exit_code")
_DIGESTS = ("sha256_before", "sha256_after")


def packed(records: Sequence[LoggedCall], size: int) -> tuple[str, bool]:
    """The bodies of all records, for a page that has `size` bytes left; whether some were cut.

    Deflated JSON in base64. The longest texts are shortened to a common length.
    """
    bodies = [_body_of(record) for record in records]
    lengths = _lengths(bodies)
    longest = _common(lengths, 12 * size)  # what packs best has a twelfth of its length
    while True:
        whole = [_shortened(body, longest) for body in bodies]
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        data = base64.b64encode(zlib.compress(text.encode(errors="replace"))).decode()
        if len(data) <= size or longest <= _SHORTEST:
            return data, whole != bodies
        shown = sum(min(length, longest) for length in lengths)
        longest = min(_common(lengths, int(0.95 * shown * size / len(data))), longest * 9 // 10)


def _common(lengths: Sequence[int], room: int) -> int:
    """The length to which texts are cut so that all of them have room."""
    left = room
    for place, length in enumerate(lengths):
        if length * (len(lengths) - place) > left:
            return min(max(left // (len(lengths) - place), _SHORTEST), _LONGEST)
        left -= length
    return _LONGEST


def _lengths(value: Any) -> list[int]:
    """Of all texts in it, the shortest first."""
    waiting, found = [value], list[int]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            found.append(len(part))
        elif isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return sorted(found)


def _body_of(record: LoggedCall) -> _Body:
    """f: facts, c: the command, a: arguments, d: diffs, t: what the model read."""
    facts = {name: record[name] for name in _FACTS if record.get(name) not in (None, "")}
    facts |= {name: record[name][:12] for name in _DIGESTS if record.get(name)}
    body: _Body = {"f": facts}
    if command := record.get("command"):
        body["c"] = command
    given = record.get("arguments")
    if isinstance(given, Mapping):
        body["a"] = {name: _text(value) for name, value in given.items() if name != "command"}
    elif given:
        body["a"] = {"": _text(given)}
    if diffs := record.get("diffs"):
        body["d"] = [str(diff.get("diff", "")) for diff in diffs if isinstance(diff, dict)]
    if text := record.get("text"):
        body["t"] = text
    if (changed := record.get("changed")) and not diffs:
        body["p"] = [str(path) for path in changed]
    return body


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    lines = 1 if isinstance(value, dict | list) else None
    return json.dumps(_given(_shortened(value, _LONGEST)), ensure_ascii=False, indent=lines)


def _given(value: Any) -> Any:
    """Without nulls, which stand for what the model did not give."""
    if isinstance(value, dict):
        return {name: _given(part) for name, part in value.items() if part is not None}
    return [_given(part) for part in value] if isinstance(value, list) else value


def _shortened(value: Any, longest: int) -> Any:
    if isinstance(value, str) and len(value) > longest:
        head, tail = value[: longest * 2 // 3], value[-(longest // 3) :]
        left_out = len(value) - len(head) - len(tail)
        return f"{head}\n… {left_out:,} characters left out …\n{tail}"
    if isinstance(value, dict):
        return {name: _shortened(part, longest) for name, part in value.items()}
    return [_shortened(part, longest) for part in value] if isinstance(value, list) else value
