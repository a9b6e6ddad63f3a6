"""Settings from `FSAGENT_*` variables; lists and groups are JSON."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from typing import Any, get_args, get_origin

from fsagent_tools.config.keys import types
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.services import lazy

PREFIX = "FSAGENT_"
# Variables of adapters, of the examples and of the tests.
OTHERS = ("FSAGENT_SERVE_TOKEN", "FSAGENT_MODEL", "FSAGENT_CASES", "FSAGENT_DEBUG")


def variables(environ: Mapping[str, str]) -> list[str]:
    """The keys that variables set."""
    return [key for key in types() if f"{PREFIX}{key}".upper() in environ]


def refuse_misspelt(environ: Mapping[str, str]) -> None:
    """Raise `ConfigInvalid` for a variable with our prefix that sets nothing: a guard not set."""
    if not (ours := _ours(environ)):
        return
    from difflib import get_close_matches

    search = lazy.settings
    known = [search.PROVIDER, search.BASE_URL, search.API_KEY, *OTHERS]
    known += [f"{PREFIX}{key}".upper() for key in types()]
    for name in ours:
        if name not in known:
            near = get_close_matches(name, known, 1)
            raise ConfigInvalid(
                f"{name}: there is no such variable.",
                hint=f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}.",
            )


def from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each variable that is set, with the value of its key: `FSAGENT_READONLY=true`.

    The search service has variables of its own, `FSAGENT_SEARCH_PROVIDER` and others.
    """
    if not _ours(environ):
        return
    search = lazy.settings
    if environ is os.environ and environ.get(search.PROVIDER):
        yield search.PROVIDER, {"search": search.SearchSettings.from_environment()}
    for key in variables(environ):
        name = f"{PREFIX}{key}".upper()
        yield name, {key: _value(name, environ[name], types()[key])}


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


def _ours(environ: Mapping[str, str]) -> list[str]:
    return [name for name in environ if name.startswith(PREFIX)]
