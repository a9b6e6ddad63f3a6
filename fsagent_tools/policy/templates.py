"""`{{workdir}}`, `{{workspace}}`, `{{home}}` and `{{env.NAME}}` in the strings of a policy."""

import os
import re
from pathlib import Path

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.globs import WILDCARDS

TEMPLATE = re.compile(r"\{\{\s*(.*?)\s*\}\}")
_ROOT = ("workdir", "workspace")
KNOWN = "{{workdir}}, {{workspace}}, {{home}}, {{env.NAME}}"


def render_template(name: str, text: str) -> str:
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
