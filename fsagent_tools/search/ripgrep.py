"""Runs ripgrep, or where it cannot run a Python child that answers in the same format."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Self

from fsagent_tools.call import current
from fsagent_tools.errors import CommandFailed, InvalidArguments, InvalidRegex, TimedOut
from fsagent_tools.files.base import TEMP_PREFIX
from fsagent_tools.files.guarded import Directory, ReadableFile
from fsagent_tools.files.resolve import AT_CWD, opened
from fsagent_tools.globs import Glob
from fsagent_tools.policy.programs import Programs
from fsagent_tools.search.query import OutputLine, Query, parse_output
from fsagent_tools.search.start import Start
from fsagent_tools.search.walk import GIT_DIRECTORY, NOISE, NOISE_SUFFIX, OWN_CACHE
from fsagent_tools.shell.reader import ReaderProcess, start_reader

Texts = Iterable[tuple[str, bytes | None]]  # paths, and what the files hold, None for unreadable
FILE = "file"  # the copy of a single one
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
    """A query, run by an engine over one opened place.

    glob: of the files whose lines count. deadline: of `time.monotonic`. keep: bytes of a line that
    are wanted. copy: where the files were copied to, "" to search them as they are. meanwhile: done
    once, while the engine is at work. `unreadable` says, after the last line, that some file could
    not be read.
    """

    query: Query
    opened: Directory | ReadableFile
    start: Start
    deadline: float
    keep: int
    glob: Glob | None = None
    copy: str = ""
    meanwhile: Callable[[], None] | None = None
    unreadable: bool = False

    def __post_init__(self) -> None:
        files = self.start.files  # what may search: nothing that the model could have written
        self.programs = Programs.of(files.local_root, files.policy)

    @property
    def is_file(self) -> bool:
        return not isinstance(self.opened, Directory)

    @property
    def by_python(self) -> bool:
        """Whether ripgrep cannot run here, so that Python's `re` reads the pattern."""
        return find_ripgrep(self.programs) is None

    def accepts(self, sub: str) -> bool:
        """Whether lines of that file count, "" for a single one."""
        counts = self.glob is None or not sub or bool(self.glob.matches(sub))
        return counts and self.start.allows(sub)

    @contextmanager
    def in_copy(self, texts: Texts) -> Iterator[Self]:
        """The same search of a private copy of files, or of the single one with the path "".

        Raises `OSError`.
        """
        with tempfile.TemporaryDirectory(prefix="fsagent-search-") as top:
            search = replace(self, copy=top, meanwhile=None, unreadable=False)
            if self.is_file:
                Path(top, FILE).touch()
            for sub, data in texts:
                current.get().check()
                if data is None:
                    search.unreadable = True
                    continue
                path = Path(top, sub or FILE)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            yield search

    def run(self, *, in_order: bool = False) -> Generator[OutputLine, None, None]:
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
        program = find_ripgrep(self.programs)
        with self._start(program, in_order) as process:
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
        path = (f"{self.copy}/{FILE}" if self.is_file else self.copy) if self.copy else ""
        try:
            with opened(AT_CWD, path, os.O_RDONLY) if path else nullcontext(self.opened.fd) as fd:
                cwd, stdin = None, fd
                if self.is_file:
                    os.lseek(fd, 0, os.SEEK_SET)  # another run may have read it
                else:  # the verified directory itself: a path could lead elsewhere by now
                    cwd, stdin = f"/proc/self/fd/{fd}", subprocess.DEVNULL
                    cwd = cwd if os.path.exists(cwd) else path or self.opened.place.absolute
                readable = [*([cwd] if cwd else []), *([program] if program else sys.path)]
                return start_reader(command, readable, cwd, stdin)
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
                raise self._refusal(complaint)
            self.unreadable = True

    def _refusal(self, complaint: str) -> InvalidArguments:
        """The complaint in one sentence; a parse error has its reason in the last line."""
        lines = [line for line in complaint.splitlines() if line.strip()]
        reason = next((x for x in reversed(lines) if x.startswith("error: ")), lines[0])
        reason = reason.removeprefix("rg: ").removeprefix("error: ").rstrip(".")[:200]
        if "unrecognized file type" in reason:
            return InvalidArguments(
                f"`type`: unknown file type {self.query.type[:40]!r}.", hint="Use `include`."
            )
        hint = r"Escape literal characters, as in \( \[ \{ \* \\."
        if "look-around" in reason or "backreference" in reason:
            hint = "Use a regex without look-around and backreferences."
        kind = "regex of Python's `re`" if self.by_python else "regex"
        return InvalidRegex(f"`pattern`: not a valid {kind}: {reason}.", hint=hint)

    def _ripgrep(self, program: str, in_order: bool) -> list[str]:
        query, counts = self.query, self.query.mode == "count"
        options = {
            "--count": counts,
            "--column": not counts,
            f"--max-count={query.most_of_file}": query.most_of_file and not counts,
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
        denied = () if self.copy else self.start.denied  # is not even to be read
        return [
            *(program, *_OPTIONS, f"--regexp={query.pattern}"),
            *(option for option, wanted in options.items() if wanted),
            *(f"--glob={pattern}" for pattern in query.include),
            *(f"--glob=!{pattern}" for pattern in (*left_out, *denied)),
            *("--", "-" if self.is_file else "./"),
        ]

    def _python(self) -> list[str]:
        kind = "file" if self.is_file else "directory"
        query = json.dumps(asdict(self.query))
        return [self.programs.interpreter, "-I", "-c", _FALLBACK, query, kind, *sys.path]
