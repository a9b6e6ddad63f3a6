"""From a path to the directory it ends in, walked and by the policy's leave."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from fsagent_tools import errors
from fsagent_tools.effects import Effect
from fsagent_tools.files import refusals
from fsagent_tools.files.beneath import Spot, walk
from fsagent_tools.files.elsewhere import places_of
from fsagent_tools.files.keeping import EntrySlot, Recording
from fsagent_tools.files.open_file import kind_of
from fsagent_tools.files.port import Place
from fsagent_tools.files.replace import TEMP_PREFIX
from fsagent_tools.files.roots import Roots, beneath, checked, path_of
from fsagent_tools.policy import Policy

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY


class Locator:
    """Finds objects beneath the roots and asks the policy about what it found."""

    def __init__(self, root: str | Path, policy: Policy, *, virtual: bool) -> None:
        """Does no IO. virtual: see `port.Files`."""
        self.policy, self.virtual = policy, virtual
        self.roots = Roots(str(root), policy.opened)

    def allow(self, place: Place, effect: Effect, *, listing: bool = False) -> None:
        if listing:
            self.policy.check_listing(place.relative, place.absolute, told=place.told)
        else:
            self.policy.check_path(place.relative, place.absolute, effect, told=place.told)

    @contextmanager
    def locate(
        self, path: str, effect: Effect, *, follow: bool = True, listing: bool = False
    ) -> Iterator[tuple[Spot, Place]]:
        """Resolve to an open directory and the names left below it, allowed for `effect`.

        Operating-system errors inside the block become refusals that name `path`.
        """
        checked(path)
        writing = effect is not Effect.READ
        try:
            spot = self._walk(path, follow)
            try:
                place = self._place_of(spot)
                self.allow(place, effect, listing=listing)
                yield spot, place
            finally:
                os.close(spot.fd)
        except OSError as error:
            raise refusals.refusal(error, path, writing=writing) from None

    def _walk(self, path: str, follow: bool) -> Spot:
        try:
            own = self.roots.own(path) if self.virtual else path
            own = own if own.isascii() else self.roots.respelled(own)
            return walk(self.roots, own, path, follow=follow)
        except errors.OutsideWorkspace:
            inside = path.lstrip("/") or "."
            if path.startswith("/") and self._is_there(inside):  # for some models "/" is the root
                raise refusals.outside(path, inside) from None
            raise

    def _is_there(self, path: str) -> bool:
        """Whether there is such an entry, and the policy lets it be read."""
        try:
            with self.locate(path, Effect.READ) as (spot, _):
                self.status_of(path, spot)
        except errors.ToolError:
            return False
        return True

    def status_of(self, path: str, spot: Spot) -> os.stat_result:
        """lstat of where a path ends. Raises `Missing`, with suggestions, and `NotADirectory`."""
        try:
            if len(spot.names) > 1:
                raise FileNotFoundError
            status = os.stat(spot.name, dir_fd=spot.fd, follow_symlinks=False)
        except FileNotFoundError:
            raise self.missing(path, spot) from None
        if spot.slash and not stat.S_ISDIR(status.st_mode):
            raise refusals.not_a_directory(path)
        return status

    def enter_new(self, spot: Spot, names: list[str], recorded: Recording) -> None:
        """Make directories in `spot` one below the other and move it into the last one's parent."""
        for name in (*names,):  # they may be the spot's own, which shrink
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=spot.fd)
                above = spot.root.join([*spot.parts, name])
                recorder = recorded()
                if recorder and (place := self.roots.place(above, virtual=self.virtual)):
                    slot = EntrySlot(spot.fd, name, place)
                    recorder.places(slot, [("", os.lstat(name, dir_fd=spot.fd))])
            flags = DIRECTORY | os.O_NOFOLLOW
            inner = os.open(name, flags, dir_fd=spot.fd)
            os.close(spot.fd)
            spot.fd = inner
            spot.parts.append(name)
            spot.names.pop(0)

    def target_kind(self, path: str) -> str | None:
        """The kind of what a link leads to; None when it dangles or leads outside."""
        try:
            with self.locate(path, Effect.READ) as (spot, _):
                return kind_of(self.status_of(path, spot).st_mode)
        except errors.ToolError:
            return None

    def holds_root(self, place: Place) -> bool:
        """True for a root and for any directory above one."""
        return any(beneath(root.real, place.absolute) for root in self.roots.spelled.values())

    def is_directory(self, path: str, spot: Spot) -> bool:
        try:
            status = os.stat(spot.name, dir_fd=spot.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(status.st_mode):
            raise refusals.no_directory(path)
        return True

    def _place_of(self, spot: Spot) -> Place:
        directory = path_of(spot.fd)
        if directory is None and os.fstat(spot.root.fd).st_nlink == 0:
            raise refusals.root_deleted(spot.root.real)
        path = "/".join((directory.rstrip("/"), *spot.names)) if directory else spot.path
        place = self.roots.place(path or "/", virtual=self.virtual)
        if place is None:
            raise refusals.outside(path)
        return place

    def missing(self, path: str, spot: Spot, *, made: bool = False) -> errors.ToolError:
        """made: something was to be made there."""
        directory = self.roots.place(
            path_of(spot.fd) or spot.root.join(spot.parts), virtual=self.virtual
        )

        def visible(name: str) -> bool:
            if name.startswith(TEMP_PREFIX) or directory is None:
                return False
            try:
                self.allow(directory.inside(name), Effect.READ)
            except errors.Denied:
                return False
            return True

        return refusals.missing(
            path,
            self._names(spot.fd),
            spot.name,
            visible,
            list if made else partial(self._elsewhere, path),
        )

    def _elsewhere(self, path: str) -> list[str]:
        """As answers have them: entries of the same name that may be read, the nearest first."""
        main, found = self.roots.main, list[str]()
        for relative in places_of(path.rstrip("/").rpartition("/")[2], main):
            place = self.roots.place(main.join([relative]), virtual=self.virtual)
            with suppress(errors.Denied):
                if place:
                    self.allow(place, Effect.READ)
                    found.append(place.told)
            if len(found) == refusals.SUGGESTIONS:
                break
        return found

    def _names(self, fd: int) -> list[str]:
        try:
            here = os.open(".", DIRECTORY, dir_fd=fd)
        except OSError:
            return []
        try:
            return os.listdir(here)
        finally:
            os.close(here)
