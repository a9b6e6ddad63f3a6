"""What a workspace allows: by action name, by path, by size."""

import os
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from fsagent_tools.effects import BY_NAME, Effect
from fsagent_tools.errors import (
    ActionDenied,
    ConfigInvalid,
    NotRead,
    PathDenied,
    ReadOnly,
    TooLarge,
    ToolError,
)
from fsagent_tools.globs import WILDCARDS, literal_path, quoted, readings
from fsagent_tools.policy.hosts import HostRule, Proxy
from fsagent_tools.policy.paths import ALLOWED_PATHS, AllRules, Closing
from fsagent_tools.policy.process import Confinement, Limits, ProcessPolicy
from fsagent_tools.policy.protected import PROTECTED
from fsagent_tools.policy.values import Strings, hosts, size, strings
from fsagent_tools.runtime.state import STATE, state_home
from fsagent_tools.validation import check_types

__all__ = ["PROTECTED", "Closing", "Confinement", "Decision", "Limits", "Policy", "ProcessPolicy"]
_LISTS = ("allowed_actions", "allowed_paths", "denied_paths", "write_denied")
HOSTS = ("allow_hosts", "deny_hosts")
MAX_WHOLE = 100_000_000  # bytes of a file that is read as a whole, where there is no limit
UNREAD_BYTES = 500  # of a file that may be edited unread; compact-filesystem.md


@dataclass(frozen=True)
class Decision:
    """What the policy says of one call, and which rule says so."""

    allowed: bool
    rule: str
    reason: str

    def __str__(self) -> str:
        return f"{'allowed' if self.allowed else 'denied'} by {self.rule}: {self.reason}"


