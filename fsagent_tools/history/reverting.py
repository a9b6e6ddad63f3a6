"""Undo and redo: what each path is to become, and how it becomes that."""

import errno
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

from fsagent_tools.effects import Effect
from fsagent_tools.errors import Conflict, Denied, ToolError
from fsagent_tools.files.local import LocalFiles
from fsagent_tools.files.locks import locked
from fsagent_tools.files.open_file import DIRECTORY, READ, opened
from fsagent_tools.files.port import TIMEOUT
from fsagent_tools.files.replace import TEMP_PREFIX, rename_new, temporary, write_all
from fsagent_tools.files.tree import remove_tree
from fsagent_tools.history.entries import MAX_FILE_OF_TOOL, UNKEPT, Entry, content_of
from fsagent_tools.history.journal import line_ids_of
from fsagent_tools.history.snapshots import CACHES
from fsagent_tools.history.store import Change, Store
from fsagent_tools.session.memory import Session

_HOLDS_OTHERS = "it holds files that undo does not remove"
_Status = tuple[int, int, int]  # inode, ctime and size of a file, to see that it is the same still


@dataclass(frozen=True)
class Plan:
    """What a path is to become. change: the first one, whose `before` that is.

    identity: by which what is there can be moved. problem: why it stays as it is, or "". is_final:
    no later undo can do better.
    """

    path: str
    change: Change
    present: Entry | None
    identity: str
    status: _Status | None
    problem: str = ""
    is_final: bool = False

    @property
    def target(self) -> Entry | None:
        return self.change.before

    @property
    def kind(self) -> str:
        return self.target.kind if self.target else ""

    @property
    def goes(self) -> bool:
        """Whether what is there has to be removed first."""
        return self.present is not None and self.present.kind != self.kind


