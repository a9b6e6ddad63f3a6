"""How commands run: their sandbox, network, environment and limits."""

import os
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal, get_args

from fsagent_tools.errors import ConfigInvalid
from fsagent_tools.policy.hosts import HostRule
from fsagent_tools.policy.protected import SETTINGS
from fsagent_tools.policy.values import Strings, hosts, size, strings
from fsagent_tools.runtime.state import root_name
from fsagent_tools.validation import check_types

Confinement = Literal["off", "workspace-write", "read-only"]  # from loose to tight
Required = bool | Literal["landlock"]
LARGEST_WRITE = "4GB"
_FEWEST_PROCESSES, _MOST_PROCESSES = 1024, 8192  # with their threads: parallel builds, a JVM
_CACHES = "~/.cache/fsagent-tools/commands"


def most_processes() -> int:
    """A tenth of what the machine can have, so that several workspaces leave it room."""
    try:
        most = int(Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii"))
    except OSError:
        return _MOST_PROCESSES
    return max(_FEWEST_PROCESSES, min(_MOST_PROCESSES, most // 10))


@dataclass(frozen=True)
class Limits:
    """What each process of a command may use; None sets no limit.

    Attributes:
        memory: Address space, in bytes or as "2GB". Runtimes such as node and the JVM reserve many
            GB, so there is none by default.
        file_size: The largest file that a command may write, in bytes or as "2GB".
        cpu_seconds: Seconds of processor time.
        open_files: How many files may be open at once.
        processes: How many processes the user may have, including threads; does not bind root. By
            default a tenth of the machine's limit, at least 1,024 and at most 8,192.
    """

    memory: int | str | None = None
    file_size: int | str | None = LARGEST_WRITE
    cpu_seconds: int | None = None
    open_files: int | None = None
    processes: int | None = field(default_factory=most_processes)

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if value is not None:
                object.__setattr__(self, limit.name, size(value, f"limits.{limit.name}"))

    def numbered(self) -> dict[int, int]:
        """Each limit by the kernel's number of its resource."""
        import resource  # no policy needs it before a program starts

        wanted = {
            resource.RLIMIT_AS: self.memory,
            resource.RLIMIT_FSIZE: self.file_size,
            resource.RLIMIT_CPU: self.cpu_seconds,
            resource.RLIMIT_NOFILE: self.open_files,
            resource.RLIMIT_NPROC: self.processes,
        }
        return {number: value for number, value in wanted.items() if isinstance(value, int)}


@dataclass(frozen=True)
class ProcessPolicy:
    """How commands run. A call may tighten `sandbox` and `network`, but never loosen them.

    Attributes:
        sandbox: With `workspace-write` a command changes files only inside the root and its private
            temporary directory, with `read-only` only in the latter; `off` does not confine it.
        require_sandbox: Refuse to run if the system cannot enforce `sandbox` and `network`. With
            "landlock", commands also run where only Landlock confines them, although it cannot hide
            `denied_paths` from them; True and False refuse that.
        network: Whether sockets may be opened; enforced only with a sandbox. Hosts, such as
            ["pypi.org", "*.example.net", "example.org:8080"], are reached through a proxy of ours,
            and nothing else is; that needs bubblewrap.
        protected: Names in the root that make other programs run something. Commands cannot change
            them, nor what runs code in configurations of Git. () lifts both.
        installs: Whether commands may change the environment of Python that runs fsagent-tools
            itself, if it lies in the workspace.
        writable: Further files and directories that `workspace-write` opens, such as "~/.npm".
        readable: What commands may read besides the workspace, the system (/usr, /etc and the like)
            and our own Python; None allows everything. If it cannot be enforced, nothing is run.
        caches: A directory in which pip, uv, npm, pnpm, go, gradle and others keep what they build
            and download; created if needed, and writable. None: one for each workspace.
        env_allow: Variables passed on besides the built-in list; "AWS_*" covers a prefix.
        startup: Shell commands that each fresh shell begins with, such as ". .venv/bin/activate".
        redact: Regular expressions; text in the output that matches is not shown to the model.
        limits: What each process may use.

    Raises:
        ConfigInvalid: If a value cannot be used.
    """

    sandbox: Confinement = "workspace-write"
    require_sandbox: Required = False
    network: bool | Strings = False
    protected: Strings = SETTINGS
    installs: bool = False
    writable: Strings = ()
    readable: Strings | None = None
    caches: str | None = None
    env_allow: Strings = ()
    startup: str = ""
    redact: Strings = ()
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        check_types(vars(self), sandbox=Confinement, limits=Limits, installs=bool)
        if self.require_sandbox not in (True, False, "landlock"):
            raise ConfigInvalid('require_sandbox is True, False or "landlock".')
        if self.require_sandbox and self.sandbox == "off":
            raise ConfigInvalid("require_sandbox and sandbox='off' contradict each other.")
        if isinstance(self.network, str | int) and not isinstance(self.network, bool):
            raise ConfigInvalid(
                f"network is of type bool or a list of hosts, not {self.network!r}."
            )
        if not isinstance(self.network, bool):
            object.__setattr__(self, "network", strings("network", self.network))
            _ = self.hosts  # bad ones fail now
        if self.caches is not None:
            (caches,) = strings("caches", [self.caches])
            object.__setattr__(self, "caches", str(Path(caches).expanduser()))
        object.__setattr__(self, "redact", _rules(self.redact, self.startup))
        for name in ("writable", "readable", "env_allow", "protected"):
            if (value := getattr(self, name)) is not None and value is not SETTINGS:
                object.__setattr__(self, name, strings(name, value))

    @classmethod
    def developer(cls) -> "ProcessPolicy":
        """For work that installs packages: with network access, also into our own environment."""
        return cls(network=True, installs=True)

    @property
    def hosts(self) -> tuple[HostRule, ...]:
        """Those of `network`."""
        return () if isinstance(self.network, bool) else hosts("network", self.network, below=True)

    @property
    def opened(self) -> tuple[str, ...]:
        """The absolute paths of `writable`."""
        return tuple(map(os.path.expanduser, self.writable))

    @property
    def places(self) -> tuple[str, ...]:
        """Absolute paths of what commands may have written, also those of other workspaces."""
        return (*self.opened, self.caches or str(Path(_CACHES).expanduser()))

    def caches_of(self, root: str) -> str:
        """The directory of caches for the commands of the workspace at `root`, a real path."""
        return self.caches or str(Path(_CACHES).expanduser() / root_name(root))

    def described(self, sandbox: Confinement, level: str) -> str:
        """What a model should know of a command's limits, in short sentences; "" without any.

        level: what is in force, as `bubblewrap+seccomp`.
        """
        if sandbox == "off" or level == "none":
            return ""
        is_whole, sentences = level.startswith("bubblewrap"), list[str]()
        if not isinstance(self.network, bool):
            sentences.append(f"Network only by HTTP(S) proxy to {', '.join(self.network)}.")
        elif not self.network:
            local = "" if is_whole else ", not even localhost"
            sentences.append(f"No network{' but localhost' if is_whole else local}.")
        if level != "seccomp":
            written = ("the workspace and $TMPDIR", *self.writable)
            open_ = ", ".join(written) if sandbox == "workspace-write" else "$TMPDIR"
            sentences.append(f"Writes only below {open_}.")
        if self.protected and sandbox == "workspace-write" and not is_whole:
            sentences.append("Git hooks and editor settings are put back afterwards.")
        if self.readable is not None:
            read = ", ".join(("the workspace", "$TMPDIR", "the system", *self.readable))
            sentences.append(f"Reads only {' and '.join(read.rsplit(', ', 1))}.")
        return " ".join(sentences)

    def tightest(self, sandbox: Confinement | None) -> Confinement:
        """The tighter of the policy's and a call's own `sandbox`."""
        return max(self.sandbox, sandbox or "off", key=get_args(Confinement).index)


def _rules(value: object, startup: object) -> tuple[str, ...]:
    """Both as they stand: a template would take what they write as `${}`."""
    if not isinstance(startup, str) or "\0" in startup:
        raise ConfigInvalid(f"startup is a text of shell commands, not {startup!r}.")
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise ConfigInvalid(f"redact is a list of regular expressions, not {value!r}.")
    for each in value:
        try:
            re.compile(each.encode())
        except re.error as error:
            raise ConfigInvalid(f"redact: {each!r} is no regular expression: {error}.") from None
    return tuple(value)
