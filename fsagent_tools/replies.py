"""What the verbs of a workspace give a program: records that know nothing of how they were made.

So naming their types loads neither searches nor commands nor the history.
"""

from collections.abc import Callable
from dataclasses import field
from datetime import datetime
from functools import cached_property

from fsagent_tools.records import dataclass


@dataclass(frozen=True)
class Completed:
    """What a command did. `exit_code` is None while it runs and when it could not be ended.

    A death by signal N is 128 + N, as in the shell. `stopped` names processes that the command left
    behind and that were ended with it, `survivors` says when even SIGKILL did not end all. `both`:
    all that it wrote, in order; so does `output`, and `stderr` is empty, unless the streams were to
    be separate. `whole`: path of a file that holds all of it, "" where nothing was left out.
    `made`: what is denied from now on. `put_back`: what is as before, since other programs would
    have run something by it. `lost`: files that it changed or removed and that no undo brings back.
    `refused`: sentences on what the sandbox has refused, as far as that is known.
    """

    output: str
    stderr: str
    _both: str
    exit_code: int | None
    truncated: bool
    timed_out: bool
    duration: float
    sandbox: str
    stopped: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()
    whole: str = ""
    made: tuple[str, ...] = ()
    put_back: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def both(self) -> str:
        return self._both


@dataclass(frozen=True)
class DirectoryEntry:
    """One entry: kind is "file", "directory", "link" or "other"; a link's size is its own."""

    path: str
    kind: str
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class FoundPaths:
    """Paths from the root, in order of names; truncated when there were more."""

    paths: tuple[str, ...]
    truncated: bool


@dataclass(frozen=True)
class SearchHit:
    """A line that matches, by its number from 1, without its ending."""

    path: str
    line: int
    text: str


@dataclass(frozen=True)
class SearchHits:
    """Hits in order of path and line; truncated when there were more."""

    hits: tuple[SearchHit, ...]
    truncated: bool


@dataclass(frozen=True)
class PathChange:
    """What a step did to one path. verb: "created", "changed", "removed" or "moved".

    went_to: the new path of what was moved.
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
    """One step of a history. kind: "change", "undo", "redo" or "checkpoint", which has a `name`.

    id: for `undo(to=...)`. time: UTC. session, call: see `identified`. tool: "" for what the host
    did itself. undone: it is not in effect now. lost: paths whose old content could not be kept.
    """

    id: str
    time: datetime
    session: str
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
    """A path that cannot be taken back. `diff`: from what is there now to what was there before."""

    path: str
    reason: str
    diff: str


@dataclass(frozen=True)
class TakenBack:
    """What an undo or a redo did, or would do. steps: those that it took back, the last first.

    paths: what changed on disk. conflicts: what stands in its way; only a dry run has any. left:
    directories that stay, because they hold files of others. lost: files that stay as they are,
    because they or their old content could not be kept, or the policy closes them.
    """

    steps: tuple[str, ...]
    paths: tuple[str, ...]
    conflicts: tuple[Unrestored, ...] = ()
    left: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    _diff: Callable[[], str] = field(default=str, repr=False, compare=False)

    @cached_property
    def diff(self) -> str:
        """From before it to after it, as unified diffs; made when it is first asked for."""
        return self._diff()
