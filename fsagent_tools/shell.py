"""A shell command as the policy lets it run: where, with which environment, in which sandbox."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fsagent_tools.errors import Denied
from fsagent_tools.files.directory import LocalDirectory
from fsagent_tools.policy import Confinement, Policy
from fsagent_tools.policy.protected import GIT_OF_COMMANDS
from fsagent_tools.process import MAX_OUTPUT, Command, Launcher, environment
from fsagent_tools.process.programs import Programs
from fsagent_tools.sandbox.profile import UNCONFINED, Profile


@dataclass(frozen=True)
class ShellRequest:
    """What a caller wants; `network` False closes it, `sandbox` can only be tighter."""

    command: str
    network: bool | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    sandbox: Confinement | None = None
    max_output: int = MAX_OUTPUT


def prepare(
    asked: ShellRequest,
    directory: LocalDirectory,
    launcher: Launcher,
    policy: Policy,
    temp_dir: str,
) -> Command:
    """Raises `Denied` for what the policy closes.

    `directory` is the checked working directory; the path of the same name may change.
    """
    absolute, status = directory.place.absolute, os.fstat(directory.fd)
    temp_dir = os.path.realpath(temp_dir)
    return Command(
        asked.command,
        cwd=absolute,
        env=environment(policy.process.env_allow, temp_dir, {"PWD": absolute, **asked.env}),
        profile=_profile(asked, launcher.writable, policy, temp_dir),
        limits=policy.process.limits,
        max_output=asked.max_output,
        place=(status.st_dev, status.st_ino),
        keep_in=temp_dir,
    )


def _profile(
    asked: ShellRequest, writable: tuple[str, ...], policy: Policy, temp_dir: str
) -> Profile:
    """The policy's profile, tightened by the call; a read-only one must be in force to run."""
    process = policy.process
    if asked.network and not process.network:
        raise Denied(
            "`network`: the policy closes the network.", hint="Leave it out, or ask the operator."
        )
    mode = "read-only" if policy.readonly else process.tightest(asked.sandbox)
    if mode == "off":
        return UNCONFINED
    kept = writable if policy.write_denied else ()
    repositories = [git for path in kept if (git := Path(path, ".git")).is_dir()]
    own = Programs(kept).own
    return Profile(
        writable=writable if mode == "workspace-write" else (temp_dir,),
        network=process.network and asked.network is not False,
        required=process.require_sandbox or mode == "read-only",
        bubblewrap=process.engine == "bwrap",
        read_only=(*(f"{git}/{name}" for git in repositories for name in GIT_OF_COMMANDS), *own),
        pinned=tuple(map(str, repositories)),
    )
