"""Configuration files: where they are, and what one of them sets."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fsagent_tools.config.forms import of_modules, of_tools
from fsagent_tools.config.strict_yaml import load_yaml
from fsagent_tools.errors import ConfigInvalid

APP = "fsagent"
_FILE = "config.yaml"


def standard_files() -> list[Path]:
    """The system's file and the user's, where the XDG standard has them: at absolute paths."""
    system = [*os.environ.get("XDG_CONFIG_DIRS", "").split(os.pathsep), "/etc/xdg"]
    user = [os.environ.get("XDG_CONFIG_HOME", ""), str(Path.home() / ".config")]
    first = (next(filter(os.path.isabs, each), None) for each in (system, user))
    return [Path(place) / APP / _FILE for place in first if place]


def read_settings(path: Path) -> dict[str, Any]:
    """Settings of one file by key; both documented forms become keys of `Policy`.

    Raises `ConfigInvalid` unless it is a YAML mapping and not ambiguous.
    """
    given = load_yaml(path)
    if not isinstance(given, Mapping):
        raise ConfigInvalid("the file has to be a mapping of keys to values.")
    flat = {key: value for key, value in given.items() if key not in ("tools", "modules")}
    for form in (of_tools, of_modules):
        for key, value in form(given).items():
            if key in flat:
                raise ConfigInvalid(f"{key}: is set twice.", hint="Use one form of it.")
            flat[key] = value
    return flat
