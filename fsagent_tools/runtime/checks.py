"""Arguments of an integrator are refused where they are given."""

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from fsagent_tools.errors import ConfigInvalid


def check_types(given: Mapping[str, object], **types: Any) -> None:
    """Raise `ConfigInvalid` for a value of another type, or for no word of a `Literal`."""
    for name, kind in types.items():
        value, words = given[name], get_args(kind)
        if get_origin(kind) is Literal and value not in words:
            raise ConfigInvalid(f"{name} is one of {', '.join(words)}, not {value!r}.")
        if get_origin(kind) is not Literal and not isinstance(value, kind):
            spelt = getattr(kind, "__name__", None) or re.sub(r"\w+\.", "", str(kind))
            raise ConfigInvalid(f"{name} is of type {spelt}, not {value!r}.")
