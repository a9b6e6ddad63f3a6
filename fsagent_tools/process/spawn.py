"""Starting a shell: confined, in a session of its own, with no input."""

import _thread
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from fsagent_tools.errors import CommandFailed
from fsagent_tools.policy import Limits
from fsagent_tools.process.family import TAG
from fsagent_tools.process.limits import in_shell
from fsagent_tools.sandbox import Sandbox

MAX_OUTPUT = 51_200
LONGEST_ARGUMENT = 100_000  # bytes; Linux ends one argument at 131,072 (MAX_ARG_STRLEN)
DEEPER_STACK = "ulimit -Ss 65536 2>/dev/null; "  # bash recurses once per command in a long list
SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/bin/sh")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Command:
    """A shell script and all that it runs with.

    script: text without NUL, of any length. cwd: a directory that exists. env: the whole
    environment. max_output: bytes of stdout and stderr together that are kept.
    """

    script: str
    cwd: str
    env: Mapping[str, str]
    sandbox: Sandbox = field(default_factory=Sandbox)
    limits: Limits = field(default_factory=Limits)
    max_output: int = MAX_OUTPUT


def spawn(command: Command, tag: str) -> "subprocess.Popen[bytes]":
    """Start `command`; `tag` marks its environment. Raises `CommandFailed`."""
    if os.name != "posix":
        raise CommandFailed(
            "This action needs a POSIX shell, which this system lacks.",
            hint="Use the file tools, or run the agent under WSL.",
        )
    script = in_shell(command.limits, tag, _shell()) + command.script
    if len(script.encode()) <= LONGEST_ARGUMENT:
        return _start(command, script, tag)
    with tempfile.TemporaryFile(dir=command.env.get("TMPDIR")) as file:
        file.write(script.encode())
        file.seek(0)
        run_file = f"{DEEPER_STACK}. /dev/fd/{file.fileno()}"
        return _start(command, run_file, tag, file.fileno())


def _start(command: Command, script: str, tag: str, *fds: int) -> "subprocess.Popen[bytes]":
    def popen() -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [*command.sandbox.prefix, _shell(), "-c", script],
            cwd=command.cwd,
            env={**command.env, TAG: tag},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            pass_fds=fds,
        )

    enter = command.sandbox.enter
    try:
        return popen() if enter is None else _in_thread(enter, popen)
    except OSError as error:
        raise CommandFailed(
            f"The command could not be started: {error.strerror or error}.",
            hint="Nothing was run. Check `working_dir`.",
        ) from None


def _in_thread(enter: Callable[[], None], start: Callable[[], _T]) -> _T:
    """`start()` in a thread that has confined itself and then ends: confinement is per thread.

    A bare thread, because `threading.Thread` costs two more switches between threads.
    """
    done: list[_T] = []
    failed: list[BaseException] = []
    ended = _thread.allocate_lock()
    ended.acquire()

    def body() -> None:
        try:
            enter()
            done.append(start())
        except BaseException as error:  # noqa: BLE001  re-raised in the caller's thread
            failed.append(error)
        finally:
            ended.release()

    _thread.start_new_thread(body, ())
    ended.acquire()
    if failed:
        raise failed[0]
    return done[0]


@cache
def _shell() -> str:
    return next(shell for shell in SHELLS if os.access(shell, os.X_OK))
