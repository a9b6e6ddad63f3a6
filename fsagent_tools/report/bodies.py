"""What a row shows when it is opened, packed so that the page keeps to a size."""

import base64
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from fsagent_tools.report.logged import LoggedCall
from fsagent_tools.report.redact import beginning, ending, redacted, redacted_all, without_controls

_Body = dict[str, Any]  # one letter for each part, as page.js reads them
_LONGEST, _SHORTEST = 32_768, 512  # characters of one text
_FAST, _SMALL = 1, 6  # levels: the first turn only finds how much there is room for
_SHARE = 0.85  # about how long the data of the second are, of those of the first
_FACTS = ("session", "run", "call", "code", "exit_code")
_DIGESTS = ("sha256_before", "sha256_after")


def packed(records: Sequence[LoggedCall], size: int) -> tuple[str, bool]:
    """The bodies of all records, for a page that has `size` bytes left; whether some were cut.

    Deflated JSON in base64. The longest texts are shortened to a common length, and of what is
    longer than could be shown only the ends are looked through for secrets.
    """
    lengths = _lengths([*records])
    cover = cache(partial(_ends, longest=_common(lengths, 12 * size)))  # much is told twice
    bodies = [_body_of(record, cover) for record in records]
    lengths = _lengths(bodies)
    longest, level, share = _common(lengths, 12 * size), _FAST, _SHARE
    while True:
        whole = [_shortened(body, longest) for body in bodies]
        text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        data = base64.b64encode(zlib.compress(text.encode(errors="replace"), level)).decode()
        if (length := share * len(data)) > size and longest > _SHORTEST:
            now = sum(min(one, longest) for one in lengths)
            longest = min(_common(lengths, int(0.95 * now * size / length)), longest * 9 // 10)
        elif level == _SMALL:
            return data, whole != bodies
        level, share = _SMALL, 1.0


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
        one = waiting.pop()
        if isinstance(one, str):
            found.append(len(one))
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return sorted(found)


class _Ends(str):
    """The beginning and the end of a text. first: characters of the beginning. whole: of all."""

    first: int
    whole: int


def _ends(text: str, longest: int) -> str:
    """Without secrets, and of what is much longer than `longest` only the ends."""
    head, tail = longest * 2 // 3, longest // 3
    if len(text) <= 2 * longest:
        return without_controls(redacted(text))
    first, last = (
        without_controls(beginning(text, head)[:head]),
        without_controls(ending(text, tail)[-tail:]),
    )
    found = _Ends(first + last)
    found.first, found.whole = len(first), len(text)
    return found


def _body_of(record: LoggedCall, cover: Callable[[str], str]) -> _Body:
    """f: facts, c: the command, a: arguments, d: diffs, t: what the model read."""
    facts = {name: record[name] for name in _FACTS if record.get(name) not in (None, "")}
    facts |= {name: record[name][:12] for name in _DIGESTS if record.get(name)}
    body: _Body = {"f": redacted_all(facts, cover)}
    if command := record.get("command"):
        body["c"] = cover(command)
    given = record.get("arguments")
    if isinstance(given, Mapping):
        shown = {name: value for name, value in given.items() if name != "command"}
        body["a"] = {name: _text(value) for name, value in redacted_all(shown, cover).items()}
    elif given:
        body["a"] = {"": cover(_text(given))}
    if diffs := record.get("diffs"):
        body["d"] = [cover(str(one.get("diff", ""))) for one in diffs if isinstance(one, dict)]
    if text := record.get("text"):
        body["t"] = cover(text)
    if (changed := record.get("changed")) and not diffs:
        body["p"] = [cover(str(path)) for path in changed]
    return body


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    lines = 1 if isinstance(value, dict | list) else None
    return json.dumps(_shortened(value, _LONGEST), ensure_ascii=False, indent=lines)


def _shortened(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        first = whole = len(value)
        if isinstance(value, _Ends):
            first, whole = value.first, value.whole
        elif whole <= longest:
            return value
        head = value[: min(first, longest * 2 // 3)]
        tail = value[max(len(head), len(value) - longest // 3) :]
        left_out = whole - len(head) - len(tail)
        return f"{head}\n… {left_out:,} characters left out …\n{tail}"
    if isinstance(value, dict):
        return {name: _shortened(part, longest) for name, part in value.items()}
    return [_shortened(part, longest) for part in value] if isinstance(value, list) else value
