"""The guard around any store: paths, policy, announcements and refusals are here and not there."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fsagent_tools import call, errors
from fsagent_tools.effects import Effect
from fsagent_tools.files import refusals
from fsagent_tools.files.elsewhere import MOST_SEEN, passed_over
from fsagent_tools.files.guarded_file import GuardedDirectory, GuardedFile, GuardedTarget
from fsagent_tools.files.port import TIMEOUT, Copied, Done, Place, Status
from fsagent_tools.files.roots import placed
from fsagent_tools.files.store import Store, StoreEntry, members
from fsagent_tools.files.store_path import StorePath, store_path
from fsagent_tools.policy import Policy

_Found = list[tuple[str, StoreEntry]]  # of a tree, each with its path from the top
_MODES = {"file": 0o644, "directory": 0o755}


class GuardedFiles:
    """A store beneath the root "/", used by one policy: see `port.Files` for the verbs."""

    local_root: Path | None = None

    def __init__(self, store: Store, policy: Policy, *, virtual: bool = False) -> None:
        """Does no IO. Raises `ConfigInvalid` for what is no `Store`."""
        if not isinstance(store, Store):
            raise errors.ConfigInvalid(f"files is a `Store`, not {type(store).__name__}.")
        self.store, self.policy, self.virtual = store, policy, virtual

    def under(self, policy: Policy, *, virtual: bool = False) -> "GuardedFiles":
        """The same files, used by another policy and by such paths."""
        return GuardedFiles(self.store, policy, virtual=virtual)

    def place(self, path: str) -> Place:
        """Where an existing object is."""
        with self._at(path, Effect.READ) as (spot, place):
            self._entry(path, spot)
            return place

    def stat(self, path: str) -> Status:
        """What is known of an entry."""
        with self._at(path, Effect.READ) as (spot, place):
            entry = self._entry(path, spot)
            when = entry.stat().st_mtime_ns
            return Status(place, entry.kind, entry.size, _MODES[entry.kind], when, when, when)

    def open(self, path: str, effect: Effect = Effect.READ) -> GuardedFile:
        """Open a file for reading."""
        with self._at(path, effect) as (spot, place):
            if spot.slash:
                self._entry(path, spot)
            return GuardedFile(self.store.open(spot.path), place, self.policy)

    def directory(self, path: str) -> GuardedDirectory:
        """Open a directory for listing; it may be on the way to what is allowed."""
        with self._at(path, None) as (spot, place):
            if not self._entry(path, spot).is_dir():
                raise refusals.not_a_directory(path)
            return GuardedDirectory(self.store, spot.path, place, self.policy)

    @contextmanager
    def lock(
        self, path: str, *, create_dirs: bool = False, timeout: float = TIMEOUT
    ) -> Iterator[GuardedTarget]:
        """Keep other writers off the file at `path`, existing or not, and write it."""
        with self._at(path, Effect.WRITE) as (spot, place):
            if spot.slash:
                raise refusals.not_a_file(path, "directory")
            if len(spot.missing) > 1 and not create_dirs:
                raise self._missing(path, spot, made=True)
            parents = len(spot.missing) > 1
        with self._held(path, timeout, spot):
            yield GuardedTarget(self.store, spot.path, place, self.policy, parents=parents)

    def make_directory(self, path: str) -> tuple[Place, bool]:
        """Make a directory and its missing parents; False when it was there."""
        with self._at(path, Effect.WRITE) as (spot, place):
            if there := self._there(spot):
                if there.is_dir():
                    return place, False
                raise refusals.no_directory(path)
            _announce(call.PendingChange("mkdir", (place.told,)))
            self.store.mkdir(spot.path)
            return place, True

    def move(self, source: str, destination: str, overwrite: bool = False) -> Done:
        """Move to exactly `destination`."""
        with self._ends("move", source, destination, overwrite=overwrite) as (old, new, done, _):
            self.store.move(old, new)
            return done

    def copy(self, source: str, destination: str, overwrite: bool = False) -> tuple[Done, Copied]:
        """Copy a file or a tree to exactly `destination`."""
        with self._ends("copy", source, destination, overwrite=overwrite) as (old, new, done, size):
            self.store.copy(old, new)
            return done, Copied(len(done.files), size)

    def remove(self, path: str, recursive: bool = False) -> Done:
        """Remove a file or, when `recursive`, a directory; never the root."""
        with self._at(path, Effect.DELETE) as (spot, place):
            self._entry(path, spot)
            if not spot.path:
                raise refusals.root_refused(path)
            with self._held(path, TIMEOUT, spot):
                entry = self._entry(path, spot)  # another may have come while this one waited
                if entry.is_dir() and not recursive:
                    raise refusals.needs_recursive(path)
                found = self._members(spot, (place, Effect.DELETE))
                _announce(_change("remove", (place.told,), found, None))
                self.store.remove(spot.path)
                return Done(place, place, _files_of(found))

    def close(self) -> None:
        """Give up open handles; the files may be used again."""
        self.store.close()

    @contextmanager
    def _ends(
        self, verb: str, source: str, destination: str, *, overwrite: bool
    ) -> Iterator[tuple[str, str, Done, int]]:
        """Both ends found, allowed for every member of the tree, held and announced."""
        effect = Effect.READ if verb == "copy" else Effect.DELETE
        with (
            self._at(source, effect) as (old, place),
            self._at(destination, Effect.WRITE) as (new, goal),
        ):
            self._entry(source, old)
            if len(new.missing) > 1:
                raise refusals.no_directory_of(destination)
            if not old.path or not new.path:
                raise refusals.root_refused(destination if old.path else source)
            if f"{new.path}/".startswith(f"{old.path}/"):
                raise refusals.into_itself(source, destination)
            with self._held(source, TIMEOUT, old, new):
                tree = self._entry(source, old).is_dir()
                found = self._members(old, (place, effect), (goal, Effect.WRITE))
                for inner, entry in found if verb == "copy" else ():
                    self.policy.check_size(place.inside(inner).told, entry.size)
                if replaced := self._there(new):
                    refusals.check_replaced(destination, replaced.kind, overwrite=overwrite)
                    if tree:
                        raise refusals.not_a_directory(destination)
                _announce(_change(verb, (place.told, goal.told), found, replaced))
                size = sum(entry.size for _, entry in found)
                yield old.path, new.path, Done(place, goal, _files_of(found)), size

    @contextmanager
    def _at(self, path: str, effect: Effect | None) -> Iterator[tuple[StorePath, Place]]:
        """Where a path ends, allowed for `effect`, None for a listing.

        Errors of the store inside the block become refusals that name `path`.
        """
        spot = place = None
        writing = effect not in (Effect.READ, None)
        try:
            spot = store_path(self.store, path)
            place = self._place(spot.path)
            if effect is None:
                self.policy.check_listing(place.relative, place.absolute, told=place.told)
            else:
                self._allow(place, effect)
            yield spot, place
        except FileNotFoundError as error:
            raise self._missing(path, spot) if spot else refusals.refusal(error, path) from None
        except OSError as error:
            raise refusals.refusal(error, path, writing=writing) from None

    @contextmanager
    def _held(self, path: str, timeout: float, *spots: StorePath) -> Iterator[None]:
        inside = False
        try:
            with self.store.lock([spot.path for spot in spots], timeout):
                inside = True
                yield
        except TimeoutError:
            if inside:
                raise
            raise refusals.locked_by_another(path, timeout) from None

    def _place(self, path: str) -> Place:
        return placed(path or ".", f"/{path}", virtual=self.virtual)

    def _allow(self, place: Place, effect: Effect) -> None:
        self.policy.check_path(place.relative, place.absolute, effect, told=place.told)

    def _there(self, spot: StorePath) -> StoreEntry | None:
        try:
            return self.store.stat(spot.path) if len(spot.missing) < 2 else None
        except FileNotFoundError:
            return None

    def _entry(self, path: str, spot: StorePath) -> StoreEntry:
        if not (entry := self._there(spot)):
            raise self._missing(path, spot)
        if spot.slash and not entry.is_dir():
            raise refusals.not_a_directory(path)
        return entry

    def _members(self, spot: StorePath, *wanted: tuple[Place, Effect]) -> _Found:
        found = [*members(self.store, spot.path)]
        for inner, _ in found:
            for place, effect in wanted:
                self._allow(place.inside(inner), effect)
        return found

    def _missing(self, path: str, spot: StorePath, *, made: bool = False) -> errors.ToolError:
        """made: something was to be made there."""
        above = self._place(spot.above)
        names = [entry.name for entry in self._list(spot.above)]
        name = spot.missing[0] if spot.missing else "."

        def elsewhere() -> list[str]:
            last = path.rstrip("/").rpartition("/")[2]
            return [] if made else [self._place(found).told for found in self._called(last)]

        return refusals.missing(
            path, names, name, lambda name: self._visible(above.inside(name)), elsewhere
        )

    def _called(self, name: str) -> Iterator[str]:
        """Paths of entries of that name that may be read, the nearest to the root first."""
        left, waiting = MOST_SEEN, deque([""])
        while waiting and left > 0:
            prefix = waiting.popleft()
            for entry in self._list(prefix.rstrip("/")):
                left -= 1
                if entry.name == name and self._visible(self._place(prefix + name)):
                    yield prefix + name
                if entry.is_dir() and not passed_over(entry.name):
                    waiting.append(f"{prefix}{entry.name}/")

    def _list(self, path: str) -> list[StoreEntry]:
        try:
            return [*self.store.list(path)]
        except OSError:
            return []

    def _visible(self, place: Place) -> bool:
        try:
            self._allow(place, Effect.READ)
        except errors.Denied:
            return False
        return True


def _announce(change: call.PendingChange) -> None:
    """Tell the call's watcher, who may prevent it."""
    if watch := call.current.get().watch:
        watch(change)


def _change(
    verb: str, paths: tuple[str, ...], found: _Found, replaced: StoreEntry | None
) -> call.PendingChange:
    names = tuple(inner for inner, _ in found[1:])
    state = (tuple((inner, entry.version) for inner, entry in found), replaced)
    replaces = replaced is not None
    return call.PendingChange(verb, paths, members=names, replaces=replaces, state=state)


def _files_of(found: _Found) -> tuple[str, ...]:
    return tuple(inner for inner, entry in found if entry.is_file())
