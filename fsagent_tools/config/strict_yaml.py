"""YAML that cannot mislead: a file of bounded size, no aliases, no repeated keys."""

import os
from pathlib import Path
from typing import Any

from fsagent_tools.errors import ConfigInvalid, MissingDependency

_MAX_BYTES = 1 << 18
_MAX_ITEMS = 1000  # keys of a mapping, entries of a list


def load_yaml(path: Path) -> Any:
    """What the file holds. Raises `ConfigInvalid`."""
    return _parsed(_text(path))


def _text(path: Path) -> str:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ConfigInvalid(f"cannot be read ({error.strerror}).") from None
    if len(raw) > _MAX_BYTES:
        raise ConfigInvalid(f"larger than {_MAX_BYTES:,} bytes.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigInvalid("not UTF-8.") from None


def _parsed(text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingDependency(
            "Configuration files need further packages.", hint='Install "fsagent-tools[config]".'
        ) from None
    try:
        return yaml.load(text, _strict(yaml)) or {}
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        problem = getattr(error, "problem", None) or "nested too deeply or a wrong value"
        raise _at(getattr(error, "problem_mark", None), str(problem)) from None


def _strict(yaml: Any) -> Any:
    """A safe loader without aliases, whose expansion has no limit, and without repeated keys."""

    class Strict(yaml.SafeLoader):  # type: ignore[misc] # the module is a parameter
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise _at(self.peek_event().start_mark, "aliases are not allowed")
            node = super().compose_node(parent, index)
            if isinstance(node.value, list) and len(node.value) > _MAX_ITEMS:
                raise _at(node.start_mark, f"more than {_MAX_ITEMS:,} keys or entries")
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            _check_keys([key for key, _ in node.value])
            mapping = super().construct_mapping(node, deep)
            if wrong := [key for key in mapping if not isinstance(key, str)]:
                raise _at(node.start_mark, f"the key {wrong[0]!r} is not text; quote it")
            return mapping

    return Strict


def _check_keys(keys: list[Any]) -> None:
    seen: set[str] = set()
    for key in keys:
        if not isinstance(key.value, str):
            raise _at(key.start_mark, "a key is not text")
        if key.value in seen:
            raise _at(key.start_mark, f"duplicate key {key.value!r}")
        seen.add(key.value)


def _at(mark: Any, problem: str) -> ConfigInvalid:
    return ConfigInvalid(f"line {mark.line + 1}: {problem}." if mark else f"{problem}.")
