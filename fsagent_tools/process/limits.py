"""Resource limits as the kernel numbers them; `resource` does not exist on Windows."""

import os

from fsagent_tools.policy import Limits


def rlimits(limits: Limits) -> dict[int, int]:
    """Number of a resource -> its limit."""
    if os.name != "posix":
        return {}
    import resource

    wanted = {
        resource.RLIMIT_AS: limits.memory,
        resource.RLIMIT_FSIZE: limits.file_size,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_NPROC: limits.processes,
    }
    return {number: value for number, value in wanted.items() if isinstance(value, int)}
