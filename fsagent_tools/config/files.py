"""Configuration files: where they are, strict YAML, and the documents' forms of it."""

import errno
import os
import stat
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fsagent_tools.errors import ConfigInvalid, MissingDependency
from fsagent_tools.policy import Policy

APP = "fsagent"
_FILE = "config.yaml"
PROJECT_FILE = ".fsagent.yaml"
MODULES = {"filesystem": ("actions", "constraints"), "workspace": ("lint",)}
_MAX_BYTES = 1 << 18
_MAX_ITEMS = 1000  # keys of a mapping, entries of a list
CONSTRAINTS = ("allowed_actions", "allowed_paths", "denied_paths", "max_file_size", "readonly")


def standard_files() -> list[Path]:
    """The system's file and the user's, where this platform keeps them."""
    try:
        from platformdirs import site_config_path, user_config_path
    except ImportError:
        raise _missing() from None
    return [site_config_path(APP, False) / _FILE, user_config_path(APP, False) / _FILE]


def read_settings(path: Path) -> dict[str, Any]:
    """Settings of one file by key; both documented forms become keys of `Policy`.

    Raises `ConfigInvalid` unless it is a regular file, a YAML mapping and not ambiguous.
    """
    given = _parsed(_text(path))
    if not isinstance(given, Mapping):
        raise ConfigInvalid("the file is a mapping of keys to values.")
    flat = {key: value for key, value in given.items() if key not in ("tools", "modules")}
    for form in (_compact, _modules):
        for key, value in form(given).items():
            if key in flat:
                raise ConfigInvalid(f"{key}: is set twice.", hint="Use one form of it.")
            flat[key] = value
    return flat


def _text(path: Path) -> str:
    own = os.O_NOFOLLOW if path.name == PROJECT_FILE else 0
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | own), "rb") as file:
            if own and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _not_regular()
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        if error.errno == errno.ELOOP and own:
            raise _not_regular() from None
        raise ConfigInvalid(f"cannot be read ({error.strerror}).") from None
    if len(raw) > _MAX_BYTES:
        raise ConfigInvalid(f"larger than {_MAX_BYTES:,} bytes.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigInvalid("not UTF-8.") from None


def _not_regular() -> ConfigInvalid:
    return ConfigInvalid("not a regular file.", hint="A project's file must not be a link.")


def _parsed(text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise _missing() from None
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


def _compact(given: Mapping[str, Any]) -> dict[str, Any]:
    """`tools.modules.NAME` of the compact document."""
    modules = _group("tools", given.get("tools", {}), ("modules",)).get("modules", {})
    if not isinstance(modules, Mapping):
        raise ConfigInvalid("tools.modules: is a mapping.")
    settings: dict[str, Any] = {}
    for name, module in modules.items():
        settings |= _module(f"tools.modules.{name}", name, module)
    return settings


def _modules(given: Mapping[str, Any]) -> dict[str, Any]:
    """`modules: [{module: NAME, ...}]` of the filesystem document."""
    modules = given.get("modules", [])
    if not isinstance(modules, list):
        raise ConfigInvalid("modules: is a list of modules.")
    settings: dict[str, Any] = {}
    names = set()
    for number, entry in enumerate(modules):
        path = f"modules[{number}]"
        module = dict(entry) if isinstance(entry, Mapping) else {}
        name = str(module.pop("module", ""))
        if not name or name in names:
            raise ConfigInvalid(f"{path}.module: names a module, each only once.")
        names.add(name)
        settings |= _module(path, name, module)
    return settings


def _module(path: str, name: str, given: Any) -> dict[str, Any]:
    """What one module sets; those of the host's other tools are not ours to check."""
    if name not in MODULES:
        if near := get_close_matches(name, MODULES):
            raise ConfigInvalid(
                f"{path}: unknown module {name!r}.", hint=f"Did you mean {near[0]}?"
            )
        return {}
    module = _group(path, given, MODULES[name])
    settings = dict(
        _group(f"{path}.constraints", module.get("constraints", {}), ("paths", *CONSTRAINTS))
    )
    for old, key, found in (
        ("actions", "allowed_actions", module),
        ("paths", "allowed_paths", settings),
    ):
        if old in found and key in settings:
            raise ConfigInvalid(f"{path}.{old}: is set twice, as {key}, too.")
        if old in found:
            settings[key] = found[old]
    if allowed := settings.get("allowed_actions"):
        Policy(allowed_actions=allowed).check_names()
    settings.pop("paths", None)
    if "lint" in module:
        settings["lint"] = {True: "report", False: "off"}.get(module["lint"], module["lint"])
    return settings


def _group(path: str, value: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigInvalid(f"{path}: is a mapping.")
    if unknown := [key for key in value if key not in known]:
        raise ConfigInvalid(
            f"{path}.{unknown[0]}: there is no such key.", hint=f"There are: {', '.join(known)}."
        )
    return value


def _at(mark: Any, problem: str) -> ConfigInvalid:
    return ConfigInvalid(f"line {mark.line + 1}: {problem}." if mark else f"{problem}.")


def _missing() -> MissingDependency:
    return MissingDependency(
        "Configuration files need further packages.", hint='Install "fsagent-tools[config]".'
    )
