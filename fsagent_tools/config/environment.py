"""Settings from `FSAGENT_*` variables; lists and groups are JSON."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from typing import Any, get_args, get_origin

from fsagent_tools.config.keys import types
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.services import lazy

PREFIX = "FSAGENT_"
# Variables of adapters, of the examples and of the tests.
OTHERS = ("FSAGENT_SERVE_TOKEN", "FSAGENT_MODEL", "FSAGENT_CASES", "FSAGENT_DEBUG")


def from_environment() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each variable that is set, with the value of its key: `FSAGENT_READONLY=true`.

    The search service has variables of its own, `FSAGENT_SEARCH_PROVIDER` and others. Raises
    `ConfigInvalid` for a variable with our prefix that sets nothing: a guard that is not set.
    """
    if not (ours := [name for name in os.environ if name.startswith(PREFIX)]):
        return
    search, keys = lazy.search, {f"{PREFIX}{key}".upper(): key for key in types()}
    _refuse_misspelt(ours, [search.PROVIDER, search.BASE_URL, search.API_KEY, *OTHERS, *keys])
    if os.environ.get(search.PROVIDER):
        yield search.PROVIDER, {"search": search.SearchSettings.from_environment()}
    for name, key in keys.items():
        if name in os.environ:
            yield name, {key: _value(name, os.environ[name], types()[key])}


def _refuse_misspelt(ours: Iterable[str], known: Sequence[str]) -> None:
    for name in ours:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1)
            raise ConfigInvalid(
                f"{name}: there is no such variable.",
                hint=f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}.",
            )


def _value(name: str, text: str, kind: Any) -> Any:
    """Of a list or a group what its JSON says, else the text. Raises `ConfigInvalid`."""
    is_list = any(get_origin(each) is tuple for each in (kind, *get_args(kind)))
    if not (is_list or is_dataclass(kind) or get_origin(kind) is dict):
        return text
    value: Any = ""
    with suppress(ValueError):
        value = json.loads(text)
    if isinstance(value, str):
        form, shape = ("list", '["a", "b"]') if is_list else ("group", '{"key": 1}')
        raise ConfigInvalid(f"{name}: should be a {form} in JSON: {shape}.")
    return value
