"""What a workspace allows: by action name, by path, by size."""

import re
from dataclasses import dataclass
from functools import cached_property

from fsagent_tools.effects import Effect
from fsagent_tools.errors import (
    ActionDenied,
    ConfigInvalid,
    InvalidGlob,
    PathDenied,
    ReadOnly,
    TooLarge,
)
from fsagent_tools.globs import Glob

UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


@dataclass(frozen=True)
class Policy:
    """Frozen and validated; without any argument everything inside the root is allowed.

    readonly: refuse every action that writes or deletes.
    allowed_actions: names of actions that may run; None allows all.
    allowed_paths: globs or directory prefixes that a path must match; absolute ones may open
        further roots (`/tmp/**`), relative ones are beneath the root. None allows the whole root.
    denied_paths: globs that no opened object's path may match; they win over `allowed_paths`.
    max_file_size: bytes, or text such as "50MB"; larger files are neither read nor written.
    Raises `ConfigInvalid` on a value that cannot be used.
    """

    readonly: bool = False
    allowed_actions: tuple[str, ...] | None = None
    allowed_paths: tuple[str, ...] | None = None
    denied_paths: tuple[str, ...] = ()
    max_file_size: int | str | None = None

    def __post_init__(self) -> None:
        for name in ("allowed_actions", "allowed_paths", "denied_paths"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise ConfigInvalid(f"{name} is a list of strings, not the string {value!r}.")
            if value is not None:
                object.__setattr__(self, name, tuple(value))
        for pattern in (*self.denied_paths, *(self.allowed_paths or ())):
            _check_pattern(pattern)
        if self.max_file_size is not None:
            object.__setattr__(self, "max_file_size", parse_size(self.max_file_size))

    def check_action(self, name: str, effect: Effect) -> None:
        """Raise unless the action called `name` may run at all."""
        if self.allowed_actions is not None and name not in self.allowed_actions:
            allowed = ", ".join(self.allowed_actions) or "none"
            raise ActionDenied(
                f"The action {name!r} is not allowed here.", hint=f"Allowed: {allowed}."
            )
        if self.readonly and effect.changes_files:
            raise ReadOnly(f"This workspace is read-only, and {name!r} changes files.")

    def check_path(self, relative: str, absolute: str, effect: Effect) -> None:
        """Raise unless the opened object may be used; both paths are of the object itself."""
        if self.readonly and effect.changes_files:
            raise ReadOnly(f"This workspace is read-only; {relative} was not changed.")
        if any(glob.matches(relative) or glob.matches(absolute) for glob in self._denied):
            raise PathDenied(f"{relative} is closed by the policy (denied_paths).")
        if self._allowed is not None and not any(
            glob.matches(relative) or glob.matches(absolute) for glob in self._allowed
        ):
            allowed = ", ".join(self.allowed_paths or ())
            raise PathDenied(
                f"{relative} is outside the allowed paths.", hint=f"Allowed: {allowed}."
            )

    def check_size(self, relative: str, size: int) -> None:
        """Raise when `size` bytes are more than a file may have here."""
        if isinstance(self.max_file_size, int) and size > self.max_file_size:
            raise TooLarge(
                f"{relative} has {size:,} bytes; the limit (max_file_size) is "
                f"{self.max_file_size:,} bytes."
            )

    @cached_property
    def _denied(self) -> list[Glob]:
        return [Glob.covering(pattern) for pattern in self.denied_paths]

    @cached_property
    def _allowed(self) -> list[Glob] | None:
        if self.allowed_paths is None:
            return None
        return [Glob.covering(pattern) for pattern in self.allowed_paths]


def _check_pattern(pattern: str) -> None:
    try:
        Glob.covering(pattern)
    except InvalidGlob as error:
        raise ConfigInvalid(f"denied_paths or allowed_paths: {error}") from None


def parse_size(value: int | str) -> int:
    """Bytes of `10485760`, `"50MB"`, `"1.5 GB"`; units are powers of 1,024."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B?)\s*", str(value).upper())
    unit = match and (match[2] if match[2].endswith("B") or not match[2] else match[2] + "B")
    if isinstance(value, bool) or not match or unit not in UNITS:
        raise ConfigInvalid(f'max_file_size is bytes or text such as "50MB", not {value!r}.')
    return int(float(match[1]) * UNITS[unit])
