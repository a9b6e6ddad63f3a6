"""Sandboxes that are programs of their own: bubblewrap, and sandbox-exec of macOS."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from fsagent_tools.errors import CommandFailed
from fsagent_tools.sandbox import mounts
from fsagent_tools.sandbox.profile import Profile

SANDBOX_EXEC = "/usr/bin/sandbox-exec"
# Variables that load code into a program or let it write a file, as ld.so(8) and dyld(1) list them.
_LOADING = re.compile(
    "LD_|DYLD_|MALLOC_|(GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|LOCPATH|NLSPATH|HOSTALIASES"
    "|LOCALDOMAIN|NIS_PATH|RESOLV_HOST_CONF|RES_OPTIONS)$"
)


def bwrap(profile: Profile) -> tuple[str, ...]:
    """bubblewrap: everything read-only but `writable`, own /dev, /proc and process tree.

    No --die-with-parent: it means the thread that started the command, not the process.
    """
    words = [_installed(profile.bubblewrap), "--ro-bind", "/", "/"]
    words += ["--dev", "/dev", "--proc", "/proc"]
    sockets = [] if profile.network else list(map(os.path.realpath, mounts.unix_sockets()))
    if sockets and mounts.empties_run(map(os.path.realpath, profile.writable or ())):
        sockets = [path for path in sockets if not path.startswith(f"{mounts.RUNTIME}/")]
        words += ["--tmpfs", mounts.RUNTIME]
        for path, target in mounts.run_links():
            words += ["--symlink", target, path]
    for option, paths in (
        ("--bind-try", profile.writable or ()),
        ("--bind-try", profile.pinned),
        ("--ro-bind-try", profile.read_only),
    ):
        for path in map(os.path.realpath, paths):
            words += [option, path, path]
    for path in dict.fromkeys(sockets):
        words += ["--ro-bind", os.devnull, path]
    for path in profile.hidden:
        words += ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", os.devnull, path]
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"]
    return (*words, *(() if profile.network else ("--unshare-net",)), "--")


def sandbox_exec(profile: Profile) -> tuple[str, ...]:
    """macOS: a profile that denies writes but to `writable`, then again to `read_only`."""
    devices = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr")
    rules = [
        "(version 1)(allow default)(deny file-write*)",
        _rule("allow file-write*", "literal", devices),
        _rule("allow file-write*", "subpath", _real(profile.writable or ())),
        _rule("deny file-write*", "subpath", _real((*profile.read_only, *profile.hidden))),
        _rule("deny file-write*", "literal", _real(profile.pinned)),
        _rule("deny file-read*", "subpath", _real(profile.hidden)),
        "" if profile.network else "(deny network*)",
    ]
    return (SANDBOX_EXEC, "-p", "".join(rules))


def inside(env: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The environment of the sandbox's own program, and words that give what is inside the rest.

    What is meant to be loaded into a confined program must not be loaded into that one.
    """
    own = {name: value for name, value in env.items() if not _LOADING.match(name)}
    rest = [f"{name}={value}" for name, value in env.items() if name not in own]
    return own, (("/usr/bin/env", *rest) if rest else ())


def _real(paths: Iterable[str]) -> list[str]:
    return [os.path.realpath(path) for path in paths]


def _rule(verdict: str, kind: str, paths: Sequence[str]) -> str:
    quoted = (path.replace("\\", "\\\\").replace('"', '\\"') for path in paths)
    places = " ".join(f'({kind} "{path}")' for path in quoted)
    return f"({verdict} {places})" if paths else ""


def _installed(program: str) -> str:
    """`program` if it is a path and not a name alone, which nobody has found."""
    if os.path.isabs(program):
        return program
    raise CommandFailed(
        f"The policy asks for {program}, which is not installed where commands cannot write; "
        "nothing was run.",
        hint=f"Ask the operator to install {program} or to choose another engine.",
    )
