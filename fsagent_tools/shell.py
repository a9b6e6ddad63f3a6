"""A shell command as the policy lets it run: where, with which environment, in which sandbox."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fsagent_tools.errors import Denied
from fsagent_tools.files.directory import LocalDirectory
from fsagent_tools.policy import Confinement, Policy
from fsagent_tools.process import MAX_OUTPUT, PROC, Command, environment
from fsagent_tools.sandbox import Profile, Sandbox, sandbox

_PROTECTED = (".git/hooks", ".git/config")


@dataclass(frozen=True)
class ShellRequest:
    """What a caller wants; `network` False closes it, `sandbox` can only be tighter."""

    command: str
    network: bool | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    sandbox: Confinement | None = None
    max_output: int = MAX_OUTPUT


def prepare(
    asked: ShellRequest, directory: LocalDirectory, root: Path, policy: Policy, temp_dir: str
) -> Command:
    """Raises `Denied` for what the policy closes.

    `directory` is the checked working directory; the path of the same name may change.
    """
    absolute = directory.place.absolute
    return Command(
        asked.command,
        cwd=f"/proc/self/fd/{directory.fd}" if PROC else absolute,
        env=environment(policy.process.env_allow, temp_dir, {"PWD": absolute, **asked.env}),
        sandbox=_sandbox(asked, root, policy, Path(temp_dir)),
        limits=policy.process.limits,
        max_output=asked.max_output,
    )


def _sandbox(asked: ShellRequest, root: Path, policy: Policy, temp_dir: Path) -> Sandbox:
    """The policy's sandbox, tightened by the call; a read-only one must be in force to run."""
    process = policy.process
    if asked.network and not process.network:
        raise Denied(
            "`network`: the policy closes the network.", hint="Leave it out, or ask the operator."
        )
    mode = "read-only" if policy.readonly else process.tightest(asked.sandbox)
    if mode == "off":
        return Sandbox()
    open_too = (root, *(Path(path).expanduser() for path in process.writable))
    return sandbox(
        Profile(
            writable=(temp_dir, *(open_too if mode == "workspace-write" else ())),
            network=process.network and asked.network is not False,
            required=process.require_sandbox or mode == "read-only",
            engine=process.engine,
            read_only=tuple(root / path for path in _PROTECTED),
        )
    )
