"""Move, copy and remove: both ends checked and locked, the destination absent or whole."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from fsagent_tools import call
from fsagent_tools.effects import Effect
from fsagent_tools.files import refusals, tree
from fsagent_tools.files.beneath import Spot
from fsagent_tools.files.keeping import EntrySlot, Recorder, Recording
from fsagent_tools.files.locate import Locator
from fsagent_tools.files.locks import hold_all, sweep
from fsagent_tools.files.open_file import Signature, kind_of
from fsagent_tools.files.port import Copied, Done, Place
from fsagent_tools.files.replace import new_temp, sync_directory
from fsagent_tools.files.roots import beneath
from fsagent_tools.files.syscalls import rename_new


class Transfer:
    """One move or copy from a found source to a found destination."""

    def __init__(self, at: Locator, *, overwrite: bool, durable: bool, recorded: Recording) -> None:
        self.at, self.overwrite, self.durable, self.recorded = at, overwrite, durable, recorded

    def move(self, source: str, destination: str) -> Done:
        """Rename; across devices copy whole, then remove the source."""
        # a link itself is moved, not what it names
        with self._ends(source.rstrip("/") or source, destination, Effect.DELETE) as (
            old,
            spot,
            done,
        ):
            try:
                self._rename(old, spot, done)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                self._copy(old, spot, tree.Copier(lambda _: True, self.durable), done)
                tree.remove_tree(old.fd, old.name, _taking(self.recorded(), done.source))
            self._sync(old.fd, spot.fd)
            return done

    def copy(self, source: str, destination: str) -> tuple[Done, Copied]:
        """Copy content and metadata under a temporary name, then rename."""
        with self._ends(source, destination, Effect.READ) as (old, new, done):
            top = old.path
            copier = tree.Copier(
                lambda path: self.at.target_kind(f"{top}/{path}" if path else top) is not None,
                self.durable,
            )
            copied = self._copy(old, new, copier, done)
            self._sync(new.fd)
            return done, copied

    def _copy(self, old: Spot, new: Spot, copier: tree.Copier, done: Done) -> Copied:
        sweep(new.fd)
        temp = new_temp()
        try:
            copier.copy((old.fd, old.name), (new.fd, temp))
            call.current.get().check()
            self._rename(Spot(new.root, new.fd, new.parts, [temp]), new, done, copied=True)
        finally:
            tree.end_temp(new.fd, temp)
        return copier.done

    def _rename(self, old: Spot, new: Spot, done: Done, *, copied: bool = False) -> None:
        if (recorder := self.recorded()) is None:
            return self._give_name(old, new)
        if os.fstat(old.fd).st_dev != os.fstat(new.fd).st_dev:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        made = [(each.path, each.status) for each in tree.survey(old.fd, old.name)]
        slot = EntrySlot(new.fd, new.name, done.destination)
        now = EntrySlot(old.fd, old.name, done.source)
        forget = recorder.places(slot, made, now, moved=not copied)
        try:
            self._give_name(old, new)
        except OSError:
            forget()
            raise

    def _give_name(self, old: Spot, new: Spot) -> None:
        if not self.overwrite:
            rename_new(old.fd, old.name, new.fd, new.name)
            return
        if _is_one_file(old, new):  # a rename would leave both; others may replace the old one
            os.unlink(new.name, dir_fd=new.fd)
        os.rename(old.name, new.name, src_dir_fd=old.fd, dst_dir_fd=new.fd)

    def _sync(self, *fds: int) -> None:
        if self.durable:
            for fd in fds:
                sync_directory(fd)

    @contextmanager
    def _ends(
        self, source: str, destination: str, effect: Effect
    ) -> Iterator[tuple[Spot, Spot, Done]]:
        """Both ends found, allowed for every member of the tree, and locked."""
        follow = effect is Effect.READ
        target = destination.rstrip("/") or destination
        with (
            self.at.locate(source, effect, follow=follow) as (old, place),
            self.at.locate(target, Effect.WRITE, follow=False) as (new, goal),
        ):
            self.at.status_of(source, old)
            if len(new.names) > 1:
                raise refusals.no_directory_of(destination)
            if not old.names or not new.names:
                raise refusals.root_refused(source if not old.names else destination)
            if self.at.holds_root(place) and not follow:
                raise refusals.root_refused(source)
            if beneath(goal.absolute, place.absolute):
                raise refusals.into_itself(source, destination)
            with hold_all([(old.fd, old.name), (new.fd, new.name)], source):
                members = self._check_members(old, place, goal, effect)
                replaced = self._check_destination(destination, new)
                verb = "copy" if follow else "move"
                announce(verb, (place.told, goal.told), members, replaced)
                yield old, new, Done(place, goal, files_of(members))

    def _check_members(
        self, old: Spot, place: Place, goal: Place, effect: Effect
    ) -> list[tree.Member]:
        members = list(tree.survey(old.fd, old.name))
        for member in members:
            self.at.allow(place.inside(member.path), effect)
            self.at.allow(goal.inside(member.path), Effect.WRITE)
            if effect is Effect.READ and member.kind == "file":
                self.at.policy.check_size(place.inside(member.path).told, member.status.st_size)
            if member.kind not in ("file", "directory", "link") and effect is Effect.READ:
                raise refusals.not_a_file(place.inside(member.path).told, member.kind)
        return members

    def _check_destination(self, destination: str, new: Spot) -> os.stat_result | None:
        """The status of the file that is replaced, if there is one and it may be."""
        try:
            status = os.stat(new.name, dir_fd=new.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        refusals.check_replaced(destination, kind_of(status.st_mode), overwrite=self.overwrite)
        return status


def _is_one_file(old: Spot, new: Spot) -> bool:
    """Whether both are names of one file, by hard links."""
    try:
        one, other = (os.stat(x.name, dir_fd=x.fd, follow_symlinks=False) for x in (old, new))
    except FileNotFoundError:
        return False
    return one.st_nlink > 1 and os.path.samestat(one, other)


def remove(at: Locator, path: str, *, recursive: bool, recorded: Recording) -> Done:
    """Remove an entry; a link goes itself. `recursive` is needed for any directory."""
    with at.locate(path.rstrip("/") or path, Effect.DELETE, follow=False) as (spot, place):
        at.status_of(path, spot)
        if not spot.names or at.holds_root(place):
            raise refusals.root_refused(path)
        with hold_all([(spot.fd, spot.name)], path):
            status = at.status_of(path, spot)  # another may have come while this one waited
            if path.endswith("/") and stat.S_ISREG(status.st_mode):
                raise refusals.not_a_directory(path)
            if stat.S_ISDIR(status.st_mode) and not recursive:
                raise refusals.needs_recursive(path)
            members = list(tree.survey(spot.fd, spot.name))
            for member in members:
                at.allow(place.inside(member.path), Effect.DELETE)
            announce("remove", (place.told,), members, None)
            tree.remove_tree(spot.fd, spot.name, _taking(recorded(), place))
        return Done(place, place, files_of(members))


def _taking(recorder: Recorder | None, top: Place) -> tree.Take:
    if recorder is None:
        return tree.unlink

    def take(fd: int, name: str, path: str, status: os.stat_result) -> None:
        recorder.takes(EntrySlot(fd, name, top.inside(path)), status)

    return take


def announce(
    verb: str,
    paths: tuple[str, ...],
    members: Sequence[tree.Member],
    replaced: os.stat_result | None,
) -> None:
    """Tell the call's watcher, who may prevent it, of every entry concerned."""
    if watch := call.current.get().watch:
        facts = tuple((member.path, *stamps(member.status)) for member in members)
        watch(
            call.PendingChange(
                verb,
                paths,
                members=tuple(member.path for member in members[1:]),
                replaces=replaced is not None,
                state=(facts, stamps(replaced) if replaced else None),
            )
        )


def stamps(status: os.stat_result) -> tuple[int, ...]:
    return (stat.S_IFMT(status.st_mode), *Signature.of(status)[:1], *Signature.of(status)[2:])


def files_of(members: Sequence[tree.Member]) -> tuple[str, ...]:
    return tuple(member.path for member in members if member.kind == "file")
