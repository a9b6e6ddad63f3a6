"""Runs ripgrep, or where it cannot run a Python child that answers in the same format."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, dataclass
from functools import cache

from fsagent_tools.call import current
from fsagent_tools.errors import CommandFailed, InvalidArguments, InvalidRegex, TimedOut
from fsagent_tools.files.base import TEMP_PREFIX
from fsagent_tools.policy.programs import Programs
from fsagent_tools.search.contents import SearchTarget
from fsagent_tools.search.query import Binary, OutputLine, Query, parse_output
from fsagent_tools.search.walk import GIT_DIRECTORY, NOISE, NOISE_SUFFIX, OWN_CACHE
from fsagent_tools.shell.reader import ReaderProcess, start_reader

_CHUNK = 1 << 16
_POLL = 50  # ms between two looks at the clock and the cancel flag
_FALLBACK = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from fsagent_tools.search.fallback import print_matches; print_matches(*sys.argv[1:3])"
)
_OPTIONS = (
    *("--no-config", "--no-messages", "--color=never", "--no-heading", "--with-filename", "--null"),
    *("--line-number", "--crlf", "--no-context-separator"),
)


@cache
def find_ripgrep(programs: Programs) -> str | None:
    """ripgrep's program: of its wheel, beside the interpreter, before any on PATH."""
    return programs.find("rg")


@dataclass
class Search:
    """A query, run by an engine over one place.

    deadline: of `time.monotonic`. keep: bytes of a line that are wanted. programs: that may run.
    denied: globs of what is not even to be read. meanwhile: done once, while the engine is at work.
    `unreadable` says, after the last line, that some file could not be read.
    """

    query: Query
    source: SearchTarget
    deadline: float
    keep: int
    programs: Programs
    denied: tuple[str, ...] = ()
    meanwhile: Callable[[], None] | None = None
    unreadable: bool = False

    @property
    def by_python(self) -> bool:
        """Whether ripgrep cannot run here, so that Python's `re` reads the pattern."""
        return find_ripgrep(self.programs) is None

    @property
    def is_sorted(self) -> bool:
        """One file, or the fallback: always in order of path."""
        return self.source.is_file or self.by_python

    def run(self, *, in_order: bool = False) -> Generator[OutputLine | Binary, None, None]:
        """What the engine finds, as it comes; closing the iterator ends the process.

        Args:
            in_order: By path, on one core.

        Raises:
            InvalidRegex: If the engine does not know the pattern.
            InvalidArguments: If it does not know the file type.
            TimedOut: After the deadline.
            Cancelled: If the call was cancelled.
            CommandFailed: If the engine cannot be started, or crashed.
        """
        self.unreadable = self.source.unreadable
        with self._start(find_ripgrep(self.programs), in_order) as process:
            try:
                if self.meanwhile:
                    todo, self.meanwhile = self.meanwhile, None
                    todo()
                yield from parse_output(self._output(process), self.keep)
                self._check_end(process)
            finally:
                process.end()

    def _start(self, program: str | None, in_order: bool) -> ReaderProcess:
        command = self._ripgrep(program, in_order) if program else self._python()
        source, cwd = self.source, self.source.cwd
        if source.is_file:
            os.lseek(source.fd, 0, os.SEEK_SET)  # another run may have read it
        readable = [*([cwd] if cwd else []), *([program] if program else sys.path)]
        try:
            return start_reader(command, readable, cwd, subprocess.DEVNULL if cwd else source.fd)
        except OSError as error:
            raise CommandFailed(f"The search could not be started ({error.strerror}).") from None

    def _output(self, process: ReaderProcess) -> Iterator[bytes]:
        """What it writes, as it comes; none of it waits behind the clock or the cancel flag."""
        assert process.stdout is not None
        check, fd, poll = current.get().check, process.stdout.fileno(), select.poll()
        poll.register(fd, select.POLLIN)
        while True:
            if poll.poll(_POLL):
                if not (chunk := os.read(fd, _CHUNK)):
                    return
                yield chunk
            check()
            if time.monotonic() > self.deadline:
                raise TimedOut("The search took too long.")

    def _check_end(self, process: ReaderProcess) -> None:
        assert process.stderr is not None
        complaint = process.stderr.read().decode("utf-8", "replace")
        status = process.wait()
        if status == 1 and self.by_python:  # of ripgrep it means no match, of Python a crash
            reason = complaint.strip().rpartition("\n")[2][:200]
            raise CommandFailed(f"The search without ripgrep failed ({reason}).")
        if status not in (0, 1):
            if complaint:
                raise _refusal(complaint, self.query, by_python=self.by_python)
            self.unreadable = True

    def _ripgrep(self, program: str, in_order: bool) -> list[str]:
        query, counts = self.query, self.query.mode == "count"
        most = 1 if query.mode == "files_with_matches" else query.most
        options = {
            "--count": counts,
            "--column": not counts,
            f"--max-count={most}": most and not counts,
            f"--context={query.context}": query.context and query.mode == "content",
            "--binary": query.binary and not counts,  # which it counts as texts
            "--ignore-case": not query.case_sensitive,
            "--multiline": query.multiline,
            "--multiline-dotall": query.dotall,
            f"--type={query.type}": query.type,
            "--max-depth=1": not query.recursive,
            "--hidden": query.hidden,
            "--no-require-git": query.gitignore,
            "--no-ignore": not query.gitignore,
            f"--max-filesize={query.max_file_size}": query.max_file_size is not None,
            "--sort=path": in_order,
        }
        noise = () if query.noise else (*sorted(NOISE), f"*{NOISE_SUFFIX}")
        names = dict.fromkeys((GIT_DIRECTORY, *noise, OWN_CACHE))
        left_out = [f"{name}/" for name in names if name not in query.named]
        left_out.append(f"{TEMP_PREFIX}*")
        if not query.hidden:  # which a type or a glob would override
            left_out = [".*", *(name for name in left_out if name[0] != ".")]
        return [
            *(program, *_OPTIONS, f"--regexp={query.pattern}"),
            *(option for option, wanted in options.items() if wanted),
            *(f"--glob={pattern}" for pattern in query.include),
            *(f"--glob=!{pattern}" for pattern in (*left_out, *self.denied)),
            *("--", "-" if self.source.is_file else "./"),
        ]

    def _python(self) -> list[str]:
        kind = "file" if self.source.is_file else "directory"
        query = json.dumps(asdict(self.query))
        return [self.programs.interpreter, "-I", "-c", _FALLBACK, query, kind, *sys.path]


def _refusal(complaint: str, query: Query, *, by_python: bool) -> InvalidArguments:
    """The engine's complaint in one sentence; a parse error has its reason in the last line."""
    lines = [line for line in complaint.splitlines() if line.strip()]
    reason = next((x for x in reversed(lines) if x.startswith("error: ")), lines[0])
    reason = reason.removeprefix("rg: ").removeprefix("error: ").rstrip(".")[:200]
    if "unrecognized file type" in reason:
        return InvalidArguments(
            f"`type`: unknown file type {query.type[:40]!r}.", hint="Use `include`."
        )
    hint = r"Escape literal characters, as in \( \[ \{ \* \\."
    if "look-around" in reason or "backreference" in reason:
        hint = "Use a regex without look-around and backreferences."
    kind = "regex of Python's `re`" if by_python else "regex"
    return InvalidRegex(f"`pattern`: not a valid {kind}: {reason}.", hint=hint)
