"""What models send out of habit, put in its place; no schema tells of it and spends tokens."""

import re
from collections.abc import Mapping
from typing import Any

from fsagent_tools.errors import InvalidArguments

# Spellings models are known to slip into; never shown, accepted in place of the shown name.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "path": ("file_path", "filename", "file", "directory", "dir"),
    "file_path": ("path", "filename", "file", "filepath"),
    "content": ("contents", "text", "file_text"),
    "old_string": ("old_str", "old_text", "search_string"),
    "new_string": ("new_str", "new_text", "replace_string"),
    "search_string": ("old_string", "old_str"),
    "replace_string": ("new_string", "new_str"),
    "pattern": ("regex", "glob_pattern"),
    "changes": ("edits",),
    "include": ("glob",),
    "command": ("cmd",),
    "line": ("insert_line", "line_number"),
    "insert_text": ("new_str",),
    "source": ("src", "source_path"),
    "destination": ("dst", "destination_path", "dest"),
}
# Keys of one item of a list, which models put beside the other arguments when there is but one.
FLAT: Mapping[str, tuple[str, ...]] = {
    "changes": (
        *("line_id", "start_line_id", "end_line_id", "after_line_id", "before_line_id"),
        *("end_before", "old", "new_content", "from_file"),
    )
}
# The same for the keys of one item; an "anchor" may be replaced or have text put beside it.
ITEM_ALIASES: Mapping[str, tuple[str, ...]] = {
    "line_id": ("lid", "id"),
    "start_line_id": ("start_id", "start_lid", "first_line_id", "from_line_id"),
    "end_line_id": ("end_id", "end_lid", "last_line_id", "to_line_id"),
    "after_line_id": ("after_id", "after_lid", "after"),
    "before_line_id": ("before_id", "before_lid", "before"),
    "end_before": ("end_before_line_id", "end_before_id"),
    "new_content": ("content", "new_text", "new_string", "text", "new"),
    "from_file": ("from", "from_path"),
}
# What models say about a call, and one object that they put around all arguments.
EXPLAINING = frozenset(
    {"explanation", "reason", "reasoning", "rationale", "justification", "thought"}
)
WRAPPERS = frozenset({"input", "arguments", "args", "parameters", "params"})
PATHS = ("path", "file_path", "source", "destination", "working_dir")
QUOTES = ("`", "'", '"')
# What models say beside an argument, out of habit, and no tool needs to know.
HABITUAL: Mapping[str, str] = {"command": "description"}


def under_shown_names(given: Mapping[str, Any], allowed: list[str]) -> dict[str, Any]:
    """Arguments by the names that are `allowed`, where that is what they can only mean.

    Raises `InvalidArguments` for one that is given twice, and not the same.
    """
    found = _without_habits(_in_snake_case(_unwrapped(given, allowed), allowed), allowed)
    return _without_aliases(found, allowed, ALIASES)


def item_under_own_names(given: Mapping[str, Any], allowed: list[str]) -> dict[str, Any]:
    """The same for one item of a list of objects."""
    known = [word for name in allowed for word in (name, *ITEM_ALIASES.get(name, ()))]
    found = {k: v for k, v in _in_snake_case(given, known).items() if not _is_idle(k, v, known)}
    return _without_aliases(found, allowed, ITEM_ALIASES)


def _without_aliases(
    found: dict[str, Any], allowed: list[str], aliases: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    for name in allowed:
        for alias in aliases.get(name, ()):
            if alias in allowed or alias not in found:
                continue
            value = found.pop(alias)
            if found.setdefault(name, value) != value:
                raise InvalidArguments(f"{name!r} and its alias {alias!r} contradict each other.")
    return found


def _unwrapped(given: Mapping[str, Any], allowed: list[str]) -> Mapping[str, Any]:
    """The arguments that one object around them holds."""
    wraps = len(given) == 1 and WRAPPERS.difference(allowed).intersection(given)
    (value,) = given.values() if wraps else (None,)
    return value if isinstance(value, Mapping) else given


def _is_idle(name: str, value: Any, known: list[str]) -> bool:
    return name in EXPLAINING and name not in known and isinstance(value, str)


def unquoted(given: Mapping[str, Any]) -> dict[str, Any]:
    """Without the quotes around a path, as in prose; a name that has them is `./'name'`."""
    return {name: _bare(v) if name in PATHS else v for name, v in given.items()}


def _bare(path: Any) -> Any:
    quoted = isinstance(path, str) and path.startswith(QUOTES) and path[-1:] == path[0]
    return path[1:-1] if quoted and len(path) > 2 else path


def _without_habits(given: dict[str, Any], allowed: list[str]) -> dict[str, Any]:
    """Without what says nothing, and with one item of a list in its list."""
    for name in allowed:
        if (idle := HABITUAL.get(name)) and idle not in allowed:
            given = {k: v for k, v in given.items() if k != idle}
    given = {k: v for k, v in given.items() if not _is_idle(k, v, allowed)}
    for name in allowed:
        item = {k: v for k, v in given.items() if k in FLAT.get(name, ()) and k not in allowed}
        if item and name not in given:
            given = {**{k: v for k, v in given.items() if k not in item}, name: [item]}
    return given


def _in_snake_case(given: Mapping[str, Any], allowed: list[str]) -> dict[str, Any]:
    """`filePath` as `file_path`, where that is a name that is taken."""
    known = {word for n in allowed for word in (n, *ALIASES.get(n, ()), *FLAT.get(n, ()))}
    found: dict[str, Any] = {}
    for name, value in given.items():
        snake = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", str(name)).lower()
        fits = name not in known and snake in known and not {snake} & {*given, *found}
        found[snake if fits else name] = value
    return found
