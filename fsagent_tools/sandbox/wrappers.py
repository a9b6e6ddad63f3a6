"""Sandboxes that are programs of their own: bubblewrap, and sandbox-exec of macOS."""

import os
from collections.abc import Iterable, Sequence

from fsagent_tools.errors import CommandFailed

SANDBOX_EXEC = "/usr/bin/sandbox-exec"


def bwrap(writable: Iterable[str], read_only: Iterable[str], network: bool) -> tuple[str, ...]:
    """bubblewrap: everything read-only but `writable`, own /dev, /proc and process tree.

    No --die-with-parent: it means the thread that started the command, not the process.
    """
    program = _program("bwrap")
    words = [program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in map(os.path.realpath, writable):
        words += ["--bind-try", path, path]
    for path in map(os.path.realpath, read_only):
        words += ["--ro-bind-try", path, path]
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"]
    return (*words, *(() if network else ("--unshare-net",)), "--")


def sandbox_exec(
    writable: Iterable[str], read_only: Iterable[str], network: bool
) -> tuple[str, ...]:
    """macOS: a profile that denies writes but to `writable`, then again to `read_only`."""
    devices = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr")
    rules = [
        "(version 1)(allow default)(deny file-write*)",
        _rule("allow", "literal", devices),
        _rule("allow", "subpath", [os.path.realpath(path) for path in writable]),
        _rule("deny", "subpath", [os.path.realpath(path) for path in read_only]),
        "" if network else "(deny network*)",
    ]
    return (SANDBOX_EXEC, "-p", "".join(rules))


def _rule(verdict: str, kind: str, paths: Sequence[str]) -> str:
    quoted = (path.replace("\\", "\\\\").replace('"', '\\"') for path in paths)
    places = " ".join(f'({kind} "{path}")' for path in quoted)
    return f"({verdict} file-write* {places})" if paths else ""


def _program(name: str) -> str:
    for directory in os.get_exec_path():
        if os.access(path := os.path.join(directory, name), os.X_OK):
            return path
    raise CommandFailed(
        f"The policy asks for {name}, which is not installed; nothing was run.",
        hint=f"Ask the operator to install {name} or to choose another engine.",
    )
