"""Configuration files: where they are, strict YAML, and the documents' forms of it."""

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fsagent_tools.errors import ConfigInvalid, MissingDependency

APP = "fsagent"
_FILE = "config.yaml"
PROJECT_FILE = ".fsagent.yaml"
MODULE = "filesystem"
_MAX_BYTES = 1 << 20
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

    Raises `ConfigInvalid` for what is no regular file, no YAML mapping, ambiguous or misplaced.
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
    try:
        if not stat.S_ISREG(path.lstat().st_mode) and path.name == PROJECT_FILE:
            raise ConfigInvalid("not a regular file.", hint="A project's file is no link.")
        raw = path.read_bytes()
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
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [(key.value, key.start_mark) for key, _ in node.value]
            for number, (key, mark) in enumerate(keys):
                if not isinstance(key, str) or key in (k for k, _ in keys[:number]):
                    raise _at(mark, f"the key {key!r} stands twice or is no text")
            mapping = super().construct_mapping(node, deep)
            if wrong := [key for key in mapping if not isinstance(key, str)]:
                raise _at(node.start_mark, f"the key {wrong[0]!r} is no text; quote it")
            return mapping

    return Strict


def _compact(given: Mapping[str, Any]) -> dict[str, Any]:
    """`tools.modules.filesystem.constraints` of the compact document."""
    tools = _group("tools", given.get("tools", {}), ("modules",))
    modules = _group("tools.modules", tools.get("modules", {}), (MODULE,))
    path = f"tools.modules.{MODULE}"
    module = _group(path, modules.get(MODULE, {}), ("constraints",))
    return dict(_group(f"{path}.constraints", module.get("constraints", {}), CONSTRAINTS))


def _modules(given: Mapping[str, Any]) -> dict[str, Any]:
    """`modules: [{module: filesystem, actions, constraints}]` of the filesystem document."""
    modules = given.get("modules", [])
    if not isinstance(modules, list):
        raise ConfigInvalid("modules: is a list of modules.")
    settings: dict[str, Any] = {}
    for number, entry in enumerate(modules):
        path = f"modules[{number}]"
        module = _group(path, entry, ("module", "actions", "constraints"))
        if module.get("module") != MODULE or number:
            raise ConfigInvalid(f"{path}.module: is {MODULE!r}, once.")
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
        settings.pop("paths", None)
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
