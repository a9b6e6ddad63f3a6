"""The keys of a configuration: the fields of `Policy`, and options of a session."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from fsagent_tools.errors import ConfigInvalid, InvalidArguments
from fsagent_tools.lines.ids import StyleName
from fsagent_tools.policy import Policy
from fsagent_tools.services import lazy
from fsagent_tools.session.review import Lint
from fsagent_tools.workspace import Staleness

if TYPE_CHECKING:
    from pydantic import BaseModel

_SESSION: Mapping[str, Any] = {
    "toolset": str,
    "cache_dir": str,
    "line_ids": StyleName,
    "staleness": Staleness,
    "durable": bool,
    "history": bool,
    "state": str,
    "lint": Lint,
    "encodings": dict[str, str],
    "servers": dict[str, list[str]],
}


@cache
def types() -> dict[str, Any]:
    """Every key and the type of its value."""
    own = {name: kind for name, kind in get_type_hints(Policy).items() if name[0] != "_"}
    return {**own, **_SESSION, "search": lazy.settings.SearchSettings}


def validated(given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` as values of the right types. Raises `ConfigInvalid`, which names the key."""
    for key, value in given.items():
        _check_names(key, types().get(key), value)
    check_keys("", given, types())
    try:
        model = lazy.validation.instance(_model(), given)
    except InvalidArguments as error:
        raise ConfigInvalid(str(error)) from None
    return {key: getattr(model, key) for key in given}


@cache
def _model() -> "type[BaseModel]":
    shapes = {key: (kind, None) for key, kind in types().items()}
    return lazy.validation.closed_model("Configuration", shapes)


def _check_names(path: str, kind: Any, value: Any) -> None:
    """Refuse unknown keys inside a group of settings, which pydantic lets pass."""
    group = next((k for k in (kind, *get_args(kind)) if is_dataclass(k)), None)
    if group is None or not isinstance(value, Mapping):
        return
    hints = get_type_hints(group)
    check_keys(f"{path}.", value, hints)
    for key, inner in value.items():
        _check_names(f"{path}.{key}", hints[key], inner)
    required = [f.name for f in fields(group) if f.default is f.default_factory is MISSING]
    if lacking := [name for name in required if name not in value]:
        raise ConfigInvalid(f"{path}.{lacking[0]} is missing.")


def check_keys(path: str, given: Iterable[Any], known: Collection[str]) -> None:
    """Raise `ConfigInvalid` for one that is not known; path: what stands before it."""
    if unknown := [key for key in given if key not in known]:
        raise ConfigInvalid(
            f"{path}{unknown[0]}: there is no such key.", hint=f"There are: {', '.join(known)}."
        )
