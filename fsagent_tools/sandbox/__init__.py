"""What a command may touch, enforced by the kernel; no shell text is parsed."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fsagent_tools.errors import CommandFailed
from fsagent_tools.sandbox import landlock, privileges, seccomp, wrappers

NONE = "none"


@dataclass(frozen=True)
class Profile:
    """What one command may do. Reading is never limited by Landlock, only writing is.

    writable: files and directories that may be changed; missing ones are skipped.
    network: False closes every socket (also Unix sockets: a container daemon's is a way out).
    required: refuse to run where the kernel cannot enforce all of it.
    engine: `auto` is Landlock on Linux and sandbox-exec on macOS; `bwrap` asks for bubblewrap.
    read_only: places inside `writable` that stay closed. Only `bwrap` and macOS can do that:
        Landlock rules only ever add rights to a whole tree.
    """

    writable: tuple[Path, ...]
    network: bool = False
    required: bool = False
    engine: str = "auto"
    read_only: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Sandbox:
    """How to start a process confined: words before its argv, or a step in the starting thread.

    `level` is `none`, `landlock-vN`, `landlock-vN+seccomp`, `bwrap` or `sandbox-exec`.
    """

    level: str = NONE
    prefix: tuple[str, ...] = ()
    enter: Callable[[], None] | None = None


def sandbox(profile: Profile) -> Sandbox:
    """The strongest sandbox here for `profile`.

    Raises `CommandFailed` when the profile demands what this system lacks.
    """
    if profile.engine == "bwrap":
        words = wrappers.bwrap(profile.writable, profile.read_only, profile.network)
        return Sandbox("bwrap", words)
    if sys.platform == "darwin":
        words = wrappers.sandbox_exec(profile.writable, profile.read_only, profile.network)
        return Sandbox("sandbox-exec", words)
    abi = landlock.abi()
    if not abi:
        return _unconfined(profile)
    close_sockets = not profile.network and seccomp.available()
    if profile.required and not profile.network and not close_sockets:
        raise _lacking("seccomp, which closes the network")
    level = f"landlock-v{abi}" + ("+seccomp" if close_sockets else "")

    def enter() -> None:
        privileges.drop()
        landlock.restrict(abi, profile.writable, profile.network)
        if close_sockets:
            seccomp.close_sockets()

    return Sandbox(level, enter=enter)


def _unconfined(profile: Profile) -> Sandbox:
    if profile.required:
        raise _lacking("Landlock (Linux 5.13 or newer, with the LSM enabled)")
    return Sandbox()


def _lacking(what: str) -> CommandFailed:
    return CommandFailed(
        f"The policy requires a sandbox, and this system lacks {what}; nothing was run.",
        hint="Use another tool, or ask the operator to change the process policy.",
    )
