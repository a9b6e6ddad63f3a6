"""What a project's own file may do: make the policy stricter, key by key, and nothing else."""

from collections.abc import Callable, Mapping
from typing import Any

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.policy.protected import PROTECTED
from fsagent_tools.policy.values import TEMPLATE, size


def tightened(values: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    """New values for what `project` sets, on top of the trusted `values`.

    Raises `ConfigInvalid` for a key that is not a project's to set and for a value that loosens.
    """
    new: dict[str, Any] = {}
    for key, value in project.items():
        if key not in RULES:
            raise ConfigInvalid(
                f"{key}: a project's own file may not set this.",
                hint=f"It may tighten: {', '.join(RULES)}. Put the rest into the user's file.",
            )
        if value is None:
            raise ConfigInvalid(f"{key}: null would loosen.")
        _refuse_templates(key, value)
        if key == "allowed_paths":  # a path must match these besides what was allowed before
            new["within"] = (*values.get("within", ()), _beneath_root(value))
        else:
            new[key] = RULES[key](values.get(key), value)
    return new


def _readonly(before: bool | None, value: bool) -> bool:
    if before and not value:
        raise ConfigInvalid("readonly: false would loosen what a trusted file sets.")
    return value


def _actions(before: tuple[str, ...] | None, value: tuple[str, ...]) -> tuple[str, ...]:
    return value if before is None else tuple(name for name in before if name in value)


def _refuse_templates(key: str, value: Any) -> None:
    """A template would carry the host's environment into refusals, and so to the model."""
    for text in value if isinstance(value, tuple) else ():
        if any(found not in ("workdir", "workspace") for found in TEMPLATE.findall(text)):
            raise ConfigInvalid(
                f"{key}: {text!r} contains a template that a project's own file may not use.",
                hint="It may use {{workdir}} and {{workspace}}.",
            )


def _beneath_root(value: tuple[str, ...]) -> tuple[str, ...]:
    for path in value:
        if path[:1] in ("/", "~", "{") and not path.startswith(("{{workdir}}", "{{workspace}}")):
            raise ConfigInvalid(
                f"allowed_paths: {path!r} is not beneath the project.",
                hint="A project's own file opens no further directories.",
            )
    return value


def _also(before: tuple[str, ...] | None, value: tuple[str, ...]) -> tuple[str, ...]:
    return (*(before or ()), *value)


def _also_protected(before: tuple[str, ...] | None, value: tuple[str, ...]) -> tuple[str, ...]:
    return (*(PROTECTED if before is None else before), *value)


def _smaller(before: int | str | None, value: int | str) -> int:
    return min(size(value), size(value if before is None else before))


def _earlier(before: int | None, value: int) -> int:
    """The gate of `read_before_edit` closes for smaller files; off is the loosest."""
    return value if before is None else min(before, value)


RULES: Mapping[str, Callable[[Any, Any], Any]] = {
    "readonly": _readonly,
    "allowed_actions": _actions,
    "allowed_paths": _also,
    "denied_paths": _also,
    "write_denied": _also_protected,
    "deny_hosts": _also,
    "max_file_size": _smaller,
    "read_before_edit": _earlier,
}
