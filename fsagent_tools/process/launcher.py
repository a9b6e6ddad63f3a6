"""The one way to start a child process: confined, limited, and ended with its host."""

import errno
import os
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from fsagent_tools.errors import CommandFailed
from fsagent_tools.policy import Limits
from fsagent_tools.process.kept import Keeper
from fsagent_tools.process.kept import View as View
from fsagent_tools.process.plain import InGroup, has_loopback
from fsagent_tools.process.room import InRoom, KeeperGone, Terms
from fsagent_tools.runtime.forked import owned
from fsagent_tools.sandbox import landlock, seccomp, wrappers
from fsagent_tools.sandbox.profile import UNCONFINED, Profile

NONE = "none"
NAMESPACES = True  # whether they are tried at all
_AT_ONCE = 16
_KEEPS = sys.platform.startswith("linux") and hasattr(os, "pidfd_open")
_FOR_NOW = frozenset((errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM))
_Held = InRoom | InGroup


@dataclass(frozen=True)
class Launch:
    """A program and all that it runs with.

    argv: begins with an absolute path. env: the whole environment. cwd: a directory that exists.
    place: its device and inode, which it must still have when the program starts there.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    place: tuple[int, int] | None = None
    profile: Profile = UNCONFINED
    limits: Limits = field(default_factory=Limits)


class Launcher:
    """Starts the programs of one workspace. Any method may be called from any thread.

    view: what the policy gives at most, in namespaces where there are some. starts: bounds how many
    start at the same time, which takes more descriptors than to run. `close` ends all that was
    started; a later use begins afresh.
    """

    def __init__(self, view: View | None = None) -> None:
        view = view or View()
        self.writable = tuple(map(os.path.realpath, view.writable))
        shown = tuple(map(os.path.realpath, view.shown))
        self._confined = replace(view, writable=self.writable, shown=shown, namespaces=True)
        self._plain = replace(view, writable=(), shown=(), network=False, processes=View.processes)
        self.starts = threading.BoundedSemaphore(_AT_ONCE)
        self._lock = threading.Lock()
        self._keepers: dict[View, Keeper | None] = {}
        weakref.finalize(self, _close, self._keepers)
        owned(self)

    def start(self, launch: Launch, streams: tuple[int, int, int]) -> tuple[_Held, str]:
        """A child whose standard streams are the three descriptors, and its level.

        The level is `none`, or what confines it, as `namespaces+landlock-v7+seccomp`. Raises
        `CommandFailed` when it cannot be started, or not as `launch.profile` requires.
        """
        try:
            for _ in range(2):
                keeper, view = self._kept(launch.profile)
                terms, order, level = _request(launch, view)
                if keeper is None:
                    return InGroup(terms, order, streams), level
                try:
                    return keeper.start(terms, order, streams), level
                except KeeperGone:
                    self._forget(view, keeper)
        except OSError as error:
            raise CommandFailed(
                f"The command could not be started: {error.strerror or error}.",
                hint="Nothing was run. "
                + ("Try again later." if _passes(error) else "Check working_dir and env."),
            ) from None
        raise CommandFailed("The command could not be started: its keeper ended.")

    def lacking(self, profile: Profile) -> str:
        """Why nothing can run as `profile` requires, "" if it can; may start a keeper."""
        try:
            means = Enforcing.of(profile)
            lacking = means.lack(profile, self._plain)
            if lacking:
                _, view = self._kept(profile)
                lacking = means.lack(profile, view)
        except CommandFailed as error:
            return error.message
        except OSError as error:
            return f"the sandbox could not be started: {error.strerror or error}"
        return lacking and f"the policy requires a sandbox, and this system lacks {lacking}"

    def close(self) -> None:
        with self._lock:
            _close(self._keepers)

    def disown(self) -> None:
        """The keepers stay with the process that was forked; here others are started."""
        self._lock, self.starts = threading.Lock(), threading.BoundedSemaphore(_AT_ONCE)
        keepers = [*filter(None, self._keepers.values())]
        self._keepers.clear()
        for keeper in keepers:
            with suppress(OSError):
                keeper.disown()

    @property
    def has_namespaces(self) -> bool:
        """Whether they can be had, which only who makes some can tell."""
        return self._kept(Profile(()))[1].namespaces

    def _kept(self, profile: Profile) -> tuple[Keeper | None, View]:
        """The keeper for `profile`, if there can be one, and what it shows its programs."""
        view = self._plain
        if not _KEEPS:
            return None, view
        confined = NAMESPACES and profile.writable is not None and not profile.bubblewrap
        with self._lock:
            if confined and self._keeper(self._confined) is not None:
                view = self._confined
            return self._keeper(view), view

    def _forget(self, view: View, keeper: Keeper) -> None:
        with self._lock:
            if self._keepers.get(view) is keeper:
                del self._keepers[view]
                keeper.close()

    def _keeper(self, view: View) -> Keeper | None:
        """None, for good, where there cannot be one. Raises `OSError` when there is none for now:
        no command is confined less because the machine is busy.
        """
        if view not in self._keepers:
            try:
                self._keepers[view] = Keeper(view)
            except OSError as error:
                if _passes(error):
                    raise
                self._keepers[view] = None
        return self._keepers[view]


def _passes(error: OSError) -> bool:
    """Whether it may be gone when the machine is less busy."""
    return isinstance(error, TimeoutError) or error.errno in _FOR_NOW


def _close(keepers: dict[View, Keeper | None]) -> None:
    """Also at the end of this process, while other threads may still start keepers."""
    while keepers:
        _, keeper = keepers.popitem()
        if keeper is not None:
            keeper.close()


class Enforcing(NamedTuple):
    """What confines a program here, beside namespaces: the words of a sandbox that is a program of
    its own and stands before it, Landlock, seccomp.
    """

    words: tuple[str, ...]
    level: str
    abi: int
    filtered: bool

    @classmethod
    def of(cls, profile: Profile) -> Self:
        """Raises `CommandFailed` without the program that `profile` wants around it."""
        if profile.writable is None:
            return cls((), NONE, 0, False)
        filtered = seccomp.available()
        if profile.bubblewrap:
            return cls(wrappers.bwrap(profile), "bwrap", 0, filtered)
        if sys.platform == "darwin":
            return cls(wrappers.sandbox_exec(profile), "sandbox-exec", 0, filtered)
        return cls((), NONE, landlock.abi(), filtered)

    def within(self, profile: Profile, view: View) -> Self:
        """What of it is used there, and the level that it makes with what `view` has."""
        if profile.only:
            return self._replace(level="namespaces", abi=0, filtered=False)
        if self.words or profile.writable is None:
            return self
        abi = 0 if view.namespaces and profile.namespaces else self.abi
        parts = {
            "namespaces": view.namespaces,
            f"landlock-v{abi}": abi,
            "seccomp": self.filtered,
        }
        level = "+".join(part for part, used in parts.items() if used) or NONE
        return self._replace(level=level, abi=abi)

    def lack(self, profile: Profile, view: View) -> str:
        """What is not here of what `profile` requires, "" for nothing."""
        namespaces = view.namespaces
        closed = self.filtered or (namespaces and not view.network) or profile.network
        if profile.only and not namespaces:
            return "namespaces, which hide what is elsewhere"
        if not profile.required:
            return ""
        if not (self.words or (closed and (self.abi or namespaces))):
            return "seccomp, which closes the network" if self.abi else "namespaces and Landlock"
        if profile.readable is not None and not self.abi:
            return "Landlock, which confines reading"
        if profile.must_hide and not (self.words or namespaces):
            return "namespaces, which close denied_paths"
        return ""


def _request(launch: Launch, view: View) -> tuple[Terms, dict[str, Any], str]:
    """What the keeper is told, a room and an order, and the level that it stands for."""
    means = Enforcing.of(launch.profile)
    terms, level = terms_for(launch.profile, launch.limits, view, means)
    env, given = wrappers.inside(launch.env) if means.words else (dict(launch.env), ())
    order = {
        "argv": [*means.words, *given, *launch.argv],
        "env": env,
        "cwd": launch.cwd,
        "place": launch.place or _place(launch.cwd),
    }
    return terms, order, level


def terms_for(profile: Profile, limits: Limits, view: View, means: Enforcing) -> tuple[Terms, str]:
    """A room for `profile`, and the level that it stands for. Raises `CommandFailed`."""
    if lacking := means.lack(profile, view):
        raise CommandFailed(
            f"The policy requires a sandbox, and this system lacks {lacking}; nothing was run.",
            hint="Use another tool, or ask the operator to change the process policy.",
        )
    words, level, abi, filtered = means.within(profile, view)
    private = words or (view.namespaces and not view.network)
    local = "private" if private else "own" if filtered and has_loopback() else "closed"
    shut = [path for path in view.writable if path not in (profile.writable or ())]
    terms = {
        "limits": limits.numbered(),
        "read_only": (*shut, *profile.read_only),
        "hidden": profile.hidden,
        "pinned": profile.pinned,
        "only": profile.only,
        "profile": {
            "writable": None if words else profile.writable,
            "readable": profile.readable,
            "data": profile.data,
            "landlock": abi,
            "sockets": "open" if profile.network else local,
            "filtered": filtered,
            "namespaces": profile.namespaces,
            "private": bool(view.temporary),
        },
    }
    return terms, level


def _place(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino
