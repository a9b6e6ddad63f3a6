"""Runs ripgrep, or where it cannot search a Python child that answers in the same format."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import field
from functools import cache

from fsagent_tools.call import current
from fsagent_tools.errors import CommandFailed, InvalidArguments, InvalidRegex, TimedOut
from fsagent_tools.files.replace import TEMP_PREFIX
from fsagent_tools.policy.programs import Programs
from fsagent_tools.records import dataclass
from fsagent_tools.search.query import Binary, OutputLine, Query, parse_output
from fsagent_tools.search.walk import GIT_DIRECTORY, NOISE, NOISE_SUFFIX, OWN_CACHE
from fsagent_tools.search.where import Where
from fsagent_tools.shell.reader import ReaderProcess, start_reader

_CHUNK = 1 << 16
_POLL = 50  # ms between two looks at the clock and the cancel flag
_FALLBACK = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from fsagent_tools.search.fallback import search_stdin; search_stdin(*sys.argv[1:3])"
)


@cache
def find_ripgrep(programs: Programs) -> str | None:
    """ripgrep's program: of its wheel, beside the interpreter, before any on PATH."""
    return programs.find("rg")


@dataclass
class Search:
    """One run of an engine over one place.

    keep: bytes of a line that are wanted. deadline: of `time.monotonic`. programs: that may run.
    denied: globs of what is not even to be read. meanwhile: done once, while the engine is at work.
    `unreadable` says, after the last line, that some file could not be read.
    """

    query: Query
    where: Where
    deadline: float
    keep: int
    programs: Programs
    denied: tuple[str, ...] = ()
    meanwhile: Callable[[], None] | None = None
    unreadable: bool = False
    program: str | None = field(init=False)

    def __post_init__(self) -> None:
        self.program = find_ripgrep(self.programs)

    @property
    def is_sorted(self) -> bool:
        """One file, or the fallback: always in order of path."""
        return self.where.kind != "directory" or self.program is None

    @property
    def by_python(self) -> bool:
        """Whether ripgrep cannot search here, so that Python's `re` reads the pattern."""
        return self.where.kind == "spool" or self.program is None

    def run(self, *, in_order: bool = False) -> Generator[OutputLine | Binary, None, None]:
        """What the engine finds, as it comes; closing the iterator ends the process.

        in_order: by path, on one core. Raises `InvalidRegex`, `InvalidArguments`, `TimedOut`,
        `Cancelled`, `CommandFailed`.
        """
        program = None if self.by_python else self.program
        command = self._python() if program is None else self._ripgrep(program, in_order)
        with self._start(command, program) as process:
            try:
                if self.meanwhile:
                    todo, self.meanwhile = self.meanwhile, None
                    todo()
                yield from parse_output(
                    self._output(process), self.keep, columns=self.query.columns
                )
                self._finish(process, program)
            finally:
                process.end()

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

    def _start(self, command: list[str], program: str | None) -> ReaderProcess:
        try:
            return start_reader(command, self._readable(program), self.where.cwd, self._stdin)
        except OSError as error:
            raise CommandFailed(f"The search could not be started ({error.strerror}).") from None

    @property
    def _stdin(self) -> int:
        return subprocess.DEVNULL if self.where.kind == "directory" else self.where.fd

    def _readable(self, program: str | None) -> list[str]:
        """The opened directory itself: what its name or a link beneath leads to by then is not."""
        own = [self.where.cwd] if self.where.cwd else []
        return [*own, *(sys.path if program is None else [program])]

    def _finish(self, process: ReaderProcess, program: str | None) -> None:
        assert process.stderr is not None
        complaint = process.stderr.read().decode("utf-8", "replace")
        status = process.wait()
        if status == 1 and program is None:  # of ripgrep it means no match, of Python a crash
            reason = complaint.strip().rpartition("\n")[2][:200]
            raise CommandFailed(f"The search without ripgrep failed ({reason}).")
        if status not in (0, 1):
            if complaint:
                raise _refusal(complaint, self.query, by_python=program is None)
            self.unreadable = True

    def _ripgrep(self, program: str, in_order: bool) -> list[str]:
        query = self.query
        command = [program, "--no-config", "--no-messages", "--color=never", "--no-heading"]
        command += ["--with-filename", "--null", "--line-number", "--crlf"]
        command += ["--no-context-separator", f"--regexp={query.pattern}"]
        for wanted, option in (
            (not query.case_sensitive, "--ignore-case"),
            (query.multiline, "--multiline"),
            (query.dotall, "--multiline-dotall"),
            (query.columns, "--column"),
            (query.binary, "--binary"),
            (query.context and query.mode == "content", f"--context={query.context}"),
            (query.mode != "content", "--count"),
            (query.mode == "files_with_matches", "--max-count=1"),
            (query.mode == "content" and query.most, f"--max-count={query.most}"),
            (query.type, f"--type={query.type}"),
            (not query.recursive, "--max-depth=1"),
            (query.hidden, "--hidden"),
            (query.gitignore, "--no-require-git"),
            (not query.gitignore, "--no-ignore"),
            (query.max_file_size is not None, f"--max-filesize={query.max_file_size}"),
            (in_order, "--sort=path"),
        ):
            if wanted:
                command.append(option)
        command += [f"--glob={pattern}" for pattern in query.include]
        noise = () if query.noise else (*sorted(NOISE), f"*{NOISE_SUFFIX}")
        names = dict.fromkeys((GIT_DIRECTORY, *noise, OWN_CACHE))
        left_out = [f"{name}/" for name in names if name not in query.named]
        left_out.append(f"{TEMP_PREFIX}*")
        if not query.hidden:  # which a type or a glob would override
            left_out = [".*", *(name for name in left_out if name[0] != ".")]
        return [
            *command,
            *(f"--glob=!{pattern}" for pattern in (*left_out, *self.denied)),
            "--",
            "./" if self.where.kind == "directory" else "-",
        ]

    def _python(self) -> list[str]:
        return [
            self.programs.interpreter,
            "-I",
            "-c",
            _FALLBACK,
            self.query.to_json(),
            self.where.kind,
            *sys.path,
        ]


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
