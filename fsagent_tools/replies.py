"""What the verbs of a workspace give a program: records that know nothing of how they were made.

So naming their types loads neither searches nor commands nor the history.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property


@dataclass(frozen=True)
class FileBytes:
    """A whole file.

    Attributes:
        path: From the root.
        data: Its content.
        mtime_ns: Nanoseconds since 1970.
    """

    path: str
    data: bytes
    mtime_ns: int


@dataclass(frozen=True)
class FileText:
    """A whole text.

    Attributes:
        path: From the root.
        text: With line endings as they are.
        encoding: That of the file.
        mtime_ns: Nanoseconds since 1970.
    """

    path: str
    text: str
    encoding: str
    mtime_ns: int


@dataclass(frozen=True)
class FileWritten:
    """A file that was created or replaced.

    Attributes:
        path: From the root.
        bytes_written: Its size.
        created: Whether it is new.
    """

    path: str
    bytes_written: int
    created: bool


@dataclass(frozen=True)
class TextEdited:
    """A text that was changed.

    Attributes:
        path: From the root.
        replacements: In how many places.
        diff: Unified.
    """

    path: str
    replacements: int
    diff: str


@dataclass(frozen=True)
class Completed:
    """What a command did.

    Attributes:
        output: Everything it wrote, standard error included, in order.
        stderr: Always ""; documents of toolsets have the key.
        exit_code: 128 + N if signal N ended it. None while it runs, and if it could not be ended.
        truncated: Whether output was left out.
        timed_out: Whether it was ended at its time limit.
        duration: In seconds.
        sandbox: The level that confined it.
        stopped: Processes that it left behind and that were ended with it.
        survivors: Processes that not even SIGKILL ended.
        whole: The path of a file with the whole output, "" if nothing was left out.
        moved: Paths that it created and that were moved to `kept`, because other programs would
            have run something by them.
        put_back: Paths that were restored for that reason; of a configuration with the key.
        changed: Configurations that somebody changed while a job ran; they were left.
        kept: The directory that holds what was moved or replaced, "" if nothing was.
        lost: Files that it changed or removed and that no undo restores, or why no undo covers it
            at all.
        refused: Sentences about what the sandbox refused, as far as that is known.
    """

    output: str
    stderr: str
    exit_code: int | None
    truncated: bool
    timed_out: bool
    duration: float
    sandbox: str
    stopped: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()
    whole: str = ""
    moved: tuple[str, ...] = ()
    put_back: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    kept: str = ""
    lost: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class DirectoryEntry:
    """An entry of a directory.

    Attributes:
        path: From the root.
        kind: "file", "directory", "link" or "other".
        size: In bytes; of a link its own.
        mtime_ns: Nanoseconds since 1970.
    """

    path: str
    kind: str
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class FoundPaths:
    """Paths that match.

    Attributes:
        paths: From the root, in order of names.
        truncated: Whether there were more.
    """

    paths: tuple[str, ...]
    truncated: bool


@dataclass(frozen=True)
class SearchHit:
    """A line that matches.

    Attributes:
        path: From the root.
        line: Its number, from 1.
        text: Without its line ending.
    """

    path: str
    line: int
    text: str


@dataclass(frozen=True)
class SearchHits:
    """Lines that match.

    Attributes:
        hits: In order of path and line.
        truncated: Whether there were more.
    """

    hits: tuple[SearchHit, ...]
    truncated: bool


@dataclass(frozen=True)
class PathChange:
    """What a step did to one path.

    Attributes:
        path: From the root.
        verb: "created", "changed", "removed" or "moved".
        went_to: The new path if it was moved, else "".
    """

    path: str
    verb: str
    went_to: str
    _diff: Callable[[], str] = field(repr=False, compare=False)

    def diff(self) -> str:
        """A unified diff, or words for what has none."""
        return self._diff()


@dataclass(frozen=True)
class StepChange:
    """One step of a history.

    Attributes:
        id: For `undo(to=...)`.
        time: In UTC.
        session: See `identified`.
        user: The same.
        tool: "" for what the host did itself.
        call: See `identified`.
        kind: "change", "job" (what changed while a background job ran), "undo", "redo" or
            "checkpoint".
        name: Of a checkpoint.
        changes: One `PathChange` per path.
        undone: Whether it is undone now.
        lost: Paths whose old content could not be kept.
    """

    id: str
    time: datetime
    session: str
    user: str
    tool: str
    call: str
    kind: str
    name: str
    changes: tuple[PathChange, ...]
    undone: bool
    lost: tuple[str, ...]

    def diff(self) -> str:
        """All of its changes."""
        return "\n".join(filter(None, (change.diff() for change in self.changes)))


@dataclass(frozen=True)
class Unrestored:
    """A path that cannot be restored.

    Attributes:
        path: From the root.
        reason: Why not.
        diff: From the present content to the earlier one.
    """

    path: str
    reason: str
    diff: str


@dataclass(frozen=True)
class TakenBack:
    """What an undo or a redo did, or would do.

    Attributes:
        steps: Those that it reverted, the last one first.
        paths: What changed on disk.
        left: Paths that stay as they are, each with the reason.
    """

    steps: tuple[str, ...]
    paths: tuple[str, ...]
    left: tuple[Unrestored, ...] = ()
    _diff: Callable[[], str] = field(default=str, repr=False, compare=False)

    @cached_property
    def diff(self) -> str:
        """From before it to after it, as unified diffs; made when it is first asked for."""
        return self._diff()