@dataclass(frozen=True)
class Policy:
    """What a workspace allows. Frozen and validated; by default everything inside the root.

    Paths may begin with {{workdir}}, {{workspace}} or {{home}} and contain {{env.NAME}}.

    Attributes:
        readonly: Refuse every action that writes or deletes.
        allowed_actions: Names of actions or tools that may run; None allows all.
        allowed_paths: Globs or directory prefixes that a path must match. Absolute ones may open
            further roots (`/tmp/**`), relative ones start at the root. None allows the root.
        denied_paths: Globs that the path of an opened object must not match; they win over
            `allowed_paths`. As in a .gitignore, `.env*` and `secrets/` match at any depth,
            `secrets/**` and `/secrets` at the root only. `[id]` is also the name `[id]`.
        max_file_size: Bytes, or text such as "50MB"; larger files are neither read nor written. By
            default any size is, but what needs a whole text at once takes 100 MB.
        process: How commands run. With bubblewrap they obey `denied_paths` and `write_denied` for
            whatever exists; a readonly policy makes them read-only.
        allow_hosts: Hosts (`host` or `host:port`, exactly) that may be reached although they are
            not public, such as "localhost:8000".
        deny_hosts: Hosts, including all names below them, and addresses that are never reached.
        proxy: `http://host:port`, or with `user:password@` before the host. All hosts except those
            of `allow_hosts` are reached through it; the environment's proxies are never used.
        write_denied: As `denied_paths`, but only for writing, moving and removing, and ignoring
            case. By default `PROTECTED`: files that make other programs run something. () lifts it.
        read_before_edit: In bytes. Toolsets with this gate refuse to change larger files that were
            not read. None turns it off.
        within: Further lists like `allowed_paths`; a path must match each of them, too.

    Raises:
        ConfigInvalid: If a value cannot be used.

    Examples:
        >>> policy = Policy(denied_paths=[".env"], max_file_size="10MB")
        >>> policy.explain("read", "app/.env").allowed
        False
        >>> policy.max_file_size
        10485760
    """

    readonly: bool = False
    allowed_actions: Strings | None = None
    allowed_paths: Strings | None = None
    denied_paths: Strings = ()
    max_file_size: int | str | None = None
    process: ProcessPolicy = field(default_factory=ProcessPolicy)
    allow_hosts: Strings = ()
    deny_hosts: Strings = ()
    proxy: str | None = field(default=None, repr=False)  # it may hold a password
    write_denied: Strings = PROTECTED
    read_before_edit: int | None = UNREAD_BYTES
    within: tuple[tuple[str, ...], ...] = ()
    _written: list[list[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_types(vars(self), readonly=bool, read_before_edit=int | None, process=ProcessPolicy)
        given = self.allowed_paths
        if given is not None and not isinstance(given, str):
            object.__setattr__(self, "allowed_paths", given := tuple(given))  # read twice
        lists = [] if given is None else [given]
        object.__setattr__(self, "_written", [list(each) for each in (*lists, *self.within)])
        for name in (*_LISTS, *HOSTS):
            if (value := getattr(self, name)) is not None and value is not PROTECTED:
                object.__setattr__(self, name, strings(name, value))
        object.__setattr__(self, "within", tuple(strings("within", v) for v in self.within))
        rules = self._rules
        _ = rules.denied, rules.allowed  # bad ones fail now
        _ = self.opened_hosts, self.closed_hosts, self.tunnel
        if self.write_denied is not PROTECTED:
            _ = rules.kept
        if self.max_file_size is not None:
            object.__setattr__(self, "max_file_size", size(self.max_file_size))

    def check_names(self, known: Iterable[str] = ()) -> None:
        """Raise `ConfigInvalid` for an allowed action that neither we nor the toolset have."""
        known = {*known}
        unknown = {*(self.allowed_actions or ())} - known
        if unknown and (unknown := unknown - {*BY_NAME}):
            raise ConfigInvalid(
                f"allowed_actions: there is no {', '.join(map(repr, sorted(unknown)))}.",
                hint=f"There are: {', '.join(sorted(known or BY_NAME))}.",
            )

    def check_action(self, name: str, effect: Effect, *, shown: str = "") -> None:
        """Raise unless the action called `name`, which a model knows as `shown`, may run at all."""
        if self.allowed_actions is not None and not {name, shown} & {*self.allowed_actions}:
            allowed = ", ".join(self.allowed_actions) or "none"
            raise ActionDenied(
                f"The action {shown or name!r} is not allowed here.", hint=f"Allowed: {allowed}."
            )
        if self.readonly and effect.changes_files:
            raise ReadOnly(f"This workspace is read-only, and {shown or name!r} changes files.")

    def check_seen(self, told: str, size: int) -> None:
        """Raise when a file that this session has not seen is too large to be edited."""
        if self.read_before_edit is not None and size > self.read_before_edit:
            raise NotRead(
                f"{told} was not read in this session, as files above "
                f"{self.read_before_edit:,} bytes must be before they are changed. "
                "Nothing was written.",
                hint="Read it first, then send this again.",
            )

    def check_path(self, relative: str, absolute: str, effect: Effect, *, told: str = "") -> None:
        """Raise unless the opened object may be used; both paths are of the object itself.

        told: what the refusal calls it.
        """
        if denial := self._denial(relative, absolute, effect, told):
            raise denial[1]

    def closes(self, relative: str, absolute: str) -> Closing | None:
        """How a file or directory of that path is closed to commands."""
        return self._rules.closes(relative, absolute)

    @cached_property
    def opened(self) -> tuple[str, ...]:
        """Absolute paths that absolute `allowed_paths` begin with, as far as they are literal."""
        given = (path.split("/") for path in self.allowed_paths or () if path[:1] == "/")
        literal = (takewhile(lambda part: not WILDCARDS & {*part}, parts) for parts in given)
        return tuple("/".join(parts).rstrip("/") or "/" for parts in literal)

    def changeable(self, root: Path) -> tuple[str, ...]:
        """Absolute paths of what tools and commands may change."""
        own = os.path.abspath(root)  # noqa: PTH100  as the door has it
        return (own, *self.opened, *self.process.places)

    @property
    def denied_globs(self) -> list[str]:
        """What `denied_paths` stand for, without braces; relative ones start at the root."""
        return [rule.glob.pattern for rule in self._rules.denied.rules]

    @cached_property
    def denied_places(self) -> tuple[str, ...]:
        """Absolute paths without wildcards that are denied, inside the root or not."""
        absolute = [path for path in self.denied_paths if path[0] in "/{"]
        globs = [text for path in absolute for text in readings(path) if text[0] == "/"]
        paths = [literal_path(text.removesuffix("/**").rstrip("/")) for text in globs]
        return tuple(filter(None, paths))

    def opens(self, folder: str) -> bool:
        """Whether all beneath a real directory may be read, so that nobody has to ask for each."""
        ours = any(place.startswith(f"{folder.rstrip('/')}/") for place in own_state())
        return not (ours or self.denied_paths or self._rules.lists)

    def check_listing(self, relative: str, absolute: str, *, told: str = "") -> None:
        """`check_path` for a directory; one on the way to what is allowed may be listed.

        Who lists it shows only what the policy allows.
        """
        denial = self._denial(relative, absolute, Effect.READ, told)
        way = denial and denial[0] == ALLOWED_PATHS and self._rules.leads_on(relative, absolute)
        if denial and not way:
            raise denial[1]

    def explain(self, action: str, path: str, *, effect: Effect | None = None) -> Decision:
        """Whether an action may use a file, and which rule decides. Does no IO.

        Args:
            action: The name of an action or tool.
            path: A real path relative to the root: links are not resolved, and no size is known.
            effect: Needed for an action that is not ours.

        Raises:
            ConfigInvalid: If the action is unknown.
        """
        if (effect := effect or BY_NAME.get(action)) is None:
            known = ", ".join(BY_NAME)
            raise ConfigInvalid(f"There is no action {action!r}.", hint=f"There are: {known}.")
        try:
            self.check_action(action, effect)
        except ToolError as error:
            name = "readonly" if isinstance(error, ReadOnly) else "allowed_actions"
            return Decision(False, name, str(error))
        if denial := self._denial(path, path, effect):
            return Decision(False, denial[0], str(denial[1]))
        name, reason = "default", "everything inside the root is allowed."
        if self.allowed_paths is not None:
            rule = self._rules.allowed[0].first(path, path)
            name, reason = f"{ALLOWED_PATHS}: {rule}", f"{path} matches."
        if rules := self._rules.deeper(path):
            reason += " {!r} of denied_paths holds at the root alone, {!r} at any depth.".format(
                *rules
            )
        return Decision(True, name, reason)

    def _denial(
        self, relative: str, absolute: str, effect: Effect, told: str = ""
    ) -> tuple[str, ToolError] | None:
        """The rule that denies, and the refusal."""
        name = told or relative
        own = own_state() if STATE in absolute else ()
        if f"{absolute}/".startswith(tuple(f"{place}/" for place in own)):
            return "state", PathDenied(f"{name} is closed: fsagent keeps its own records there.")
        if effect.changes_files and self.readonly:
            return "readonly", ReadOnly(f"This workspace is read-only; {name} was not changed.")
        if not (effect.changes_files or self.denied_paths or self._rules.lists):
            return None
        return self._rules.denial(relative, absolute, name, writes=effect.changes_files)

    def limited(self, max_file_size: int | str) -> "Policy":
        """This policy with a limit of file size."""
        policy = copy(self)
        object.__setattr__(policy, "max_file_size", size(max_file_size))
        return policy

    def closed_to(self, folder: str) -> "Policy":
        """This policy without `folder`, which absolute `allowed_paths` may open; "" is none."""
        if not folder or not any(path[:1] in ("/", "{") for path in self.allowed_paths or ()):
            return self
        return replace(self, denied_paths=(*self.denied_paths, quoted(folder)))

    def beneath(self, paths: Iterable[str]) -> "Policy":
        """This policy for what is beneath these, too, which are literal, relative to the root."""
        policy, given = copy(self), tuple(map(quoted, paths))
        object.__setattr__(policy, "within", (*self.within, given))
        object.__setattr__(policy, "_written", [*self._written, list(given)])
        vars(policy).pop("_rules", None)
        return policy

    def check_whole(self, told: str, size: int) -> None:
        """Raise when a file of `size` bytes is not to be read as a whole."""
        if self.max_file_size is None and size > MAX_WHOLE:
            raise TooLarge(
                f"{told} has {size:,} bytes; this reads at most {MAX_WHOLE:,} bytes as a whole.",
                hint="Read a window of it with `read`. Search it with `grep`.",
            )

    def check_size(self, told: str, size: int) -> None:
        """Raise when `size` bytes are more than a file may have here."""
        if isinstance(self.max_file_size, int) and size > self.max_file_size:
            raise TooLarge(
                f"{told} has {size:,} bytes; the limit (max_file_size) is "
                f"{self.max_file_size:,} bytes."
            )

    @cached_property
    def opened_hosts(self) -> tuple[HostRule, ...]:
        return hosts("allow_hosts", tuple(self.allow_hosts))

    @cached_property
    def closed_hosts(self) -> tuple[HostRule, ...]:
        return hosts("deny_hosts", tuple(self.deny_hosts))

    @cached_property
    def tunnel(self) -> Proxy | None:
        """`proxy`, read."""
        try:
            return None if self.proxy is None else Proxy.parse(self.proxy)
        except (ValueError, TypeError):
            raise ConfigInvalid(
                "proxy is written http://host:port or http://user:password@host:port."
            ) from None

    @cached_property
    def _rules(self) -> AllRules:
        lists = [] if self.allowed_paths is None else [tuple(self.allowed_paths)]
        return AllRules(
            tuple(self.denied_paths),
            tuple(self.write_denied),
            (*lists, *self.within),
            tuple(map(tuple, self._written)),
        )


def own_state(home: str = "") -> tuple[str, ...]:
    """The directories of all that is kept so, closed to every tool."""
    given = (home,) if home else ()
    try:
        return (state_home(), *given)
    except (OSError, RuntimeError):
        return given
