"""What the guard opens of a store: files, directories, and files under their lock."""

from fsagent_tools import call, errors
from fsagent_tools.effects import Effect
from fsagent_tools.files import refusals
from fsagent_tools.files.open_file import WithBlock
from fsagent_tools.files.port import COMPARED, Listed, Place, Version
from fsagent_tools.files.store import Etag, Store, StoredFile, path_in, version
from fsagent_tools.policy import Policy


class GuardedFile(WithBlock):
    """See `port.ReadableFile`."""

    def __init__(self, content: StoredFile, place: Place, policy: Policy) -> None:
        """Takes over `content` and closes it when it is too large."""
        self.place, self.version = place, content.version
        self._content, self._at = content, 0
        try:
            policy.check_size(place.told, self.version.size)
        except BaseException:
            content.close()
            raise

    def read(self, limit: int | None = None) -> bytes:
        size = self.version.size - self._at
        found = self.pread(size if limit is None else min(limit, size), self._at)
        self._at += len(found)
        return found

    def pread(self, size: int, offset: int) -> bytes:
        try:
            return self._content.pread(max(0, size), offset)
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None

    def close(self) -> None:
        self._content.close()


class GuardedDirectory(WithBlock):
    """See `port.Directory`."""

    def __init__(self, store: Store, path: str, place: Place, policy: Policy) -> None:
        self.place, self.identity = place, path
        self._store, self._path, self._policy = store, path, policy

    def entries(self) -> list[Listed]:
        try:
            return [*self._store.list(self._path)]
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None

    def enter(self, name: str) -> "GuardedDirectory | None":
        place, path = self.place.inside(name), path_in(self._path, name)
        try:
            if not self._store.stat(path).is_dir():
                return None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refusals.refusal(error, place.told) from None
        return GuardedDirectory(self._store, path, place, self._policy)

    def open(self, name: str) -> GuardedFile:
        place = self.place.inside(name)
        self._policy.check_path(place.relative, place.absolute, Effect.READ, told=place.told)
        try:
            content = self._store.open(path_in(self._path, name))
        except OSError as error:
            raise refusals.refusal(error, place.told) from None
        return GuardedFile(content, place, self._policy)


class GuardedTarget:
    """See `port.LockedFile`. parents: the directory that a write makes before, if it is missing."""

    def __init__(
        self, store: Store, path: str, place: Place, policy: Policy, *, parents: bool
    ) -> None:
        self.place = place
        self._store, self._path, self._policy, self._parents = store, path, policy, parents
        self.version: Etag | None = self._current()
        if self.version:
            policy.check_size(place.told, self.version.size)

    def check_seen(self, size: int) -> None:
        self._policy.check_seen(self.place.told, size)

    def read(self) -> bytes:
        if self._current() is None:
            raise errors.Missing(f"{refusals.shown(self.place.told)} does not exist yet.")
        with GuardedFile(self._store.open(self._path), self.place, self._policy) as file:
            return file.read()

    def write(self, data: bytes, *, expect: Version | None) -> Etag:
        self._policy.check_size(self.place.told, len(data))
        now = self._require(expect)
        if watch := call.current.get().watch:
            paths, known = (self.place.told,), now is None or now.size <= COMPARED
            before = self.read() if now and known else None
            watch(
                call.PendingChange("write", paths, before, data)
                if known
                else call.PendingChange("write", paths, None, data, replaces=True, state=now)
            )
        call.current.get().check()
        now = self._require(expect)  # whoever was asked took his time
        try:
            if self._parents:
                self._store.mkdir(self._path.rpartition("/")[0])
            self.version = self._store.put(self._path, bytes(data), now)
        except FileExistsError:
            raise refusals.changed_meanwhile(self.place.told) from None
        except OSError as error:
            raise refusals.refusal(error, self.place.told, writing=True) from None
        return self.version

    def _require(self, expect: Version | None) -> Etag | None:
        if (now := self._current()) != expect:
            raise refusals.changed_meanwhile(self.place.told)
        return now

    def _current(self) -> Etag | None:
        try:
            return version(self._store, self._path)
        except NotADirectoryError:
            return None
        except OSError as error:
            raise refusals.refusal(error, self.place.told) from None
