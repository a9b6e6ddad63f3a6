"""What a workspace allows: by action name, by path, by size."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Literal, get_args

from fsagent_tools.effects import Effect
from fsagent_tools.errors import (
    ActionDenied,
    ConfigInvalid,
    InvalidGlob,
    NotRead,
    PathDenied,
    ReadOnly,
    TooLarge,
)
from fsagent_tools.globs import Glob
from fsagent_tools.hosts import HostRule

LISTS = ("allowed_actions", "allowed_paths", "denied_paths", "allow_hosts", "deny_hosts")
UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}
Confinement = Literal["off", "workspace-write", "read-only"]  # from loose to tight
Engine = Literal["auto", "bwrap"]
LARGEST_WRITE = "4GB"
UNREAD_BYTES = 500


@dataclass(frozen=True)
class Limits:
    """What each process of a command may use; None is no limit of ours.

    memory: address space; runtimes such as node and the JVM reserve many GB, so none by default.
    file_size: the largest file a command may write; both are bytes or text such as "2GB".
    cpu_seconds, open_files: whole numbers.
    """

    memory: int | str | None = None
    file_size: int | str | None = LARGEST_WRITE
    cpu_seconds: int | None = None
    open_files: int | None = None

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if value is not None:
                object.__setattr__(self, limit.name, parse_size(value, f"limits.{limit.name}"))


@dataclass(frozen=True)
class ProcessPolicy:
    """How commands run. A call may tighten `sandbox` and `network`, never loosen them.

    sandbox: `workspace-write` lets a command change files inside the root and its private temporary
        directory only, `read-only` the temporary directory only, `off` does not confine.
    require_sandbox: refuse to run where the system cannot enforce `sandbox` and `network`.
    engine: `bwrap` runs commands in bubblewrap, which must then be installed.
    network: whether sockets may be opened; enforced only where a sandbox is on.
    writable: further files and directories that `workspace-write` opens, such as "~/.npm".
    env_allow: variables passed on besides the built-in list; "AWS_*" covers a prefix.
    Raises `ConfigInvalid` on a value that cannot be used.
    """

    sandbox: Confinement = "workspace-write"
    require_sandbox: bool = False
    engine: Engine = "auto"
    network: bool = False
    writable: tuple[str, ...] = ()
    env_allow: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for name, words in (("sandbox", get_args(Confinement)), ("engine", get_args(Engine))):
            if (value := getattr(self, name)) not in words:
                raise ConfigInvalid(f"{name} is one of {', '.join(words)}, not {value!r}.")
        if self.require_sandbox and self.sandbox == "off":
            raise ConfigInvalid("require_sandbox and sandbox='off' contradict each other.")
        for name in ("writable", "env_allow"):
            object.__setattr__(self, name, _strings(name, getattr(self, name)))

    def tightest(self, sandbox: Confinement | None) -> Confinement:
        """The tighter of the policy's and a call's own `sandbox`."""
        return max(self.sandbox, sandbox or "off", key=get_args(Confinement).index)


@dataclass(frozen=True)
class Policy:
    """Frozen and validated; without any argument everything inside the root is allowed.

    readonly: refuse every action that writes or deletes.
    allowed_actions: names of actions that may run; None allows all.
    allowed_paths: globs or directory prefixes that a path must match; absolute ones may open
        further roots (`/tmp/**`), relative ones are beneath the root. None allows the whole root.
    denied_paths: globs that no opened object's path may match; they win over `allowed_paths`.
    max_file_size: bytes, or text such as "50MB"; larger files are neither read nor written.
    process: how commands run. Path globs do not bind them; a readonly policy makes them read-only.
    allow_hosts: hosts (`host` or `host:port`, exactly) that may be reached although they are not
        public, such as "localhost:8000".
    deny_hosts: hosts, with all names below them, and addresses that are never reached.
    read_before_edit: bytes; toolsets with this gate refuse to edit larger files that the session
        has neither read nor written. None turns it off.
    Raises `ConfigInvalid` on a value that cannot be used.
    """

    readonly: bool = False
    allowed_actions: tuple[str, ...] | None = None
    allowed_paths: tuple[str, ...] | None = None
    denied_paths: tuple[str, ...] = ()
    max_file_size: int | str | None = None
    process: ProcessPolicy = field(default_factory=ProcessPolicy)
    allow_hosts: tuple[str, ...] = ()
    deny_hosts: tuple[str, ...] = ()
    read_before_edit: int | None = UNREAD_BYTES

    def __post_init__(self) -> None:
        for name in LISTS:
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, _strings(name, value))
        for pattern in (*self.denied_paths, *(self.allowed_paths or ())):
            _check_pattern(pattern)
        if self.max_file_size is not None:
            object.__setattr__(self, "max_file_size", parse_size(self.max_file_size))
        _ = self.opened_hosts, self.closed_hosts  # a bad host is told now, not at the first fetch

    def check_action(self, name: str, effect: Effect) -> None:
        """Raise unless the action called `name` may run at all."""
        if self.allowed_actions is not None and name not in self.allowed_actions:
            allowed = ", ".join(self.allowed_actions) or "none"
            raise ActionDenied(
                f"The action {name!r} is not allowed here.", hint=f"Allowed: {allowed}."
            )
        if self.readonly and effect.changes_files:
            raise ReadOnly(f"This workspace is read-only, and {name!r} changes files.")

    def check_seen(self, relative: str, size: int) -> None:
        """Raise when a file that this session has not seen is too large to be edited."""
        if self.read_before_edit is not None and size > self.read_before_edit:
            raise NotRead(
                f"{relative} has {size:,} bytes and was not read in this session. "
                "Nothing was written.",
                hint="Read it first, then edit.",
            )

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
    def opened_hosts(self) -> tuple[HostRule, ...]:
        return _hosts("allow_hosts", self.allow_hosts)

    @cached_property
    def closed_hosts(self) -> tuple[HostRule, ...]:
        return _hosts("deny_hosts", self.deny_hosts)

    @cached_property
    def _denied(self) -> list[Glob]:
        return [Glob.covering(pattern) for pattern in self.denied_paths]

    @cached_property
    def _allowed(self) -> list[Glob] | None:
        if self.allowed_paths is None:
            return None
        return [Glob.covering(pattern) for pattern in self.allowed_paths]


def _hosts(name: str, items: tuple[str, ...]) -> tuple[HostRule, ...]:
    try:
        return tuple(HostRule.parse(item) for item in items)
    except (ValueError, AttributeError, TypeError) as error:
        raise ConfigInvalid(
            f"{name}: {error}.", hint='Write "example.com" or "localhost:8000", without http://.'
        ) from None


def _check_pattern(pattern: str) -> None:
    try:
        Glob.covering(pattern)
    except InvalidGlob as error:
        raise ConfigInvalid(f"denied_paths or allowed_paths: {error}") from None


def parse_size(value: int | str, name: str = "max_file_size") -> int:
    """Bytes of `10485760`, `"50MB"`, `"1.5 GB"`; units are powers of 1,024."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B?)\s*", str(value).upper())
    unit = match and (match[2] if match[2].endswith("B") or not match[2] else match[2] + "B")
    if isinstance(value, bool) or not match or unit not in UNITS:
        raise ConfigInvalid(f'{name} is bytes or text such as "50MB", not {value!r}.')
    return int(float(match[1]) * UNITS[unit])


def _strings(name: str, value: Iterable[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        raise ConfigInvalid(f"{name} is a list of strings, not the string {value!r}.")
    return tuple(value)
