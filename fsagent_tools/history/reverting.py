"""Undo and redo: what each path is to become, and how it becomes that."""

import errno
import json
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

from fsagent_tools.effects import Effect
from fsagent_tools.errors import Conflict, Denied, ToolError
from fsagent_tools.files.atomic import remove_tree, rename_new, temporary, write_all
from fsagent_tools.files.base import TEMP_PREFIX, TIMEOUT
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.files.locks import locked
from fsagent_tools.files.resolve import DIRECTORY, READ, opened
from fsagent_tools.history.entries import MAX_FILE_OF_TOOL, UNKEPT, PathEntry, file_content
from fsagent_tools.history.journal import line_ids_of
from fsagent_tools.history.snapshots import is_ignored
from fsagent_tools.history.store import HistoryStore, RecordedChange
from fsagent_tools.session.memory import Session

_OF_JOB = "it changed while a job ran, maybe by others; name it in `paths`"
_HOLDS_OTHERS = "it holds files that undo does not remove"
_EXPIRED = "its old content is not kept any more"
_Status = tuple[int, int, int] | None  # inode, mtime and size of what is no directory

_Above = Callable[..., AbstractContextManager[tuple[int, str]]]


@dataclass(frozen=True)
class PathPlan:
    """What a path is to become. change: the first one, whose `before` that is.

    identity: by which what is there can be moved. problem: why it stays as it is, or "". is_final:
    no later undo can do better.
    """

    path: str
    change: RecordedChange
    present: PathEntry | None
    identity: str
    status: _Status
    problem: str = ""
    is_final: bool = False

    @property
    def target(self) -> PathEntry | None:
        return self.change.before

    @property
    def is_of_another_kind(self) -> bool:
        return not (self.present and self.target and self.present.kind == self.target.kind)