class Reverting:
    """Takes changes back, of the files of one session."""

    def __init__(self, store: Store, files: LocalFiles, session: Session) -> None:
        self._store, self._files, self._session = store, files, session

    def plans(self, changes: Iterable[Change], why_not: Callable[[Change], str]) -> list[Plan]:
        """What takes back these changes, which are in the order of time."""
        paths: dict[str, list[Change]] = {}
        for change in changes:
            paths.setdefault(change.path, []).append(change)
        plans = [self._plan(path, found, why_not) for path, found in paths.items()]
        needed = [one for one in plans if one]
        movable = {one.identity for one in needed}
        wanted = {one.target.hash for one in needed if one.target}
        return [self._checked(one, movable, wanted) for one in needed]

    def _plan(
        self, path: str, changes: Sequence[Change], why_not: Callable[[Change], str]
    ) -> Plan | None:
        """None where nothing is to be done."""
        forms, status = self._now(path)
        state, first, problem = forms, None, ""
        for change in reversed(changes):
            if change.after in state:
                state, first = [change.before], change
                problem = problem or why_not(change)
            elif change.before not in state:  # else it never happened, or was undone by hand
                first, problem = change, _words(change, forms[0])
                break
        if first is None or (not problem and first.before in forms):
            return None
        return Plan(path, first, forms[0], forms[-1].hash if forms[-1] else "", status, problem)

    def _now(self, path: str) -> tuple[list[Entry | None], _Status | None]:
        """All forms that a step may have of what is there, the identity last."""
        try:
            with self._above(path) as (fd, name):
                status = os.stat(name, dir_fd=fd, follow_symlinks=False)
                unkept = Entry.unkept(fd, name, status)
                if stat.S_ISDIR(status.st_mode):
                    closed = unkept._replace(hash=f"{UNKEPT}{status.st_ino}:closed")
                    return [Entry.of(status, ""), closed, unkept], None
                data = content_of(fd, name, status, MAX_FILE_OF_TOOL)
                kept = [] if data is None else [Entry.of(status, self._store.add(data))]
                return [*kept, unkept], _status(status)
        except (FileNotFoundError, NotADirectoryError):
            return [None], None

    def _checked(self, plan: Plan, movable: set[str], wanted: set[str]) -> Plan:
        target, after, problem = plan.target, plan.change.after, ""
        if plan.problem:
            return plan
        if not target and after and after.is_directory and not after.is_kept:
            if plan.identity not in wanted:
                problem = "undo does not remove directories that it does not look into"
        elif target and not target.is_kept:
            if target.hash not in movable:
                problem = "its old content was not kept"
        elif target and not target.is_directory and self._store.content(target.hash) is None:
            problem = "its old content is not kept any more"
        moves = (target and not target.is_kept) or plan.identity in wanted  # whole, and back
        closed = "" if problem or moves else self.closed(plan.path, Effect.WRITE)
        return replace(plan, problem=problem or closed, is_final=bool(problem))

    def closed(self, path: str, effect: Effect) -> str:
        """Why the policy closes a path, "" if it does not."""
        try:
            absolute = os.path.join(self._store.root, path)
            self._files.policy.check_path(path, absolute, effect)
        except Denied as error:
            return error.message.rstrip(".")
        return ""

    def run(self, kind: str, plans: Sequence[Plan]) -> tuple[int, list[Plan]]:
        """Do what is planned, as a step; its number, and the plans with problems that arose.

        Raises `NotKept`, nothing then changed.
        """
        todo = [one for one in plans if not one.problem]
        contents = [line_ids_of(self._store, self._session, one.path) for one in todo]
        changes = [
            Change(one.path, one.present, one.target, ids)
            for one, ids in zip(todo, contents, strict=True)
        ]
        step, numbers = self._store.record(self._session.id, changes, kind)
        problems = _Execution(self._above, self._store, todo).run()
        gone = [n for one, n in zip(todo, numbers, strict=True) if one.path in problems]
        if gone:
            self._store.forget(gone)
        done = [
            replace(one, problem=problems[one.path], is_final=problems[one.path] == _HOLDS_OTHERS)
            if one.path in problems
            else one
            for one in plans
        ]
        for one in done:
            if not one.problem:
                self._put_back_line_ids(one)
        return step, done

    def _put_back_line_ids(self, plan: Plan) -> None:
        """Lines of a restored file have their IDs again; lines shown since keep theirs."""
        with suppress(ValueError, KeyError, TypeError, ToolError):
            digest = plan.change.line_ids
            if plan.kind == "file" and digest and (data := self._store.content(digest)):
                with self._files.open(plan.path) as file:
                    return self._session.restore(file, json.loads(data))
        return self._session.forget(plan.path) if plan.kind != "file" else None

    @contextmanager
    def _above(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
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
    """One undo at work."""

    def __init__(
        self,
        above: Callable[..., AbstractContextManager[tuple[int, str]]],
        store: Store,
        plans: Sequence[Plan],
    ) -> None:
        self._above, self._store, self._plans = above, store, plans
        self._aside: dict[str, str] = {}  # identity of what is moved: where it waits
        self._problems: dict[str, str] = {}

    def run(self) -> dict[str, str]:
        """The paths that stay as they are, and why."""
        wanted = {one.target.hash for one in self._plans if one.target and not one.target.is_kept}
        down = sorted(self._plans, key=lambda one: one.path)
        for one in down:  # what is in a directory that its owner may not write
            if one.present and one.present.is_directory and one.kind == "directory":
                self._attempt(one, self._open_up)
        for one in down:
            if one.identity in wanted and not (one.target and one.target.hash == one.identity):
                self._attempt(one, self._set_aside)
        for one in reversed(down):
            if one.goes and one.identity not in self._aside:
                self._attempt(one, self._remove)
        for one in down:
            if one.target:
                self._attempt(one, self._make, make=True)
        for one in reversed(down):
            if one.target and one.kind != "link":
                self._attempt(one, self._finish)
        return self._problems

    def _attempt(
        self, plan: Plan, do: Callable[[int, str, Plan], None], *, make: bool = False
    ) -> None:
        if plan.path in self._problems:
            return
        try:
            with ExitStack() as held:
                fd, name = held.enter_context(self._above(plan.path, make=make))
                held.enter_context(locked(fd, name, TIMEOUT, plan.path))
                do(fd, name, plan)
        except OSError as error:
            reason = _HOLDS_OTHERS if error.errno == errno.ENOTEMPTY else error.strerror
            self._problems[plan.path] = reason or str(error)
        except ToolError as error:
            self._problems[plan.path] = error.message.rstrip(".")

    def _check(self, fd: int, name: str, plan: Plan) -> None:
        """Whether it is what was planned for."""
        try:
            now = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            raise Conflict("somebody removed it since") from None
        if plan.status and _status(now) != plan.status:
            raise Conflict("somebody changed it since")

    def _open_up(self, fd: int, name: str, plan: Plan) -> None:
        _set_mode(fd, name, 0o700)

    def _set_aside(self, fd: int, name: str, plan: Plan) -> None:
        self._check(fd, name, plan)
        waiting = f"{TEMP_PREFIX}{os.getpid()}-{os.urandom(8).hex()}"
        with self._above(waiting) as (root, _):
            os.rename(name, waiting, src_dir_fd=fd, dst_dir_fd=root)
        self._aside[plan.identity] = waiting

    def _remove(self, fd: int, name: str, plan: Plan) -> None:
        self._check(fd, name, plan)
        if plan.present and not plan.present.is_directory:
            return os.unlink(name, dir_fd=fd)
        with opened(fd, name) as inside:
            for cache in CACHES.intersection(os.listdir(inside)):
                remove_tree(inside, cache)
        return os.rmdir(name, dir_fd=fd)

    def _make(self, fd: int, name: str, plan: Plan) -> None:
        target = plan.target
        assert target
        if not target.is_kept:
            if waiting := self._aside.get(target.hash):
                with self._above(waiting) as (above, old):
                    rename_new(above, old, fd, name)
        elif target.is_directory:
            if plan.goes or not plan.present:
                os.mkdir(name, 0o700, dir_fd=fd)
        else:
            data = self._store.content(target.hash)
            if data is None:
                raise Conflict("its old content is not kept any more")
            with temporary(fd) as new:
                if plan.kind == "link":
                    os.symlink(data, new, dir_fd=fd)
                else:
                    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
                    with opened(fd, new, flags) as file:
                        write_all(file, data)
                self._finish(fd, new, plan)
                if plan.goes or not plan.present:
                    rename_new(fd, new, fd, name)
                else:
                    self._check(fd, name, plan)
                    os.replace(new, name, src_dir_fd=fd, dst_dir_fd=fd)

    def _finish(self, fd: int, name: str, plan: Plan) -> None:
        """Owner and mode."""
        target = plan.target
        assert target
        now = os.stat(name, dir_fd=fd, follow_symlinks=False)
        if (now.st_uid, now.st_gid) != (target.uid, target.gid) and os.geteuid() == 0:
            os.chown(name, target.uid, target.gid, dir_fd=fd, follow_symlinks=False)
        if plan.kind != "link":
            _set_mode(fd, name, stat.S_IMODE(target.mode))


def _set_mode(fd: int, name: str, mode: int) -> None:
    """Of what has the name itself, even if it cannot be opened."""
    path_only = getattr(os, "O_PATH", 0)
    with opened(fd, name, (path_only or READ) | os.O_NOFOLLOW) as entry:
        os.chmod(f"/proc/self/fd/{entry}" if path_only else entry, mode)


def _status(status: os.stat_result) -> _Status:
    return status.st_ino, status.st_ctime_ns, status.st_size


def _words(change: Change, now: Entry | None) -> str:
    if now is None:
        return "somebody removed it since"
    if change.after is None:
        return "there is another one now"
    return "somebody changed it since"
