"""What holds commands here, told before any is started."""

import re
from contextlib import closing, suppress
from functools import cache

from fsagent_tools.policy import Limits, Policy
from fsagent_tools.process import launcher
from fsagent_tools.sandbox.profile import Profile

_REFUSALS = {  # of namespaces: of a container's filter, or a setting
    "/proc/self/status": r"^Seccomp:\s+2",
    "/proc/sys/user/max_user_namespaces": "^0",
    "/proc/sys/kernel/unprivileged_userns_clone": "^0",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "^1",
}


def in_force(policy: Policy) -> tuple[str, str]:
    """The level that commands have, and what they have of sockets, see `seccomp`."""
    if policy.process.engine == "bwrap":
        return "bwrap", "private"
    profile = Profile((), network=policy.process.network)
    means = launcher.Enforcing.of(profile)
    sure = means.words or (means.abi and not _is_doubtful())
    view = launcher.View(namespaces=bool(sure) or has_namespaces())
    terms, level = launcher.terms_for(profile, Limits(), view, means)
    return level, terms["profile"]["sockets"]


def _is_doubtful() -> bool:
    """Whether something here may refuse namespaces: else none are made to find out."""
    for path, refusal in _REFUSALS.items():
        with suppress(OSError), open(path) as file:
            if re.search(refusal, file.read(), re.MULTILINE):
                return True
    return not launcher.NAMESPACES


@cache
def has_namespaces() -> bool:
    with closing(launcher.Launcher()) as launching:
        return launching.has_namespaces