class Reverting:
    """Takes changes back, of the files of one session."""

    def __init__(self, store: HistoryStore, files: LocalFiles, session: Session) -> None:
        self._store, self._files, self._session = store, files, session

    def plans(
        self, changes: Iterable[RecordedChange], jobs: Collection[int] = ()
    ) -> list[PathPlan]:
        """What takes back these changes, which are in the order of time.

        jobs: steps whose changes stay, as others may have made them.
        """
        paths: dict[str, list[RecordedChange]] = {}
        for change in changes:
            paths.setdefault(change.path, []).append(change)
        plans = [plan for found in paths.values() if (plan := self._plan(found, jobs))]
        movable = {one.identity for one in plans}
        wanted = {p.target.hash for p in plans if p.target and not p.target.is_kept}
        return [one if one.problem else self._checked(one, movable, wanted) for one in plans]

    def _plan(self, changes: Sequence[RecordedChange], jobs: Collection[int]) -> PathPlan | None:
        """None where nothing is to be done."""
        forms, status = self._now(changes[0].path)
        state, first, problem = forms, None, ""
        for change in reversed(changes):
            if change.after in state:
                state, first = [change.before], change
                problem = problem or _OF_JOB * (change.step in jobs)
            elif first and change.at >= first.began:
                continue  # that command saw it happen, and goes back to before it
            elif change.before not in state:  # else it never happened, or was undone by hand
                gone = "somebody removed it since" if forms[0] is None else ""
                came = "there is another one now" if change.after is None else ""
                first, problem = change, gone or came or "somebody changed it since"
                break
        if first is None or (not problem and first.before in forms):
            return None
        present, last = forms[0], changes[-1].after
        if present and present.is_directory and last in forms:  # which may not be looked into
            present = last
        identity = forms[-1].hash if forms[-1] else ""
        return PathPlan(first.path, first, present, identity, status, problem)

    def present(self, path: str) -> PathEntry | None:
        """What is there now."""
        return self._now(path)[0][0]

    def _now(self, path: str) -> tuple[list[PathEntry | None], _Status]:
        """All forms that a step may have of what is there, the identity last."""
        try:
            with self._above(path) as (fd, name):
                status = os.stat(name, dir_fd=fd, follow_symlinks=False)
                unkept = PathEntry.unkept(fd, name, status)
                if unkept.is_directory:
                    closed = unkept._replace(hash=f"{UNKEPT}{status.st_ino}:closed")
                    return [PathEntry.of(status, ""), closed, unkept], None
                data = file_content(fd, name, status, MAX_FILE_OF_TOOL)
                kept = [] if data is None else [PathEntry.of(status, self._store.add(data))]
                return [*kept, unkept], _status(status)
        except (FileNotFoundError, NotADirectoryError):
            return [None], None

    def _checked(self, plan: PathPlan, movable: set[str], wanted: set[str]) -> PathPlan:
        target, after, final = plan.target, plan.change.after, ""
        moves = plan.identity in wanted
        if target and not target.is_kept:
            moves = target.hash in movable
            final = "" if moves else "its old content was not kept"
        elif target and not target.is_directory:
            final = _EXPIRED if self._store.content(target.hash) is None else ""
        elif not target and after and after.is_directory and not (after.is_kept or moves):
            final = "undo does not remove directories that it does not look into"
        closed = "" if final or moves else self.closed(plan.path, Effect.WRITE)
        return replace(plan, problem=final or closed, is_final=bool(final))

    def closed(self, path: str, effect: Effect) -> str:
        """Why the policy closes a path, "" if it does not."""
        try:
            absolute = os.path.join(self._store.root, path)
            self._files.policy.check_path(path, absolute, effect)
        except Denied as error:
            return error.message.rstrip(".")
        return ""

    def run(self, kind: str, plans: Sequence[PathPlan]) -> tuple[int, list[PathPlan]]:
        """Do what is planned, as a step; its number, and the plans with problems that arose.

        Raises `NotKept`, nothing then changed.
        """
        todo = [one for one in plans if not one.problem]
        changes = [
            RecordedChange(
                p.path, p.present, p.target, line_ids_of(self._store, self._session, p.path)
            )
            for p in todo
        ]
        step, numbers = self._store.record(self._session.id, changes, kind)
        problems = _Execution(self._above, self._store, todo).run()
        gone = [n for one, n in zip(todo, numbers, strict=True) if one.path in problems]
        if gone:
            self._store.forget(gone)
        for one in todo:
            if one.path not in problems:
                self._put_back_line_ids(one)
        failed = {path: (why, why == _HOLDS_OTHERS) for path, why in problems.items()}
        outcomes = ((p, failed.get(p.path, (p.problem, p.is_final))) for p in plans)
        return step, [replace(p, problem=why, is_final=final) for p, (why, final) in outcomes]

    def _put_back_line_ids(self, plan: PathPlan) -> None:
        """Lines of a restored file have their IDs again; lines shown since keep theirs."""
        if not plan.target or plan.target.kind != "file":
            self._session.forget(plan.path)
            return
        with suppress(ValueError, KeyError, TypeError, ToolError):
            if (ids := plan.change.line_ids) and (data := self._store.content(ids)):
                with self._files.open(plan.path) as file:
                    self._session.restore(file, json.loads(data))

    @contextmanager
    def _above(self, path: str, make: bool = False) -> Iterator[tuple[int, str]]:
        """The open directory of a path, and the name in it; no link is followed."""
        root, inner = self._files.store.split(os.path.join(self._store.root, path))
        *above, name = inner.split("/")
        fd = os.open(root, DIRECTORY)
        try:
            for part in above:
                with suppress(FileExistsError):
                    if make:
                        os.mkdir(part, dir_fd=fd)
                outer, fd = fd, os.open(part, DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
                os.close(outer)
            yield fd, name
        finally:
            os.close(fd)


class _Execution:
    """One undo at work. problems: paths that stay as they are, and why."""

    def __init__(self, above: _Above, store: HistoryStore, plans: Sequence[PathPlan]) -> None:
        self._above, self._store = above, store
        self._plans = sorted(plans, key=lambda one: one.path)
        self._aside = dict[str, str]()  # identity of what is moved: where it waits
        self._problems = dict[str, str]()

    def run(self) -> dict[str, str]:
        wanted = {one.target.hash for one in self._plans if one.target and not one.target.is_kept}
        for one in self._plans:  # what is in a directory that its owner may not write
            if one.present and one.present.is_directory and not one.is_of_another_kind:
                self._attempt(one, lambda fd, name, _: _set_mode(fd, name, 0o700))
        for one in self._plans:  # out of the way first: two may change places
            if one.identity in wanted and not (one.target and one.target.hash == one.identity):
                self._attempt(one, self._set_aside)
        for one in reversed(self._plans):
            if one.present and one.is_of_another_kind and one.identity not in self._aside:
                self._attempt(one, self._remove)
        for one in self._plans:
            if one.target:
                self._attempt(one, self._make, make=True)
        for one in reversed(self._plans):
            if one.target:
                self._attempt(one, self._finish)
        return self._problems

    def _attempt(
        self, plan: PathPlan, do: Callable[[int, str, PathPlan], None], *, make: bool = False
    ) -> None:
        if plan.path in self._problems:
            return
        try:
            with ExitStack() as held:
                fd, name = held.enter_context(self._above(plan.path, make))
                held.enter_context(locked(fd, name, TIMEOUT, plan.path))
                do(fd, name, plan)
        except OSError as error:
            reason = _HOLDS_OTHERS if error.errno == errno.ENOTEMPTY else error.strerror
            self._problems[plan.path] = reason or str(error)
        except ToolError as error:
            self._problems[plan.path] = error.message.rstrip(".")

    def _check(self, fd: int, name: str, plan: PathPlan) -> None:
        """Raise `Conflict` if it is not what was planned for."""
        now = _status(os.stat(name, dir_fd=fd, follow_symlinks=False))
        if plan.status and plan.status != now:
            raise Conflict("somebody changed it since")

    def _set_aside(self, fd: int, name: str, plan: PathPlan) -> None:
        self._check(fd, name, plan)
        waiting = f"{TEMP_PREFIX}{os.getpid()}-{os.urandom(8).hex()}"
        with self._above(waiting) as (root, _):
            os.rename(name, waiting, src_dir_fd=fd, dst_dir_fd=root)
        self._aside[plan.identity] = waiting

    def _remove(self, fd: int, name: str, plan: PathPlan) -> None:
        self._check(fd, name, plan)
        if plan.status:
            return os.unlink(name, dir_fd=fd)
        with opened(fd, name) as inside:
            for entry in os.listdir(inside):
                if is_ignored(inside, f"{plan.path}/{entry}"):
                    remove_tree(inside, entry)
        return os.rmdir(name, dir_fd=fd)

    def _make(self, fd: int, name: str, plan: PathPlan) -> None:
        target = plan.target
        assert target
        if not target.is_kept:
            if waiting := self._aside.get(target.hash):
                with self._above(waiting) as (root, old):
                    rename_new(root, old, fd, name)
        elif target.is_directory:
            if plan.is_of_another_kind:
                os.mkdir(name, 0o700, dir_fd=fd)
        elif (data := self._store.content(target.hash)) is None:
            raise Conflict(_EXPIRED)
        else:
            with temporary(fd) as new:
                if target.kind == "link":
                    os.symlink(data, new, dir_fd=fd)
                else:
                    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
                    with opened(fd, new, flags) as file:
                        write_all(file, data)
                self._finish(fd, new, plan)
                if plan.is_of_another_kind:
                    rename_new(fd, new, fd, name)
                else:
                    self._check(fd, name, plan)
                    os.replace(new, name, src_dir_fd=fd, dst_dir_fd=fd)

    def _finish(self, fd: int, name: str, plan: PathPlan) -> None:
        """Owner and mode."""
        target, now = plan.target, os.stat(name, dir_fd=fd, follow_symlinks=False)
        assert target
        if (now.st_uid, now.st_gid) != (target.uid, target.gid) and os.geteuid() == 0:
            os.chown(name, target.uid, target.gid, dir_fd=fd, follow_symlinks=False)
        if target.kind != "link":
            _set_mode(fd, name, stat.S_IMODE(target.mode))


def _set_mode(fd: int, name: str, mode: int) -> None:
    """Of what has the name itself, even if it cannot be opened."""
    path_only = getattr(os, "O_PATH", 0)
    with opened(fd, name, (path_only or READ) | os.O_NOFOLLOW) as entry:
        os.chmod(f"/proc/self/fd/{entry}" if path_only else entry, mode)


def _status(status: os.stat_result) -> _Status:
    if stat.S_ISDIR(status.st_mode):
        return None
    # The ctime of a file with several names changes when one of them is put back.
    return status.st_ino, status.st_mtime_ns, status.st_size
