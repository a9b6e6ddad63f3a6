"""Configuration files and variables in layers, each value with where it came from.

Later layers replace the values of earlier ones: system, user, environment, explicit file.
"""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fsagent_tools.errors import ConfigInvalid, InvalidArguments, MissingDependency
from fsagent_tools.lines.ids import StyleName
from fsagent_tools.policy import Policy
from fsagent_tools.session.review import Lint
from fsagent_tools.validation import closed_model, instance
from fsagent_tools.workspace import lazy

__all__ = ["DEFAULT_TOOLSET", "Configuration", "Staleness", "check_file", "load"]
DEFAULT_TOOLSET = "lines"  # where none is named or configured
Staleness = Literal["lines", "file"]
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
        return str(self.values.get("toolset", DEFAULT_TOOLSET))

    @property
    def options(self) -> dict[str, Any]:
        """The options of `Workspace` that are configured."""
        own = {k: v for k, v in self.values.items() if k not in POLICY and k != "toolset"}
        return {"policy": self.policy, **own}


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
    return {**own, **_SESSION, "search": lazy.search.SearchSettings}


def validated(given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` as values of the right types. Raises `ConfigInvalid`, which names the key."""
    for key, value in given.items():
        _check_names(key, types().get(key), value)
    check_keys("", given, types())
    try:
        model = instance(_model(), given)
    except InvalidArguments as error:
        raise ConfigInvalid(str(error)) from None
    return {key: getattr(model, key) for key in given}


@cache
def _model() -> "type[BaseModel]":
    shapes = {key: FieldInfo.from_annotated_attribute(kind, None) for key, kind in types().items()}
    return closed_model("Configuration", shapes)


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


PREFIX = "FSAGENT_"
# Variables of adapters, of the examples and of the tests.
OTHERS = ("FSAGENT_SERVE_TOKEN", "FSAGENT_MODEL", "FSAGENT_CASES", "FSAGENT_DEBUG")


def from_environment() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each variable that is set, with the value of its key: `FSAGENT_READONLY=true`.

    The search service has variables of its own, `FSAGENT_SEARCH_PROVIDER` and others. Raises
    `ConfigInvalid` for a variable with our prefix that sets nothing: a guard that is not set.
    """
    if not (ours := [name for name in os.environ if name.startswith(PREFIX)]):
        return
    search, keys = lazy.search, {f"{PREFIX}{key}".upper(): key for key in types()}
    _refuse_misspelt(ours, [search.PROVIDER, search.BASE_URL, search.API_KEY, *OTHERS, *keys])
    if os.environ.get(search.PROVIDER):
        yield search.PROVIDER, {"search": search.SearchSettings.from_environment()}
    for name, key in keys.items():
        if name in os.environ:
            yield name, {key: _value(name, os.environ[name], types()[key])}


def _refuse_misspelt(ours: Iterable[str], known: Sequence[str]) -> None:
    for name in ours:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1)
            raise ConfigInvalid(
                f"{name}: there is no such variable.",
                hint=f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}.",
            )


def _value(name: str, text: str, kind: Any) -> Any:
    """Of a list or a group what its JSON says, else the text. Raises `ConfigInvalid`."""
    is_list = any(get_origin(each) is tuple for each in (kind, *get_args(kind)))
    if not (is_list or is_dataclass(kind) or get_origin(kind) is dict):
        return text
    value: Any = ""
    with suppress(ValueError):
        value = json.loads(text)
    if isinstance(value, str):
        form, shape = ("list", '["a", "b"]') if is_list else ("group", '{"key": 1}')
        raise ConfigInvalid(f"{name}: should be a {form} in JSON: {shape}.")
    return value
