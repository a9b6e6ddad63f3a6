"""Configuration files and variables in layers, each value with where it came from.

Later layers replace the values of earlier ones: system, user, environment, explicit file.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from fsagent_tools.config.environment import from_environment
from fsagent_tools.config.files import read_settings, standard_files
from fsagent_tools.config.keys import validated
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.policy import Policy
from fsagent_tools.runtime.above import TOOLSET
from fsagent_tools.workspace import Workspace

__all__ = ["Configuration", "check_file", "load"]
POLICY = frozenset(field.name for field in fields(Policy))


@dataclass(frozen=True)
class Configuration:
    """Values by key, and the file or variable that set each; what nobody set is absent."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]

    @cached_property
    def policy(self) -> Policy:
        return _policy_of(self.values)

    @property
    def toolset(self) -> str:
        return str(self.values.get("toolset", TOOLSET))

    @property
    def options(self) -> dict[str, Any]:
        """The options of `Workspace` that are configured."""
        own = {k: v for k, v in self.values.items() if k not in POLICY and k != "toolset"}
        return {"policy": self.policy, **own}

    def workspace(self, root: str | Path, **options: Any) -> Workspace:
        """A workspace as configured; `options` are those of `Workspace` and win."""
        return Workspace(root, **{**self.options, **options})


def load(explicit: str | Path | None = None) -> Configuration:
    """All layers.

    explicit: a file the host names; it wins over all others and must exist. Raises `ConfigInvalid`,
    which names file, key and reason; `MissingDependency` without the extra `config`.
    """
    variables = [*from_environment()]  # a misspelt one is told first
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}

    def replace(layer: Mapping[str, Any], origin: str) -> None:
        values.update(layer)
        origins.update(dict.fromkeys(layer, origin))

    for path in standard_files():
        replace(check_file(path) if path.is_file() else {}, str(path))
    for origin, layer in variables:
        with _naming(origin):
            replace(_usable(layer), origin)
    if explicit is not None:
        replace(check_file(explicit), str(explicit))
    configuration = Configuration(values, origins)
    _ = configuration.policy  # values of several layers together
    return configuration


def check_file(path: str | Path) -> dict[str, Any]:
    """The values of one file, validated. Raises `ConfigInvalid` naming the file and the key."""
    with _naming(path):
        return _usable(read_settings(Path(path)))


def _usable(given: Mapping[str, Any]) -> dict[str, Any]:
    values = validated(given)
    _policy_of(values)
    return values


def _policy_of(values: Mapping[str, Any]) -> Policy:
    return Policy(**{key: value for key, value in values.items() if key in POLICY})


@contextmanager
def _naming(origin: str | Path) -> Iterator[None]:
    """Refusals of the block begin with where the values came from."""
    try:
        yield
    except ConfigInvalid as error:
        raise ConfigInvalid(f"{origin}: {error.message}", hint=error.hint) from None
