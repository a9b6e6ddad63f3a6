"""What one program may touch, as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fsagent_tools.policy import Limits
from fsagent_tools.policy.hosts import HostRule

if TYPE_CHECKING:
    from fsagent_tools.shell.launch import Process


@dataclass(frozen=True)
class Hosts:
    """What is reached through a proxy: `network`, `allow_hosts` and `deny_hosts` of a policy."""

    reached: tuple[HostRule, ...]
    opened: tuple[HostRule, ...] = ()
    closed: tuple[HostRule, ...] = ()


@dataclass(frozen=True)
class Profile:
    """Paths are absolute with links resolved; missing ones are skipped.

    Attributes:
        writable: What may be changed; None: no confinement at all.
        readable: What may be read as well; None: everything.
        data: Paths of `readable` from which no program is started, as far as there is Landlock.
        network: False leaves loopback with bubblewrap and no socket otherwise. Hosts need
            bubblewrap.
        temporary: What bubblewrap shows as /tmp; "" for an empty one.
        shown: What stays visible beneath /tmp and /run.
        read_only: Inside `writable`, but not to be changed. Only bubblewrap enforces these three.
        hidden: What cannot be read.
        pinned: Directories that cannot be renamed.
        required: Nothing may run where the system cannot enforce `writable` and `network`.
        must_hide: Nothing may run where the system cannot enforce `hidden`.
    """

    writable: tuple[str, ...] | None
    readable: tuple[str, ...] | None = None
    data: tuple[str, ...] = ()
    network: bool | Hosts = False
    temporary: str = ""
    shown: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    required: bool = False
    must_hide: bool = False


UNCONFINED = Profile(None, network=True)


@dataclass(frozen=True)
class Launch:
    """A program and everything that it runs with.

    argv begins with an absolute path, env is the whole environment, cwd a directory that exists.
    neighbour: A running `Process` whose servers it reaches on loopback.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    profile: Profile = UNCONFINED
    limits: Limits = field(default_factory=Limits)
    neighbour: "Process | None" = None
