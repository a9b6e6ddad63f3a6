"""Resource limits of a command, set in its shell; `resource` does not exist on Windows."""

import sys

from fsagent_tools.policy import Limits


def mark(tag: str) -> int:
    """An uncommon limit on POSIX message queues, which is inherited like the tag; 0 for none.

    Few programs use these queues and none needs their last quarter megabyte; every process may
    read the limits of any other.
    """
    if not sys.platform.startswith("linux"):
        return 0
    import resource

    hard = resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]
    return max(0, hard - 1 - int(tag, 16) % 2**18)


def in_shell(limits: Limits, tag: str, shell: str) -> str:
    """Words before a script, on its own first line; never above what the host itself has.

    In the shell, because a limit set from outside comes after the shell's first steps.
    """
    import resource

    bash = shell.endswith("bash")
    wanted = (
        ("v", limits.memory, resource.RLIMIT_AS, 1024),
        ("f", limits.file_size, resource.RLIMIT_FSIZE, 1024 if bash else 512),
        ("t", limits.cpu_seconds, resource.RLIMIT_CPU, 1),
        ("n", limits.open_files, resource.RLIMIT_NOFILE, 1),
        ("u" if bash else "p", limits.processes, resource.RLIMIT_NPROC, 1),
    )
    words = [f"ulimit -q {mark(tag)}; "] if bash and mark(tag) else []
    for letter, limit, number, unit in wanted:
        if isinstance(limit, int):
            hard = resource.getrlimit(number)[1]
            lowest = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            words.append(f"ulimit -{letter} {lowest // unit}; ")
    return "".join(words)
