"""The two documented forms of a configuration file, as keys of `Policy`."""

from collections.abc import Mapping
from typing import Any

from fsagent_tools.config.keys import check_keys
from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.policy import Policy

MODULES = {"filesystem": ("actions", "constraints"), "workspace": ("lint",)}
CONSTRAINTS = ("allowed_actions", "allowed_paths", "denied_paths", "max_file_size", "readonly")


def of_tools(given: Mapping[str, Any]) -> dict[str, Any]:
    """`tools.modules.NAME` of the compact document."""
    modules = _group("tools", given.get("tools", {}), ("modules",)).get("modules", {})
    if not isinstance(modules, Mapping):
        raise ConfigInvalid("tools.modules: has to be a mapping.")
    settings: dict[str, Any] = {}
    for name, module in modules.items():
        settings |= _module(f"tools.modules.{name}", name, module)
    return settings


def of_modules(given: Mapping[str, Any]) -> dict[str, Any]:
    """`modules: [{module: NAME, ...}]` of the filesystem document."""
    modules = given.get("modules", [])
    if not isinstance(modules, list):
        raise ConfigInvalid("modules: has to be a list of modules.")
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
        from difflib import get_close_matches

        if near := get_close_matches(name, MODULES):
            raise ConfigInvalid(
                f"{path}: unknown module {name!r}.", hint=f"Did you mean {near[0]}?"
            )
        return {}
    module = _group(path, given, MODULES[name])
    constraints = module.get("constraints", {})
    settings = dict(_group(f"{path}.constraints", constraints, ("paths", *CONSTRAINTS)))
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
        raise ConfigInvalid(f"{path}: has to be a mapping.")
    check_keys(f"{path}.", value, known)
    return value
