"""Settings from `FSAGENT_*` variables; lists and groups are JSON."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from fsagent_tools.config.keys import types
from fsagent_tools.errors import ConfigInvalid, MissingDependency
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
    if not variables(environ):
        return
    try:
        from pydantic import create_model
        from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict
        from pydantic_settings.exceptions import SettingsError
    except ImportError:
        raise MissingDependency(
            "Settings from variables need pydantic-settings.",
            hint='Install "fsagent-tools[config]".',
        ) from None

    class Prefixed(BaseSettings):
        model_config = SettingsConfigDict(env_prefix=PREFIX)

    for key in variables(environ):
        kind = types()[key]
        fields: dict[str, Any] = {key: (kind, None)}
        model = create_model("One", __base__=Prefixed, **fields)
        source = EnvSettingsSource(model)
        source.env_vars = {name.lower(): value for name, value in environ.items()}
        try:
            found = source()
        except SettingsError:
            found = {}
        if not found or (isinstance(found[key], str) and _is_list(kind)):
            name, shape = ("list", '["a", "b"]') if _is_list(kind) else ("group", '{"key": 1}')
            raise ConfigInvalid(f"{PREFIX}{key.upper()}: should be a {name} in JSON: {shape}.")
        yield f"{PREFIX}{key.upper()}", found


def _is_list(kind: Any) -> bool:
    """Also of a list or None, which pydantic-settings passes on as text if it is not JSON."""
    return any(get_origin(one) is tuple for one in (kind, *get_args(kind)))


def _ours(environ: Mapping[str, str]) -> list[str]:
    return [name for name in environ if name.startswith(PREFIX)]
