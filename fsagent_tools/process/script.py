"""A shell script as a program to launch."""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from fsagent_tools.policy import Limits
from fsagent_tools.process.launcher import Launch
from fsagent_tools.process.temporary import needing_temporary
from fsagent_tools.sandbox.profile import UNCONFINED, Profile

MAX_OUTPUT = 51_200
LONGEST_ARGUMENT = 100_000  # bytes; Linux ends one argument at 131,072 (MAX_ARG_STRLEN)
DEEPER_STACK = "ulimit -Ss 65536 2>/dev/null; "  # bash recurses once per command in a long list
SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/bin/sh")
Judging = Callable[[], Callable[[], tuple[tuple[str, ...], tuple[str, ...]]]]
ChangeWatch = Callable[[], Callable[[], tuple[str, ...]]]


@dataclass(frozen=True)
class Command:
    """A shell script and all that it runs with.

    script: text without NUL, of any length. cwd: a directory that exists; place: its device and
    inode, which it must still have. env: the whole environment. max_output: bytes of stdout and
    stderr together that are kept; keep_in: directory for a file with all of it, if that is more,
    and of a script that is too long for an argument. judge, watch: called before it starts; give
    what is called after its end and tells names, see `Completed`. separate: a pipe for each stream.
    redact: regular expressions; what matches is not shown, nor kept.
    """

    script: str
    cwd: str
    env: Mapping[str, str]
    profile: Profile = UNCONFINED
    limits: Limits = field(default_factory=Limits)
    max_output: int = MAX_OUTPUT
    place: tuple[int, int] | None = None
    keep_in: str | None = None
    judge: Judging | None = None
    watch: ChangeWatch | None = None
    separate: bool = False
    redact: tuple[str, ...] = ()

    def launch(self) -> Launch:
        """The program that runs it. Raises `CommandFailed`."""
        argv = [_shell(), "-c", self._argument()]
        return Launch(argv, self.env, self.cwd, self.place, self.profile, self.limits)

    def _argument(self) -> str:
        """The script, or what runs it from a file that removes itself."""
        if len(self.script.encode()) <= LONGEST_ARGUMENT:
            return self.script
        with (
            needing_temporary(),
            tempfile.NamedTemporaryFile(
                "w", dir=self.keep_in, prefix="script-", delete=False
            ) as file,
        ):
            file.write(f'command rm -f -- "{file.name}"\n{self.script}')
        return f"{DEEPER_STACK}. '{file.name}'"


@cache
def _shell() -> str:
    return next(shell for shell in SHELLS if os.access(shell, os.X_OK))
