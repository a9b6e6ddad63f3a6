"""Values of a policy: sizes, hosts, and lists of strings with `{{workdir}}`, `{{workspace}}`,
`{{home}}` and `{{env.NAME}}` in them.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.globs import WILDCARDS
from fsagent_tools.policy.hosts import HostRule

if TYPE_CHECKING:
    Strings = Iterable[str]  # what a caller may give
else:
    Strings = tuple[str, ...]  # what is kept, and what a configuration file is read as
TEMPLATE = re.compile(r"\{\{\s*(.*?)\s*\}\}")
_ROOT = ("workdir", "workspace")
KNOWN = "{{workdir}}, {{workspace}}, {{home}}, {{env.NAME}}"
UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


def size(value: int | str, name: str = "max_file_size") -> int:
    """Bytes of `10485760`, `"50MB"`, `"1.5 GB"`; units are powers of 1,024."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B?)\s*", str(value).upper())
    unit = match and (match[2] if match[2].endswith("B") or not match[2] else match[2] + "B")
    if isinstance(value, bool) or not match or unit not in UNITS:
        raise ConfigInvalid(f'{name} is bytes or text such as "50MB", not {value!r}.')
    return int(float(match[1]) * UNITS[unit])


def strings(name: str, value: Iterable[object]) -> tuple[str, ...]:
    """Texts with their templates rendered. Raises `ConfigInvalid`, naming the setting."""
    value = value if isinstance(value, str) else [*value]
    values = [] if isinstance(value, str) else [each for each in value if isinstance(each, str)]
    if isinstance(value, str) or len(values) != len(value) or "" in values:
        raise ConfigInvalid(f"{name} is a list of strings, none of them empty, not {value!r}.")
    return tuple(_rendered(name, each) for each in values)


def hosts(name: str, items: Iterable[str], *, below: bool = False) -> tuple[HostRule, ...]:
    """below: `*.example.com` stands for every name below that host."""
    try:
        return tuple(HostRule.parse(item, below=below) for item in items)
    except (ValueError, AttributeError, TypeError) as error:
        raise ConfigInvalid(
            f"{name}: {error}.", hint='Write "example.com" or "localhost:8000", without http://.'
        ) from None


def _rendered(name: str, text: str) -> str:
    """A path pattern with its templates replaced; `name` is what errors call the setting.

    The root's own template becomes a path relative to it, so that links in the root's path do not
    matter. Raises `ConfigInvalid` for an unknown template or an unset variable.
    """
    start = TEMPLATE.match(text)
    if start and start[1] in _ROOT:
        rest = text[start.end() :]
        if rest and not rest.startswith("/"):
            raise ConfigInvalid(f"{name}: a slash has to follow {start[0]} in {text!r}.")
        inner = rest.lstrip("/")
        text = "." if inner in ("", "**") else inner
    return TEMPLATE.sub(lambda found: _value(name, found[1], text), text)


def _value(name: str, template: str, text: str) -> str:
    if template in _ROOT:
        raise ConfigInvalid(
            f"{name}: {{{{{template}}}}} stands at the beginning, not as in {text!r}."
        )
    if template == "home":
        return _literal(name, str(Path.home()))
    variable = template.removeprefix("env.")
    if variable == template:
        raise ConfigInvalid(
            f"{name}: unknown template {{{{{template}}}}}.", hint=f"Known: {KNOWN}."
        )
    if not (value := os.environ.get(variable)):
        raise ConfigInvalid(f"{name}: the environment variable {variable!r} is not set.")
    return _literal(name, value)


def _literal(name: str, value: str) -> str:
    if WILDCARDS & {*value}:
        raise ConfigInvalid(f"{name}: {value!r} contains characters with a meaning in globs.")
    return value
